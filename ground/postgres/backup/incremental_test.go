package backup_test

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
)

func TestIncremental_IsRefusedWithItsReason(t *testing.T) {
	err := backup.RefuseIncremental(installation.Server{Version: "18.6", VersionNum: 180006})
	problemtest.Want(t, err, problem.Usage, "PostgreSQL 18.6 can restore stale rows, which 18.7 mends", "full backup")
	err = backup.RefuseIncremental(installation.Server{Version: "18.7", VersionNum: 180007})
	problemtest.Want(t, err, problem.Usage, "each backup holds all")
}

func TestBackup_WarnsOfIncrementalBackupsOfTheServer(t *testing.T) {
	b := setup(t, cluster.ReplicaLog)
	if _, distrusts := b.c.Server().DistrustsIncremental(); !distrusts {
		t.Skipf("NOT TESTED: incremental backups of %s are not known to be wrong", b.c.Server())
	}
	var said []string
	b.clusters.Say = func(text string) { said = append(said, text) }
	take := func() string {
		said = nil
		_, err := b.backups.Take(b.ctx, b.c)
		check(t, err)
		return strings.Join(said, "\n")
	}
	if got := take(); strings.Contains(got, "summarize_wal") {
		t.Errorf("it is off: %s", got)
	}
	b.value(b.c, "ALTER SYSTEM SET summarize_wal = on")
	b.value(b.c, "SELECT pg_reload_conf()::text")
	if got := take(); !strings.Contains(got, "summarize_wal is on") || !strings.Contains(got, "18.7 mends") {
		t.Errorf("said %q", got)
	}
}
