package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/smalldisk"
)

// disk is a folder that stands for another disk.
func disk(t *testing.T, state, name string) string {
	t.Helper()
	dir := filepath.Join(state, name)
	check(t, os.MkdirAll(dir, 0o755))
	return dir
}

func TestTablespaces_AreRestoredToFoldersOfTheirOwn(t *testing.T) {
	state := clustertest.State(t)
	data, wal := disk(t, state, "data"), disk(t, state, "wal")
	b := setupIn(t, state, cluster.ArchiveLog, func(s *cluster.Spec) {
		s.Tablespaces, s.WalDir = []cluster.Tablespace{{Name: "v81c_data", Dir: data}}, wal
	})
	sql := disk(t, state, "sql")
	account, err := process.OwnerOf(b.c.DataDir())
	check(t, err)
	check(t, account.Own(sql))
	b.value(b.c, fmt.Sprintf(`CREATE TABLESPACE "by SQL/1" LOCATION '%s'`, sql))
	b.value(b.c, `CREATE TABLE kept TABLESPACE v81c_data AS SELECT 1 AS n`)
	b.value(b.c, `CREATE TABLE other TABLESPACE "by SQL/1" AS SELECT 1 AS n`)
	r, err := b.backups.Take(b.ctx, b.c)
	check(t, err)
	if len(r.Tablespaces) != 2 || r.Format != 2 || r.Tablespaces[0].Bytes == 0 || r.WalDir != wal {
		t.Errorf("the record says %+v", r)
	}
	if _, err := b.backups.Verify(b.ctx, r.ID); err != nil {
		t.Errorf("under its final name: %v", err)
	}
	b.value(b.c, "INSERT INTO kept VALUES (2)")

	restored, err := b.backups.Restore(b.ctx, r.ID, "r", backup.Point{}, backup.Places{})
	check(t, err)
	p := b.start(restored)
	own := fmt.Sprintf("%s/tablespaces/%d", restored.Dir(), r.Tablespaces[1].OID)
	const location = "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname ~ "
	for query, want := range map[string]string{
		"SELECT string_agg(n::text, ',' ORDER BY n) FROM kept": "1,2",
		"SELECT count(*)::text FROM other":                     "1",
		location + "'v81c_data'":                               data + "/r.v81c_data/files",
		location + "'SQL'":                                     own,
	} {
		if got := b.value(restored, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if log, _ := os.Readlink(filepath.Join(restored.DataDir(), "pg_wal")); log != wal+"/r.pg_wal/files" {
		t.Errorf("the log is in %q", log)
	}
	b.value(restored, "INSERT INTO kept VALUES (3)")
	if n := b.value(b.c, "SELECT count(*)::text FROM kept"); n != "2" {
		t.Errorf("the cluster that was backed up has %s rows", n)
	}
	check(t, p.Stop(b.ctx, cluster.Fast))

	t.Run("OrToThoseThatTheUserNames", func(t *testing.T) {
		there := disk(t, state, "there")
		in := backup.Places{Tablespaces: []cluster.Tablespace{{Name: "v81c_data", Dir: there}}, WalDir: there}
		c, err := b.backups.Restore(b.ctx, r.ID, "named", backup.Point{}, in)
		check(t, err)
		p := b.start(c)
		if got := b.value(c, "SELECT count(*)::text FROM kept"); got != "2" {
			t.Errorf("%s rows", got)
		}
		check(t, p.Stop(b.ctx, cluster.Fast))
		if all, _ := os.ReadDir(there); len(all) != 2 {
			t.Errorf("there is %v", all)
		}
		check(t, b.clusters.Destroy(b.ctx, "named"))
		if all, _ := os.ReadDir(there); len(all) != 0 {
			t.Errorf("%v is left", all)
		}
	})
	t.Run("NotToADiskThatIsNotThere", func(t *testing.T) {
		check(t, os.Rename(data, data+"-gone"))
		defer func() { check(t, os.Rename(data+"-gone", data)) }()
		_, err := b.backups.Restore(b.ctx, r.ID, "x", backup.Point{}, backup.Places{})
		problemtest.Want(t, err, problem.Environment, "tablespace v81c_data: folder "+data+" does not exist")
		if left, _ := filepath.Glob(wal + "/x.*"); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
	})
	t.Run("NotOneThatTheBackupLacks", func(t *testing.T) {
		in := backup.Places{Tablespaces: []cluster.Tablespace{{Name: "v81c_index", Dir: data}}}
		_, err := b.backups.Restore(b.ctx, r.ID, "x", backup.Point{}, in)
		problemtest.Want(t, err, problem.Usage, "has no tablespace v81c_index", "leave out")
	})
	t.Run("NotWhenAFileInOneHasChanged", func(t *testing.T) {
		found, err := filepath.Glob(filepath.Join(b.clusters.BackupDir(), r.ID, "tablespaces/*/PG_*/*/*"))
		check(t, err)
		check(t, os.WriteFile(found[0], []byte("x"), 0o600))
		_, err = b.backups.Restore(b.ctx, r.ID, "x", backup.Point{}, backup.Places{})
		problemtest.Want(t, err, problem.Threshold, "is damaged", "pg_tblspc")
	})
	check(t, b.clusters.Destroy(b.ctx, "r"))
	check(t, b.backups.Remove(b.ctx, r.ID))
	for _, dir := range []string{data, wal} {
		if left, _ := filepath.Glob(dir + "/r.*"); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
	}
	if n := b.value(b.c, "SELECT count(*)::text FROM other"); n != "1" {
		t.Errorf("the original has %s rows", n)
	}
}

func TestTablespaces_AreNotRestoredToADiskThatIsTooSmall(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	state := clustertest.State(t)
	data, small := disk(t, state, "data"), disk(t, state, "small")
	smalldisk.Mount(t, small, "200m")
	b := setupIn(t, state, cluster.ReplicaLog, func(s *cluster.Spec) {
		s.Tablespaces = []cluster.Tablespace{{Name: "v81c_data", Dir: data}}
	})
	r, err := b.backups.Take(b.ctx, b.c)
	check(t, err)
	in := backup.Places{Tablespaces: []cluster.Tablespace{{Name: "v81c_data", Dir: small}}}
	_, err = b.backups.Restore(b.ctx, r.ID, "x", backup.Point{}, in)
	problemtest.Want(t, err, problem.Environment, "too little room in "+small, "free some")
	if left, _ := os.ReadDir(small); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := b.clusters.Find("x"); err == nil {
		t.Error("a cluster is left")
	}
}
