package group_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/books/group"
	"plimsoll/platform/data/id"
	"plimsoll/test/patience"
)

// A worker that is killed frees the scope while the server still commits its last step. Who comes then and asks for
// the same group finds it whole; who asks for another one undoes nothing without being told.
func TestTheLastStepOfADeadOwnerIsSeen(t *testing.T) {
	for _, one := range []struct {
		name             string
		planned, members int // of the group that was left, and of what is asked for
		check            func(t *testing.T, err error)
		want             string
	}{
		{"the same, whole by then", 1, 1, func(t *testing.T, err error) {
			if err != nil {
				t.Errorf("the same group: %v", err)
			}
		}, "whole 1"},
		{"another, half-done by then", 2, 3, func(t *testing.T, err error) {
			if other := (*group.OtherLeft)(nil); !errors.As(err, &other) {
				t.Errorf("another group: %v", err)
			}
		}, "doing 1"},
	} {
		t.Run(one.name, func(t *testing.T) {
			dsn := clustertest.Database(t).Secret()
			db := made(t, dsn)
			ctx := patience.Context(t)
			dead := clustertest.Connect(t, dsn, "")
			left := id.New()
			if _, err := dead.Exec(ctx, `INSERT INTO plimsoll_group (id, kind, scope, title, state, done, planned,
				owner, members, arguments) SELECT $1, 'objects', 'one', 'left', 'doing', 0, $2::int, gen_random_uuid(),
				(SELECT jsonb_agg(jsonb_build_object('id', gen_random_uuid())) FROM generate_series(1, $2::int)),
				to_jsonb($2::int)`, left, one.planned); err != nil {
				t.Fatal(err)
			}
			step, err := dead.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := step.Exec(ctx, `UPDATE plimsoll_group SET done = 1, state = CASE WHEN planned = 1 THEN 'whole'
				ELSE state END WHERE id = $1`, left); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				c := change{db: db, scope: "one"}
				order := c.order(one.members)
				if one.members == one.planned {
					order.Plan = func(context.Context) ([]any, error) { return nil, nil } // what it asks for is done
				}
				_, err := c.groups().Run(ctx, order)
				ended <- err
			}()
			patience.Until(t, "somebody waits for the step", func() bool {
				return value(t, dsn, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity "+
					"WHERE %d = ANY (pg_blocking_pids(pid))", dead.PgConn().PID())) != "0"
			})
			if err := step.Commit(ctx); err != nil {
				t.Fatal(err)
			}
			one.check(t, <-ended)
			if got := value(t, dsn, "SELECT state || ' ' || done FROM plimsoll_group WHERE id = '"+left.String()+
				"'"); got != one.want {
				t.Errorf("the group that was left is %s, not %s", got, one.want)
			}
		})
	}
}

// Somebody undoes a group while a recovery is busy with an older one, which is refused: the recovery does not repeat
// the group.
func TestARecoveryKeepsToWhatWasDecidedMeanwhile(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	db := made(t, dsn)
	ctx := patience.Context(t)
	value(t, dsn, `INSERT INTO plimsoll_group (id, kind, scope, title, state, done, planned, owner, members, arguments,
		begun_at) SELECT gen_random_uuid(), 'objects', scope, scope, 'doing', 2, 3, gen_random_uuid(),
		(SELECT jsonb_agg(jsonb_build_object('id', gen_random_uuid())) FROM generate_series(1, 3)), '3',
		now() + n * interval '1 s' FROM (VALUES (1, 'first'), (2, 'second')) v (n, scope)`)
	left := leftOf(t, db)
	if len(left) != 2 || left[1].Scope != "second" {
		t.Fatalf("left are %+v, want both, the second last", left)
	}
	undoOne := group.New(db, group.Kind{Name: "objects", Undo: func(ctx context.Context, s group.Step) error {
		if s.N == 0 {
			return errors.New("refused")
		}
		return change{db: db, scope: "second"}.to(false)(ctx, s)
	}})
	recovery := change{db: db, scope: "first", before: func(int) {
		if _, err := undoOne.Undo(ctx, left[1].ID); err == nil {
			t.Error("the first member cannot be undone")
		}
	}}
	recovered, waiting, err := recovery.groups().Recover(ctx)
	if err != nil || len(recovered) != 1 || len(waiting) != 1 || waiting[0].Scope != "second" {
		t.Errorf("recovered %+v, %+v waits, %v", recovered, waiting, err)
	}
	got := value(t, dsn, "SELECT state || ' ' || done FROM plimsoll_group WHERE scope = 'second'")
	if got != "undoing 1" {
		t.Errorf("the group that was being undone is %s", got)
	}
}
