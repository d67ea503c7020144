package durability_test

import (
	"strconv"
	"sync"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
	"plimsoll/test/patience"
)

// Whoever waits for the flushes of others waits for those of a synchronous standby, too: what this server alone has
// flushed is lost with it.
func TestTheAnswerComesAfterTheStandbysFlush(t *testing.T) {
	for _, poll := range []bool{true, false} {
		t.Run("Poll="+strconv.FormatBool(poll), func(t *testing.T) {
			primary, standby := clustertest.Synchronous(t)
			exec(t, primary, tables)
			db := open(t, primary, database.Options{Connections: 2, Durability: "durable-ack", PollFlush: poll})
			watched(t, db)
			pid, err := strconv.Atoi(value(t, standby, "SELECT pid FROM pg_stat_wal_receiver"))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			release := sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
			t.Cleanup(release)
			ctx := patience.Context(t)
			answered := make(chan error, 1)
			go func() { answered <- post(ctx, db, 1, "one") }()
			patience.Until(t, "it waits for the standby, or is answered", func() bool {
				return len(answered) > 0 || value(t, primary,
					"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "0"
			})
			if len(answered) > 0 {
				t.Errorf("the answer came before the standby's flush: %v", <-answered)
				return
			}
			release()
			if err := <-answered; err != nil {
				t.Error(err)
			}
			// An operation while the standby works is answered as ever.
			if err := post(ctx, db, 1, "two"); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a standby shows is durable, so a worker that waits for the log answers readers without a flush.
func TestReadersOfAStandbyWaitForNoFlush(t *testing.T) {
	primary, standby := clustertest.Synchronous(t)
	exec(t, primary, "SET synchronous_commit = remote_apply; CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)")
	db := open(t, standby, database.Options{Connections: 1, Durability: "durable-ack"})
	err := db.Read(patience.Context(t), func(w *database.Work) error {
		w.Queue("look", "SELECT n FROM kept")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
