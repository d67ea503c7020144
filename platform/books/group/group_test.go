package group_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/books/group"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/platformtest"
	"plimsoll/test/patience"
)

// workerVariable has the task of a worker process that the test binary plays.
const workerVariable = "PLIMSOLL_TEST_GROUP_WORKER"

func TestMain(m *testing.M) {
	if given := os.Getenv(workerVariable); given != "" {
		work(given)
	}
	flag.Parse()
	clustertest.Main(m)
}

// object is a member: it is made, and undone. Each change of it is counted.
type object struct {
	ID id.ID `json:"id"`
}

const objectsSQL = `CREATE TABLE object (id uuid PRIMARY KEY, scope text NOT NULL, there boolean NOT NULL,
	changes integer NOT NULL)`

// change an object in the transaction that counts it; before and behind are called around that transaction.
type change struct {
	db             *database.Database
	scope          string
	before, behind func(n int)
}

func (c change) to(there bool) func(context.Context, group.Step) error {
	return func(ctx context.Context, s group.Step) error {
		var o object
		if err := json.Unmarshal(s.Member, &o); err != nil {
			return err
		}
		if c.before != nil {
			c.before(s.N)
		}
		err := c.db.Run(ctx, func(w *database.Work) error {
			w.Queue("change", `INSERT INTO object VALUES ($1, $2, $3, 1)
				ON CONFLICT (id) DO UPDATE SET there = $3, changes = object.changes + 1`, o.ID, c.scope, there)
			s.Count(w)
			return nil
		})
		if err == nil && c.behind != nil {
			c.behind(s.N)
		}
		return err
	}
}

func (c change) groups() *group.Groups {
	return group.New(c.db, group.Kind{Name: "objects", Do: c.to(true), Undo: c.to(false)})
}

func (c change) order(members int) group.Order {
	return group.Order{Kind: "objects", Scope: c.scope, Title: "objects of " + c.scope, Arguments: members,
		Plan: func(context.Context) (all []any, err error) {
			for range members {
				all = append(all, object{id.New()})
			}
			return all, nil
		}}
}

// task of a worker process: it kills itself before or behind the transaction of a member.
type task struct {
	DSN, Scope string
	Members    int
	KillAt     int
	Behind     bool
}

func work(given string) {
	var t task
	err := json.Unmarshal([]byte(given), &t)
	var db *database.Database
	if err == nil {
		db, err = database.Open(context.Background(), t.DSN, database.Options{Connections: 2, Durability: "async"})
	}
	if err == nil {
		c := change{db: db, scope: t.Scope}
		kill := func(n int) {
			if n == t.KillAt {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
		if c.before = kill; t.Behind {
			c.before, c.behind = nil, kill
		}
		_, err = c.groups().Run(context.Background(), c.order(t.Members))
	}
	fmt.Println("not killed:", err)
	os.Exit(1)
}

// killed plays a worker process that is killed.
func killed(t testing.TB, given task) {
	t.Helper()
	encoded, _ := json.Marshal(given)
	command := exec.Command(os.Args[0], "-test.run=^$")
	command.Env = append(os.Environ(), workerVariable+"="+string(encoded))
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v %s", err, output)
	}
	free(t, given.DSN)
}

// free waits until the server has ended the sessions of a worker that was killed.
func free(t testing.TB, dsn string) {
	t.Helper()
	patience.Until(t, "the dead worker's session has ended", func() bool {
		return value(t, dsn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0"
	})
}

func open(t testing.TB, dsn string) *database.Database {
	t.Helper()
	db, err := database.Open(patience.Context(t), dsn, database.Options{Connections: 4, Durability: "async"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// made has the tables.
func made(t testing.TB, dsn string) *database.Database {
	t.Helper()
	db := open(t, dsn)
	ctx := patience.Context(t)
	err := errors.Join(schema.Claim(ctx, db), schema.Migrate(ctx, db, platformtest.Application()))
	if err != nil {
		t.Fatal(err)
	}
	value(t, dsn, objectsSQL)
	return db
}

func leftOf(t testing.TB, db *database.Database) []group.Group {
	t.Helper()
	left, err := group.Left(patience.Context(t), db)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// A group that somebody works on is not half-done, nobody can take it, and who asks for it again waits.
func TestALiveGroupIsLeftAlone(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	db := made(t, dsn)
	reached, goOn := make(chan int), make(chan bool)
	c := change{db: db, scope: "one", before: func(n int) { reached <- n; <-goOn }}
	ended := make(chan error, 1)
	go func() {
		_, err := c.groups().Run(patience.Context(t), c.order(2))
		ended <- err
	}()
	<-reached
	goOn <- true
	<-reached // one of two is done
	if left := leftOf(t, db); len(left) != 0 {
		t.Errorf("half-done: %+v", left)
	}
	v, err := id.Parse(value(t, dsn, "SELECT id FROM plimsoll_group"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.groups().Finish(patience.Context(t), v); !errors.Is(err, group.ErrBusy) {
		t.Errorf("finished by another: %v", err)
	}
	goOn <- true
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := c.groups().Undo(patience.Context(t), v); !errors.Is(err, group.ErrEnded) {
		t.Errorf("undone when whole: %v", err)
	}
	if got := value(t, dsn, "SELECT state || ' ' || done FROM plimsoll_group"); got != "whole 2" {
		t.Error(got)
	}
}

// A worker that has lost its lock, and does not know, cannot do a member twice.
func TestWhoHasLostAGroupDoesNothing(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	db := made(t, dsn)
	reached, goOn := make(chan int, 3), make(chan bool)
	slow := change{db: db, scope: "one", before: func(n int) { reached <- n; <-goOn }}
	ended := make(chan error, 1)
	go func() {
		_, err := slow.groups().Run(patience.Context(t), slow.order(3))
		ended <- err
	}()
	<-reached
	goOn <- true
	<-reached
	value(t, dsn, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = "+
		"'plimsoll group'")
	free(t, dsn)
	c := change{db: db, scope: "one"}
	left := leftOf(t, db)
	if len(left) != 1 || left[0].Done != 1 {
		t.Fatalf("left are %+v, want one with one member done", left)
	}
	if g, err := c.groups().Finish(patience.Context(t), left[0].ID); err != nil || g.State != group.Whole {
		t.Errorf("%+v, %v", g, err)
	}
	close(goOn)
	if err := <-ended; !errors.Is(err, group.ErrTaken) {
		t.Errorf("the first worker: %v", err)
	}
	if got := value(t, dsn, "SELECT count(*) || ' ' || sum(changes) FROM object WHERE there"); got != "3 3" {
		t.Error(got)
	}
}

// What was refused waits for a decision, and keeps others from its scope; what nothing was done of does not.
func TestAGroupThatWasLeftKeepsOthersOut(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	db := made(t, dsn)
	ctx := patience.Context(t)
	c := change{db: db, scope: "one"}
	refusing := func(at int) *group.Groups {
		do := c.to(true)
		return group.New(db, group.Kind{Name: "objects", Undo: c.to(false),
			Do: func(ctx context.Context, s group.Step) error {
				if s.N == at {
					return errors.New("refused")
				}
				return do(ctx, s)
			}})
	}
	if _, err := refusing(0).Run(ctx, c.order(2)); err == nil || len(leftOf(t, db)) != 0 {
		t.Errorf("nothing was done of it: %v, %+v", err, leftOf(t, db))
	}
	if _, err := refusing(1).Run(ctx, c.order(2)); err == nil {
		t.Error("it was refused")
	}
	left := leftOf(t, db)
	if len(left) != 1 || !strings.Contains(left[0].Why, "refused") {
		t.Fatalf("left are %+v, want one that was refused", left)
	}
	if _, waiting, err := c.groups().Recover(ctx); err != nil || len(waiting) != 1 {
		t.Errorf("%+v waits for a decision, %v", waiting, err)
	}
	var other *group.OtherLeft
	if _, err := c.groups().Run(ctx, c.order(3)); !errors.As(err, &other) {
		t.Errorf("another group of the scope: %v", err)
	}
	if g, err := c.groups().Undo(ctx, left[0].ID); err != nil || g.State != group.Undone {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := c.groups().Run(ctx, c.order(3)); err != nil || g.State != group.Whole {
		t.Errorf("%+v, %v", g, err)
	}
	if got := value(t, dsn, "SELECT count(*) FILTER (WHERE there) || ' of ' || count(*) FROM object"); got != "3 of 4" {
		t.Error(got)
	}
}

// value of a query as text.
var value = clustertest.Value
