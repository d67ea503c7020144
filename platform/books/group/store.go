package group

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// scopeSQL is the key of the lock of a scope; a collision makes somebody wait needlessly.
const scopeSQL = "hashtextextended(kind || ' ' || scope, 1886152306)"

// releaseTimeout bounds the end of a session that may be dead.
const releaseTimeout = 5 * time.Second

// sessionSQL: the lock is waited for however long it takes, and the server notices a machine that is gone.
const sessionSQL = `SET lock_timeout = 0; SET statement_timeout = 0; SET tcp_keepalives_idle = 10;
SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`

// hold takes the lock of a scope in a session of its own, and waits for it or returns ErrBusy.
func (g *Groups) hold(ctx context.Context, kind, scope string, wait bool) (release func(), err error) {
	conn, err := g.db.Apart(ctx, "plimsoll group")
	if err != nil {
		return nil, err
	}
	release = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		// Close does not wait for the server: whoever comes next would find the lock held
		_, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock_all()")
		_ = conn.Close(ctx) // which releases the lock in any case
	}
	if _, err := conn.Exec(ctx, sessionSQL); err != nil {
		release()
		return nil, err
	}
	free, try := true, "SELECT pg_advisory_lock("+scopeSQL+") IS NOT NULL"
	if !wait {
		try = "SELECT pg_try_advisory_lock(" + scopeSQL + ")"
	}
	err = conn.QueryRow(ctx, try+" FROM (VALUES ($1::text, $2::text)) v (kind, scope)", kind, scope).Scan(&free)
	if err == nil && !free {
		err = ErrBusy
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

const beginSQL = `INSERT INTO plimsoll_group (id, kind, scope, title, state, done, planned, owner, members, arguments)
VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9)`

// begin writes the row, before anything else is done.
func (g *Groups) begin(ctx context.Context, one *Group, members []any) error {
	for _, m := range members {
		encoded, err := json.Marshal(m)
		if err != nil {
			return err
		}
		one.Members = append(one.Members, encoded)
	}
	all, err := json.Marshal(one.Members)
	if err != nil {
		return err
	}
	return g.db.Run(ctx, func(w *database.Work) error {
		w.Queue("begin group", beginSQL, one.ID, one.Kind, one.Scope, one.Title, string(one.State), one.Planned,
			one.owner, string(all), string(one.Arguments))
		return nil
	})
}

const (
	columns = "id, kind, scope, title, state, done, planned, why, begun_at, changed_at, members, arguments, owner"
	unended = "state IN ('doing', 'undoing')"
	leftSQL = "SELECT " + columns + ", arguments = $3::jsonb FROM plimsoll_group WHERE kind = $1 AND scope = $2 AND " +
		unended
	showSQL  = "SELECT " + columns + " FROM plimsoll_group WHERE id = $1"
	leaveSQL = `UPDATE plimsoll_group SET why = $3, state = CASE WHEN done = 0 THEN 'undone' ELSE state END,
	changed_at = now() WHERE id = $1 AND owner = $2 AND ` + unended
	forgetSQL = "DELETE FROM plimsoll_group WHERE NOT " + unended +
		" AND changed_at < now() - make_interval(secs => $1)"
	// takeSQL waits for a step of the last owner that is still under way, and sees it
	takeSQL = `UPDATE plimsoll_group SET owner = $2, why = '', changed_at = now(),
	state = CASE WHEN $3 = 'undoing' AND done = 0 THEN 'undone' ELSE $3 END
WHERE id = $1 AND ` + unended + " RETURNING " + columns
	// dropSQL waits, too, and leaves a group whose first member is done after all
	dropSQL = "UPDATE plimsoll_group SET state = 'undone', owner = $2, why = '', changed_at = now() " +
		"WHERE id = $1 AND done = 0 AND " + unended
)

func scan(r pgx.Rows, more ...any) (*Group, error) {
	one := &Group{}
	var members []byte
	err := r.Scan(append([]any{&one.ID, &one.Kind, &one.Scope, &one.Title, &one.State, &one.Done, &one.Planned,
		&one.Why, &one.Begun, &one.Changed, &members, &one.Arguments, &one.owner}, more...)...)
	return one, errors.Join(err, json.Unmarshal(members, &one.Members))
}

// unfinished is the unfinished group of a scope, and whether it was begun with the same arguments.
func (g *Groups) unfinished(ctx context.Context, kind, scope string, arguments []byte) (one *Group, same bool,
	err error) {
	err = g.db.Read(ctx, func(w *database.Work) error {
		one = nil
		w.Queue("look for group", leftSQL, kind, scope, string(arguments)).Rows(func(r pgx.Rows) (err error) {
			one, err = scan(r, &same)
			return err
		})
		return nil
	})
	return one, same, err
}

func (g *Groups) show(ctx context.Context, v id.ID) (one *Group, err error) {
	err = g.db.Read(ctx, func(w *database.Work) error {
		one = nil
		w.Queue("show group", showSQL, v).Rows(func(r pgx.Rows) (err error) { one, err = scan(r); return err })
		return nil
	})
	if err == nil && one == nil {
		err = ErrUnknown
	}
	return one, err
}

// take makes us the owner, under the lock of the scope.
func (g *Groups) take(ctx context.Context, one *Group, direction State) error {
	owner, taken := id.New(), (*Group)(nil)
	err := g.db.RunRepeatable(ctx, func(w *database.Work) error {
		taken = nil
		w.Queue("take group", takeSQL, one.ID, owner, string(direction)).Rows(func(r pgx.Rows) (err error) {
			taken, err = scan(r)
			return err
		})
		return nil
	})
	if err == nil && taken == nil {
		err = ErrEnded
	}
	if err == nil {
		*one = *taken
	}
	return err
}

// drop a group of which nothing is done, under the lock of the scope.
func (g *Groups) drop(ctx context.Context, one *Group) error {
	return g.db.RunRepeatable(ctx, func(w *database.Work) error {
		w.Queue("drop group", dropSQL, one.ID, id.New())
		return nil
	})
}

// abandon notes why a group is left. One that nothing was done of is undone. After a crash, also of a server that has
// lost members which this process saw done (ErrTaken), and where the process just stops, there is no reason to note:
// whoever comes next goes on.
func (g *Groups) abandon(ctx context.Context, one *Group, why error) {
	text := ""
	if ctx.Err() == nil && !errors.Is(why, ErrTaken) &&
		(!database.IsUnavailable(why) || database.IsLockTimeout(why)) {
		text = why.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	// where that fails, too, it is as after a crash
	_ = g.db.Run(ctx, func(w *database.Work) error {
		w.Queue("leave group", leaveSQL, one.ID, one.owner, text)
		return nil
	})
}

const cancelSQL = "UPDATE plimsoll_group SET why = $3, changed_at = now() WHERE id = $1 AND owner = $2 AND " + unended

// Cancel notes that somebody stopped work on a group on purpose, so that Recover does not go on with it. It leaves
// alone what others work on.
func (g *Groups) Cancel(ctx context.Context, one Group, why string) error {
	return g.db.Run(ctx, func(w *database.Work) error {
		w.Queue("cancel group", cancelSQL, one.ID, one.owner, why)
		return nil
	})
}

func (g *Groups) forget(ctx context.Context) error {
	return g.db.Run(ctx, func(w *database.Work) error {
		w.Queue("forget groups", forgetSQL, Retention.Seconds())
		return nil
	})
}
