package durability_test

import (
	"context"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/postgres/installation"
	"plimsoll/platform/database"
	"plimsoll/test/patience"
)

// waitedFor is a primary whose commits wait for a standby, and that standby.
func waitedFor(t *testing.T) (primary, standby string) {
	t.Helper()
	if server, err := installation.Find(t.Context(), clustertest.Engine()); err != nil {
		t.Fatal(err)
	} else if _, err := server.Program("pg_basebackup"); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	spec := clustertest.Copied(clustertest.Spec())
	spec.Log = cluster.ReplicaLog
	clusters := cluster.Open(clustertest.State(t))
	ctx := patience.Context(t)
	start := func(name string, spec cluster.Spec) *cluster.Cluster {
		c, err := clusters.Create(ctx, name, spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Start(ctx, cluster.StartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ending, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience.Max)
			defer cancel()
			if err := p.Kill(ending); err != nil {
				t.Error(err)
			}
		})
		return c
	}
	one := start("waits", spec)
	two := start("waits-standby", cluster.Spec{ReplicaOf: one, Sync: true, SocketOnly: true})
	if err := two.Join(ctx); err != nil {
		t.Fatal(err)
	}
	exec(t, one.SocketDSN("").Secret(), tables)
	return one.SocketDSN("").Secret(), two.SocketDSN("").Secret()
}

// Whoever waits for the flushes of others waits for those of a synchronous standby, too: what this server alone has
// flushed is lost with it.
func TestTheAnswerComesAfterTheStandbysFlush(t *testing.T) {
	for _, poll := range []bool{true, false} {
		t.Run("Poll="+strconv.FormatBool(poll), func(t *testing.T) {
			primary, standby := waitedFor(t)
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
