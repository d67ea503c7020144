package backup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// bench is a running cluster that archives its log, and its backups.
type bench struct {
	t        *testing.T
	clusters *cluster.Store
	backups  *backup.Store
	c        *cluster.Cluster
	ctx      context.Context
	shown    int64 // the most bytes that were reported as copied
}

func setup(t *testing.T, kept cluster.LogKept) *bench {
	return setupIn(t, clustertest.State(t), kept, func(*cluster.Spec) {})
}

// setupIn a state directory a cluster whose spec is changed.
func setupIn(t *testing.T, state string, kept cluster.LogKept, change func(*cluster.Spec)) *bench {
	b := &bench{t: t, clusters: cluster.Open(state), ctx: patience.Context(t)}
	b.clusters.LockWait = patience.Max
	b.clusters.Copied = func(done, _ int64) { b.shown = max(b.shown, done) }
	spec := clustertest.Copied(clustertest.Spec())
	spec.Log = kept
	change(&spec)
	c, err := b.clusters.Create(b.ctx, "a", spec)
	check(t, err)
	if _, err := c.Server().Program("pg_verifybackup"); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	b.c, b.backups = c, backup.Open(b.clusters)
	b.start(c)
	return b
}

func (b *bench) start(c *cluster.Cluster) *cluster.Postmaster {
	b.t.Helper()
	p, err := c.Start(b.ctx, cluster.StartOptions{})
	check(b.t, err)
	b.t.Cleanup(func() {
		if err := p.Stop(context.Background(), cluster.Immediate); err != nil {
			b.t.Error(err)
		}
	})
	return p
}

// value of a statement in the cluster's database postgres.
func (b *bench) value(c *cluster.Cluster, sql string) string {
	b.t.Helper()
	return clustertest.Value(b.t, c.SocketDSN("").Secret(), sql)
}

// wantRestored restores, starts and looks which rows are there.
func (b *bench) wantRestored(id, name string, at backup.Point, rows string) {
	b.t.Helper()
	c, err := b.backups.Restore(b.ctx, id, name, at, backup.Places{})
	check(b.t, err)
	p := b.start(c)
	if got := b.value(c, "SELECT string_agg(n::text, ',' ORDER BY n) FROM kept"); got != rows {
		b.t.Errorf("%s, restored to %s, has the rows %s, want %s", name, at, got, rows)
	}
	if timeline := b.value(c, "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"); timeline != "00000002" {
		b.t.Errorf("%s is on timeline %s: it must not write what the backup's cluster writes", name, timeline)
	}
	check(b.t, p.Stop(b.ctx, cluster.Fast))
}

func TestBackup_IsRestoredToAnyMoment(t *testing.T) {
	b := setup(t, cluster.ArchiveLog)
	b.value(b.c, "CREATE TABLE kept AS SELECT 1 AS n")
	r, err := b.backups.Take(b.ctx, b.c)
	check(t, err)
	system := b.value(b.c, "SELECT system_identifier FROM pg_control_system()")
	if r.SystemIdentifier != system ||
		r.Timeline != 1 || r.Bytes < 1<<20 || r.Server.Version != b.c.Server().Version || r.Archive == "" {
		t.Errorf("the record says %+v; the system is %s", r, system)
	}
	b.value(b.c, "INSERT INTO kept VALUES (2)")
	between := b.value(b.c, "SELECT pg_current_wal_insert_lsn()::text")
	moment, err := backup.ParsePoint(b.value(b.c, `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC',
		'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`))
	check(t, err)
	b.value(b.c, "INSERT INTO kept VALUES (3)")
	afterLast, err := backup.ParsePoint(b.value(b.c, `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC',
		'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`))
	check(t, err)

	// The cluster runs: what it has not archived yet is archived first.
	b.wantRestored(r.ID, "latest", backup.Point{}, "1,2,3")
	b.wantRestored(r.ID, "lsn", backup.Point{LSN: between}, "1,2")
	b.wantRestored(r.ID, "time", moment, "1,2")
	b.wantRestored(r.ID, "idle", afterLast, "1,2,3") // though nobody has committed since
	if got := b.value(b.c, "SELECT count(*)::text FROM kept"); got != "3" {
		t.Errorf("the cluster that was backed up has %s rows", got)
	}

	t.Run("NotOverAClusterThatIsThere", func(t *testing.T) {
		_, err := b.backups.Restore(b.ctx, r.ID, "a", backup.Point{}, backup.Places{})
		problemtest.Want(t, err, problem.Usage, "already exists", "--into")
	})
	t.Run("NotToAPointBeforeIt", func(t *testing.T) {
		_, err := b.backups.Restore(b.ctx, r.ID, "x", backup.Point{LSN: "0/1"}, backup.Places{})
		problemtest.Want(t, err, problem.Usage, "before the end of backup", "older")
	})
	t.Run("NotBeyondTheLog", func(t *testing.T) {
		_, err := b.backups.Restore(b.ctx, r.ID, "x", backup.Point{LSN: "FF/0"}, backup.Places{})
		problemtest.Want(t, err, problem.Usage, "the log ends before FF/0", "latest")
		if _, err := b.clusters.Find("x"); err == nil {
			t.Error("the cluster of the failed restore is left")
		}
	})
	t.Run("NotWhenAFileHasChanged", func(t *testing.T) {
		file := filepath.Join(b.clusters.BackupDir(), r.ID, "data", "PG_VERSION")
		check(t, os.WriteFile(file, []byte("99\n"), 0o600))
		_, err := b.backups.Restore(b.ctx, r.ID, "x", backup.Point{}, backup.Places{})
		problemtest.Want(t, err, problem.Threshold, "is damaged", "PG_VERSION")
	})
	t.Run("RemovedItsArchivedLogGoesToo", func(t *testing.T) {
		archive := b.clusters.ArchiveDir(r.Archive)
		if before, _ := os.ReadDir(archive); len(before) == 0 {
			t.Error("nothing was archived: this test can't fail")
		}
		check(t, b.backups.Remove(b.ctx, r.ID))
		if after, _ := os.ReadDir(archive); len(after) > 0 {
			t.Errorf("%d segments are left that no backup needs", len(after))
		}
	})
}

// A standby's data say that they follow somebody. Restored, they must not.
func TestBackup_OfAStandbyIsRestored(t *testing.T) {
	b := setup(t, cluster.ReplicaLog)
	// A backup of a standby needs whole pages in the log, which a test's cluster leaves out.
	b.value(b.c, "ALTER SYSTEM SET full_page_writes = on")
	b.value(b.c, "SELECT pg_reload_conf()")
	patience.Until(t, "pages are logged whole", func() bool { return b.value(b.c, "SHOW full_page_writes") == "on" })
	b.value(b.c, "CREATE TABLE kept AS SELECT 1 AS n")
	b.value(b.c, "CHECKPOINT")
	s, err := b.clusters.Create(b.ctx, "standby", cluster.Spec{ReplicaOf: b.c, SocketOnly: true})
	check(t, err)
	b.start(s)
	check(t, s.AwaitLag(b.ctx, cluster.LagLimit{Wait: patience.Max}))
	r, err := b.backups.Take(b.ctx, s)
	check(t, err)
	if !r.Standby || r.Archive != "" {
		t.Errorf("want a backup of a standby without an archive, got %+v", r)
	}
	b.wantRestored(r.ID, "x", backup.Point{}, "1")
}

func TestBackup_IsWholeOrNone(t *testing.T) {
	b := setup(t, cluster.ReplicaLog)
	t.Run("CancelledWhileItCopies", func(t *testing.T) {
		ctx, cancel := context.WithCancel(b.ctx)
		b.backups.Step = func(what string) {
			if what == "copying" {
				cancel()
			}
		}
		_, err := b.backups.Take(ctx, b.c)
		if err == nil {
			t.Error("a cancelled backup is complete")
		}
		b.wantNothing()
	})
	t.Run("CancelledWhileItVerifies", func(t *testing.T) {
		ctx, cancel := context.WithCancel(b.ctx)
		b.backups.Step = func(what string) {
			if what == "verifying" {
				cancel()
			}
		}
		if _, err := b.backups.Take(ctx, b.c); err == nil {
			t.Error("a backup that was not verified is complete")
		}
		b.wantNothing()
	})
	b.backups.Step = func(string) {}
	t.Run("LeftByAKilledCommand", func(t *testing.T) {
		left := filepath.Join(b.clusters.BackupDir(), ".growing-1")
		check(t, os.MkdirAll(filepath.Join(left, "data"), 0o755))
		old := time.Now().Add(-time.Hour)
		check(t, os.Chtimes(left, old, old))
		r, err := b.backups.Take(b.ctx, b.c)
		check(t, err)
		if _, err := os.Stat(left); err == nil {
			t.Error("it is still there")
		}
		t.Run("WithoutAnArchiveToItsEndAlone", func(t *testing.T) {
			_, err := b.backups.Restore(b.ctx, r.ID, "x", backup.Point{LSN: "FF/0"}, backup.Places{})
			problemtest.Want(t, err, problem.Usage, "no log after its end", "--log archive")
		})
	})
}

// wantNothing in the folder of backups.
func (b *bench) wantNothing() {
	b.t.Helper()
	entries, err := os.ReadDir(b.clusters.BackupDir())
	check(b.t, err)
	for _, e := range entries {
		if e.Name() != "log" {
			b.t.Errorf("%s is left", e.Name())
		}
	}
}

func TestBackup_OfAMinimalLogSaysHowToRestart(t *testing.T) {
	b := setup(t, cluster.MinimalLog)
	_, err := b.backups.Take(b.ctx, b.c)
	problemtest.Want(t, err, problem.Environment, "wal_level=minimal", "plimsoll up a --log replica")
	b.wantNothing()
}

func TestParsePoint(t *testing.T) {
	for text, want := range map[string]string{
		"": "latest", "latest": "latest", "0/3000060": "0/3000060",
		"2026-11-23T16:30:00Z": "2026-11-23 16:30:00+00", "2026-11-23T16:30:00+03:00": "2026-11-23 13:30:00+00",
	} {
		if got, err := backup.ParsePoint(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "0/", "/1", "1/2/3", "12:00"} {
		if _, err := backup.ParsePoint(text); problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
