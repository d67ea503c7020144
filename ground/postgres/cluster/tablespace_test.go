package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/patience"
	"plimsoll/test/smalldisk"
)

// disk is a folder that stands for another disk.
func (b *bench) disk(name string) string {
	b.t.Helper()
	dir := filepath.Join(b.state, name)
	check(b.t, os.MkdirAll(dir, 0o755))
	return dir
}

func (b *bench) spread(log cluster.LogKept) cluster.Spec {
	s := clustertest.Copied(spec())
	s.Log, s.WalDir = log, b.disk("wal")
	for _, name := range []string{"v81c_data", "temp1"} {
		s.Tablespaces = append(s.Tablespaces, cluster.Tablespace{Name: name, Dir: b.disk(name)})
	}
	return s
}

func (b *bench) upWith(name string, s cluster.Spec) *cluster.Cluster {
	b.t.Helper()
	c, err := b.Up(patience.Context(b.t), name, s)
	check(b.t, err)
	b.downAtEnd(name)
	return c
}

// files below a folder, as paths from it.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, strings.TrimPrefix(path, dir))
		}
		return err
	}))
	return all
}

func TestTablespaces_LieOnOtherDisksAndGoWithTheCluster(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.spread(cluster.MinimalLog)
	c := b.upWith("a", s)
	check(t, order(t, c, "CREATE TABLE kept TABLESPACE v81c_data AS SELECT 1 AS n"))
	where := queried(t, c, "SELECT pg_relation_filepath('kept')")
	if _, err := os.Stat(filepath.Join(c.DataDir(), where)); err != nil || !strings.HasPrefix(where, "pg_tblspc/") {
		t.Errorf("the table is in %s: %v", where, err)
	}
	if all := files(t, b.disk("v81c_data")); len(all) < 2 {
		t.Errorf("on its disk are %q", all)
	}
	if temp := queried(t, c, "SHOW temp_tablespaces"); temp != "temp1" {
		t.Errorf("temp_tablespaces is %q", temp)
	}
	log, err := os.Readlink(filepath.Join(c.DataDir(), "pg_wal"))
	if err != nil || !strings.HasPrefix(log, b.disk("wal")) || len(files(t, b.disk("wal"))) < 2 {
		t.Errorf("the log is in %q: %v", log, err)
	}
	if st := b.status("a"); len(st.Tablespaces) != 2 || st.WalDir == "" {
		t.Errorf("status %+v", st)
	}

	t.Run("StayWhereTheyAre", func(t *testing.T) {
		moved := cluster.Spec{Tablespaces: []cluster.Tablespace{{Name: "temp1", Dir: b.disk("elsewhere")}}}
		_, err := b.Up(patience.Context(t), "a", moved)
		problemtest.Want(t, err, problem.Usage, "tablespace temp1 is in", "leave it where it is")
		_, err = b.Up(patience.Context(t), "a", cluster.Spec{WalDir: b.disk("elsewhere")})
		problemtest.Want(t, err, problem.Usage, "its log is in", "--wal-dir applies only to a new cluster")
	})
	check(t, b.Down(patience.Context(t), "a", cluster.Fast))
	t.Run("AreNamedWhenTheirDiskIsMissing", func(t *testing.T) {
		check(t, os.Rename(b.disk("v81c_data"), filepath.Join(b.state, "v81c_data-unmounted")))
		_, err := b.Up(patience.Context(t), "a", cluster.Spec{})
		problemtest.Want(t, err, problem.Environment, "tablespace v81c_data", "a.v81c_data is not there",
			"mount its disk")
		check(t, os.Rename(filepath.Join(b.state, "v81c_data-unmounted"), filepath.Join(b.state, "v81c_data")))
	})
	t.Run("AreAddedAtTheNextStart", func(t *testing.T) {
		more := cluster.Tablespace{Name: "v81c_index", Dir: b.disk("v81c_index")}
		c := b.upWith("a", cluster.Spec{Tablespaces: []cluster.Tablespace{more}})
		check(t, order(t, c, "CREATE INDEX ON kept (n) TABLESPACE v81c_index"))
		if n := queried(t, c, "SELECT count(*)::text FROM kept"); n != "1" {
			t.Errorf("%s rows", n)
		}
		check(t, b.Down(patience.Context(t), "a", cluster.Immediate)) // the log makes them again
		c = b.upWith("a", cluster.Spec{})
		if n := queried(t, c, "SET enable_seqscan = off; SELECT count(*)::text FROM kept WHERE n = 1"); n != "1" {
			t.Errorf("%s rows after a crash", n)
		}
	})
	check(t, b.Down(patience.Context(t), "a", cluster.Fast))
	check(t, b.Destroy(patience.Context(t), "a"))
	for _, dir := range []string{"v81c_data", "v81c_index", "temp1", "wal"} {
		wantNothingIn(t, b.disk(dir))
	}
}

// The link of a tablespace is made after the tablespace: a command may be killed between the two.
func TestTablespaces_AreLinkedAgainAfterAKill(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.upWith("a", b.spread(cluster.MinimalLog))
	oid := queried(t, c, "SELECT oid::text FROM pg_tablespace WHERE spcname = 'v81c_data'")
	check(t, b.Down(patience.Context(t), "a", cluster.Fast))
	link := filepath.Join(c.DataDir(), "pg_tblspc", oid)
	check(t, os.Remove(link))
	c = b.upWith("a", cluster.Spec{})
	check(t, order(t, c, "CREATE TABLE kept TABLESPACE v81c_data AS SELECT 1 AS n"))
	if all := files(t, b.disk("v81c_data")); len(all) < 2 {
		t.Errorf("on its disk are %q", all)
	}
}

// A removal that was killed after its first step, and a creation that was killed before its last, leave the same.
func TestTablespaces_OfAKilledCommandAreRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.Create(patience.Context(t), "a", b.spread(cluster.MinimalLog))
	check(t, err)
	check(t, os.Rename(b.dir("a"), filepath.Join(filepath.Dir(b.dir("a")), ".a~1")))
	b.create("b")
	for _, dir := range []string{"v81c_data", "temp1", "wal"} {
		wantNothingIn(t, b.disk(dir))
	}
}

func TestTablespaces_AreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := filepath.Join(b.disk("x"), "file")
	check(t, os.WriteFile(file, nil, 0o644))
	full := b.disk("full")
	check(t, os.MkdirAll(filepath.Join(full, "a.v81c_data", "somebody's"), 0o755))
	check(t, os.MkdirAll(filepath.Join(b.state, "clusters"), 0o755))
	for _, c := range []struct{ name, dir, says, hint string }{
		{"Missing", filepath.Join(b.state, "none"), "does not exist", "mount its disk"},
		{"AFile", file, "is not a folder", "--tablespace v81c_data=DIR"},
		{"NotEmpty", full, "a.v81c_data is not empty", "move away what is in it"},
		{"AmongClusters", filepath.Join(b.state, "clusters"), "where clusters and backups are", "elsewhere"},
		{"Closed", closed(t, b), "cannot enter", "chmod o+x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.dir == "" {
				t.Skip("NOT TESTED: the server's user is the one who runs this")
			}
			s := clustertest.Copied(spec())
			s.Tablespaces = []cluster.Tablespace{{Name: "v81c_data", Dir: c.dir}}
			_, err := b.Create(patience.Context(t), "a", s)
			problemtest.Want(t, err, problem.Environment, "tablespace v81c_data", c.says, c.hint)
			if _, err := b.Find("a"); err == nil {
				t.Error("a cluster is left")
			}
		})
	}
	if all := files(t, full); len(all) != 0 {
		t.Errorf("%q was written", all)
	}
	if _, err := os.Stat(filepath.Join(full, "a.v81c_data", "somebody's")); err != nil {
		t.Error("somebody's folder is gone")
	}
}

// closed is a folder that the server's user may not enter.
func closed(t *testing.T, b *bench) string {
	if os.Geteuid() != 0 {
		return ""
	}
	dir := b.disk("closed")
	check(t, os.Chmod(dir, 0o700))
	return dir
}

func TestParseTablespace(t *testing.T) {
	t.Parallel()
	got, err := cluster.ParseTablespace("v81c_data=/srv/a=b")
	if err != nil || got != (cluster.Tablespace{Name: "v81c_data", Dir: "/srv/a=b"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "x", "=/a", "x=", "pg_x=/a", "X=/a", "a b=/a", "x=/a\nb",
		strings.Repeat("x", 64) + "=/a"} {
		if _, err := cluster.ParseTablespace(text); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWalDir_OnADiskThatIsTooSmall(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	disk := smallDisk(t, "200m")
	s := spec()
	s.WalDir = disk
	b := setup(t)
	_, err := b.Create(t.Context(), "a", s)
	problemtest.Want(t, err, problem.Environment, "too little room in "+disk, "--wal-dir DIR")
	wantNothingIn(t, disk)
}

// A standby on the same machine must never write into its primary's folders, whatever the log makes it do.
func TestTablespaces_OfAStandbyAreItsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	primary := b.spread(cluster.ReplicaLog)
	primary.SocketOnly = true // a port may be another server's after the restart, and the standby would miss it
	a := b.upWith("a", primary)
	sql := b.disk("by-sql")
	if account := owner(t, a.DataDir()); account >= 0 {
		check(t, os.Chown(sql, account, -1))
	}
	check(t, order(t, a, fmt.Sprintf("CREATE TABLESPACE by_sql LOCATION '%s'", sql)))
	check(t, order(t, a, "CREATE TABLE kept TABLESPACE v81c_data AS SELECT 1 AS n"))
	check(t, order(t, a, "CREATE TABLE other TABLESPACE by_sql AS SELECT 1 AS n"))
	s, err := b.Replica(patience.Context(t), "s", a, cluster.Spec{SocketOnly: true})
	check(t, err)
	b.downAtEnd("s")
	for _, table := range []string{"kept", "other"} {
		if n := queried(t, s, "SELECT count(*)::text FROM "+table); n != "1" {
			t.Errorf("%s has %s rows", table, n)
		}
	}
	check(t, b.Down(patience.Context(t), "a", cluster.Fast))
	more := cluster.Tablespace{Name: "v81c_index", Dir: b.disk("v81c_index")}
	a = b.upWith("a", cluster.Spec{Tablespaces: []cluster.Tablespace{more}})
	waitAsSet(t, a)
	check(t, order(t, a, "CREATE TABLE later TABLESPACE v81c_index AS SELECT 1 AS n"))
	awaitRows(t, s, "later")
	const locations = "SELECT string_agg(pg_tablespace_location(oid), ' ') FROM pg_tablespace WHERE spcname !~ '^pg_'"
	for _, dir := range strings.Fields(queried(t, a, locations)) {
		if strings.Contains(queried(t, s, locations), dir) {
			t.Errorf("the standby writes into its primary's %s", dir)
		}
	}
	check(t, b.Down(patience.Context(t), "s", cluster.Fast))
	check(t, b.Destroy(patience.Context(t), "s"))
	if n := queried(t, a, "SELECT count(*)::text FROM kept"); n != "1" {
		t.Errorf("the primary has %s rows", n)
	}
	for _, dir := range []string{"v81c_data", "temp1", "wal"} {
		if left, _ := filepath.Glob(filepath.Join(b.disk(dir), "s.*")); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
	}
}

// A backup that is older than a tablespace: what the log makes again must not be the original's folder.
func TestTablespaces_MadeAfterABackupAreNotShared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := clustertest.Copied(spec())
	s.Log = cluster.ArchiveLog
	a := b.upWith("a", s)
	if _, err := a.Server().Program("pg_verifybackup"); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	backups := backup.Open(b.Store)
	r, err := backups.Take(patience.Context(t), a)
	check(t, err)
	check(t, b.Down(patience.Context(t), "a", cluster.Fast))
	later := cluster.Tablespace{Name: "v81c_data", Dir: b.disk("v81c_data")}
	a = b.upWith("a", cluster.Spec{Tablespaces: []cluster.Tablespace{later}})
	check(t, order(t, a, "CREATE TABLE kept TABLESPACE v81c_data AS SELECT 1 AS n"))
	_, err = backups.Restore(patience.Context(t), r.ID, "r", backup.Point{}, backup.Places{})
	check(t, err)
	c := b.upWith("r", cluster.Spec{})
	check(t, order(t, c, "INSERT INTO kept VALUES (2)"))
	where := queried(t, c, "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = 'v81c_data'")
	if filepath.IsAbs(where) {
		t.Errorf("the restored cluster writes into %s", where)
	}
	if n := queried(t, a, "SELECT count(*)::text FROM kept"); n != "1" {
		t.Errorf("the original has %s rows", n)
	}
}

// owner is the user that owns a folder; -1 where that is the one who runs us.
func owner(t *testing.T, dir string) int {
	t.Helper()
	account, err := process.OwnerOf(dir)
	check(t, err)
	if account == nil {
		return -1
	}
	return account.UID
}

// awaitRows returns when a standby has a table.
func awaitRows(t *testing.T, s *cluster.Cluster, table string) {
	t.Helper()
	for ctx := patience.Context(t); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if queried(t, s, "SELECT (to_regclass('"+table+"') IS NOT NULL)::text") == "true" {
			return
		}
	}
	t.Fatalf("the standby never got %s", table)
}
