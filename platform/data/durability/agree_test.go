package durability_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
	"plimsoll/test/patience"
)

func TestWorkersOfADatabaseAgree(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	open := func(plan string, worker bool) (*database.Database, error) {
		return database.Open(patience.Context(t), dsn, database.Options{Durability: plan, Worker: worker,
			Connections: 2})
	}
	must := func(plan string, worker bool) *database.Database {
		t.Helper()
		db, err := open(plan, worker)
		if err != nil {
			t.Fatalf("%q: %v", plan, err)
		}
		return db
	}
	first := must("durable-ack", true)
	must("durable-ack,list=relaxed", true).Close()
	must("", false).Close() // a command
	_, err := open("sync", true)
	if !errors.Is(err, durability.ErrDisagree) || problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" {
		t.Errorf("a worker that does not wait is admitted together with one that does: %v", err)
	}
	first.Close()
	other := must("sync", true) // when it is gone
	defer other.Close()
	if _, err := open("durable-ack", true); !errors.Is(err, durability.ErrDisagree) {
		t.Errorf("a worker that waits is admitted together with one that does not: %v", err)
	}
}

// A group commit waits for others within the server: it is durable as a synchronous one is, and set for a transaction.
func TestAGroupCommitIsSynchronousWithADelay(t *testing.T) {
	db := open(t, clustertest.Database(t).Secret(), database.Options{Durability: "group", Connections: 1})
	ask := func(kind string) (got [3]string) {
		t.Helper()
		do := db.Run
		if kind == "read" {
			do = db.Read
		}
		if err := do(patience.Context(t), func(w *database.Work) error {
			for i, name := range []string{"synchronous_commit", "commit_delay", "commit_siblings"} {
				w.Queue(name, "SELECT current_setting($1)", name).
					Rows(func(r pgx.Rows) error { return r.Scan(&got[i]) })
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask("run"); got != [3]string{"on", "1000", "5"} {
		t.Errorf("a group commit has %v", got)
	}
	if got := ask("read"); got[1] != "0" {
		t.Errorf("the delay stays in the session: %v", got)
	}
}
