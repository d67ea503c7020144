package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/patience"
)

// primary is a running cluster with a log that a standby can read.
func (b *bench) primary(name string) *cluster.Cluster {
	b.t.Helper()
	s := clustertest.Copied(spec())
	s.Log = cluster.ReplicaLog
	c, err := b.Up(patience.Context(b.t), name, s)
	check(b.t, err)
	b.downAtEnd(name)
	if _, err := c.Server().Program("pg_basebackup"); err != nil {
		b.t.Skipf("NOT TESTED: %v", err)
	}
	return c
}

func queried(t *testing.T, c *cluster.Cluster, sql string) string {
	t.Helper()
	return clustertest.Value(t, c.SocketDSN("").Secret(), sql)
}

func order(t *testing.T, c *cluster.Cluster, sql string) error {
	t.Helper()
	conn := clustertest.Connect(t, c.SocketDSN("").Secret(), "")
	defer conn.Close(context.Background())
	_, err := conn.Exec(patience.Context(t), sql)
	return err
}

// waitAsSet returns when commits wait for standbys as the settings say. New sessions know settings before the
// checkpointer does, and commits go by what that has noted; the second checkpoint begins after it has.
func waitAsSet(t *testing.T, primary *cluster.Cluster) {
	t.Helper()
	for range 2 {
		check(t, order(t, primary, "CHECKPOINT"))
	}
}

func TestReplica(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.primary("a")
	check(t, order(t, a, "CREATE TABLE kept (n int)"))
	s, err := b.Replica(patience.Context(t), "b-1", a, cluster.Spec{Sync: true})
	check(t, err)
	b.downAtEnd("b-1")
	waitAsSet(t, a)

	// Unsafe clusters commit asynchronously; this one waits.
	check(t, order(t, a, "SET synchronous_commit = remote_apply; INSERT INTO kept VALUES (1)"))
	if n := queried(t, s, "SELECT count(*)::text FROM kept"); n != "1" {
		t.Errorf("the standby has %s rows of a commit that waited for it", n)
	}
	if err := order(t, s, "INSERT INTO kept VALUES (2)"); err == nil {
		t.Error("the standby takes writes")
	}
	if keep := queried(t, a, "SHOW max_slot_wal_keep_size"); keep == "-1" {
		t.Error("a standby that is away may fill the disk")
	}

	t.Run("StatusShowsRoleLagAndSync", func(t *testing.T) {
		st := b.status("b-1")
		if r := st.Replication; r == nil || r.Role != cluster.RoleStandby || r.Of != "a" || r.State != "streaming" ||
			r.Sync != "sync" || r.LagBytes == nil {
			t.Errorf("the standby is %+v", st.Replication)
		}
		st = b.status("a")
		if r := st.Replication; r == nil || r.Role != cluster.RolePrimary || len(r.Standbys) != 1 ||
			r.Standbys[0].Name != "b-1" || r.Standbys[0].Log != "reserved" {
			t.Errorf("the primary is %+v", st.Replication)
		}
	})
	t.Run("ItsPasswordIsInNoProcessAndNoSetting", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(a.Dir(), "pgpass"))
		check(t, err)
		secret := strings.TrimSpace(string(text[strings.LastIndex(string(text), ":")+1:]))
		conf, err := os.ReadFile(filepath.Join(s.Dir(), "plimsoll.conf"))
		check(t, err)
		seen := string(conf)
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range lines {
			line, _ := os.ReadFile(file)
			seen += string(line)
		}
		if len(secret) < 16 || strings.Contains(seen, secret) {
			t.Errorf("the password of %d characters is shown", len(secret))
		}
		info, err := os.Stat(filepath.Join(s.Dir(), "stream.pgpass"))
		check(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("its file has mode %v", info.Mode())
		}
	})
	t.Run("ALagBeyondTheLimitIsRefusedAndWaitedFor", func(t *testing.T) {
		check(t, order(t, s, "SELECT pg_wal_replay_pause()"))
		patience.Until(t, "replay pauses", func() bool {
			return queried(t, s, "SELECT pg_get_wal_replay_pause_state()") == "paused"
		})
		check(t, order(t, a, "INSERT INTO kept SELECT generate_series(1, 10000)"))
		err := s.AwaitLag(patience.Context(t), cluster.LagLimit{Bytes: 1 << 10})
		problemtest.Want(t, err, problem.Environment, "behind its primary a", "--max-lag")
		err = s.AwaitLag(patience.Context(t), cluster.LagLimit{Age: 50 * time.Millisecond})
		problemtest.Want(t, err, problem.Environment, "more than 50ms behind its primary a", "--max-lag")
		check(t, order(t, s, "SELECT pg_wal_replay_resume()"))
		check(t, s.AwaitLag(patience.Context(t), cluster.LagLimit{Bytes: 1 << 10, Wait: patience.Max}))
		check(t, s.AwaitLag(patience.Context(t), cluster.LagLimit{Age: time.Second, Wait: patience.Max}))
		check(t, a.AwaitLag(patience.Context(t), cluster.LagLimit{})) // no standby
	})
	t.Run("OrderOfEnds", func(t *testing.T) {
		if by := s.NeededBy(); by != "a" {
			t.Errorf("commits of %q wait for it", by)
		}
		_, err := b.Promote(patience.Context(t), "b-1", false)
		problemtest.Want(t, err, problem.Usage, "both would accept writes", "--force")
		_, err = b.Promote(patience.Context(t), "a", false)
		problemtest.Want(t, err, problem.Usage, "is not a standby")
		check(t, b.Down(patience.Context(t), "a", cluster.Fast))
		err = b.Destroy(patience.Context(t), "a")
		problemtest.Want(t, err, problem.Usage, "has the standby b-1", "promote")
	})
	t.Run("Promoted", func(t *testing.T) {
		p, err := b.Promote(patience.Context(t), "b-1", false)
		check(t, err)
		if p.Timeline != 2 || p.From != "a" {
			t.Errorf("promotion: %+v", p)
		}
		check(t, order(t, s, "INSERT INTO kept VALUES (3)"))
		if st := b.status("b-1"); st.Replication != nil {
			t.Errorf("it still is %+v", st.Replication)
		}
		check(t, b.Down(patience.Context(t), "b-1", cluster.Fast))
		_, err = b.Up(patience.Context(t), "b-1", cluster.Spec{}) // it starts alone
		check(t, err)
		check(t, b.Destroy(patience.Context(t), "a")) // nobody follows it any more
	})
}

// Two commits, each of which only one of the servers shows. A commit that waits for a standby is in the log, and a
// standby shows it, before the primary does; one that does not wait is shown by the primary at once.
func TestReplica_ShowsCommitsInAnotherOrderThanThePrimary(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.primary("a")
	check(t, order(t, a, "CREATE TABLE kept (n int)")) // before the copy: the standby has it at once
	s, err := b.Replica(patience.Context(t), "b", a, cluster.Spec{})
	check(t, err)
	b.downAtEnd("b")
	waitFor := func(names string) {
		check(t, order(t, a, "ALTER SYSTEM SET synchronous_standby_names = "+names))
		check(t, order(t, a, "SELECT pg_reload_conf()"))
		patience.Until(t, "the setting holds", func() bool {
			return "'"+queried(t, a, "SHOW synchronous_standby_names")+"'" == names
		})
		waitAsSet(t, a)
	}
	waitFor("'nobody'")
	first, err := pgx.Connect(patience.Context(t), a.SocketDSN("").Secret())
	check(t, err)
	committed := make(chan error, 1)
	go func() {
		_, err := first.Exec(patience.Context(t), "SET synchronous_commit = on; INSERT INTO kept VALUES (1)")
		committed <- err
	}()
	const rows = "SELECT coalesce(string_agg(n::text, ','), '') FROM kept"
	patience.Until(t, "the standby shows the first commit", func() bool { return queried(t, s, rows) == "1" })
	check(t, order(t, s, "SELECT pg_wal_replay_pause()"))
	patience.Until(t, "replay pauses", func() bool {
		return queried(t, s, "SELECT pg_is_wal_replay_paused()::text") == "true"
	})
	check(t, order(t, a, "SET synchronous_commit = local; INSERT INTO kept VALUES (2)"))
	if primary, standby := queried(t, a, rows), queried(t, s, rows); primary != "2" || standby != "1" {
		t.Errorf("the primary shows %q, the standby %q", primary, standby)
	}
	waitFor("''")
	check(t, <-committed)
	check(t, first.Close(context.Background()))
}

func TestReplica_IsWholeOrNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.primary("a")
	t.Run("CancelledWhileItCopies", func(t *testing.T) {
		// A requested checkpoint takes its time: the copy begins after it.
		ctx, cancel := context.WithCancel(patience.Context(t))
		go func() {
			defer cancel()
			patience.Holds(func() bool {
				entries, _ := filepath.Glob(b.dir(".b~*"))
				return len(entries) > 0
			})
		}()
		if _, err := b.Replica(ctx, "b", a, cluster.Spec{}); err == nil {
			t.Skip("NOT TESTED: the copy was faster than its end")
		}
		if _, err := b.Find("b"); err == nil { // it ended after the copy: then it is complete
			check(t, b.Down(patience.Context(t), "b", cluster.Fast))
			check(t, b.Destroy(patience.Context(t), "b"))
		}
		left, _ := filepath.Glob(b.dir(".b~*"))
		if slots := queried(t, a, "SELECT count(*)::text FROM pg_replication_slots"); slots != "0" || len(left) > 0 {
			t.Errorf("%s slots and %q are left", slots, left)
		}
	})
	t.Run("DestroyedItsSlotGoesToo", func(t *testing.T) {
		_, err := b.Replica(patience.Context(t), "b", a, cluster.Spec{})
		check(t, err)
		check(t, b.Down(patience.Context(t), "b", cluster.Fast))
		check(t, b.Destroy(patience.Context(t), "b"))
		if slots := queried(t, a, "SELECT count(*)::text FROM pg_replication_slots"); slots != "0" {
			t.Errorf("%s slots are left", slots)
		}
	})
	t.Run("NotOfAMinimalLog", func(t *testing.T) {
		m := b.up("minimal")
		_, err := b.Replica(patience.Context(t), "c", m, cluster.Spec{})
		problemtest.Want(t, err, problem.Environment, "wal_level=minimal", "--log replica")
		wantNothingOf(t, b, "c")
	})
}

func wantNothingOf(t *testing.T, b *bench, name string) {
	t.Helper()
	left, _ := filepath.Glob(b.dir("*" + name + "*"))
	for _, each := range left {
		if base := filepath.Base(each); base == name || strings.HasPrefix(base, "."+name+"~") {
			t.Errorf("%s is left", each)
		}
	}
}
