package backup_test

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/patience"
)

// A backup whose log the engine cannot read is refused before anything is made of it.
func TestRestore_WithAServerThatCannotReadTheLog(t *testing.T) {
	l := clustertest.WithoutLZ4(t)
	b := &bench{t: t, clusters: cluster.Open(clustertest.State(t)), ctx: patience.Context(t)}
	spec := clustertest.Spec()
	spec.Engine, spec.Log = l.Engine, cluster.ReplicaLog
	c, err := b.clusters.Create(b.ctx, "a", spec)
	check(t, err)
	if _, err := c.Server().Program("pg_verifybackup"); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	b.start(c)
	b.backups = backup.Open(b.clusters)
	b.value(c, "CREATE TABLE kept AS SELECT 1 AS n")
	r, err := b.backups.Take(b.ctx, c)
	check(t, err)
	if r.Compression != "lz4" {
		t.Errorf("the record says %q", r.Compression)
	}
	l.Lose(t)
	_, err = b.backups.Restore(b.ctx, r.ID, "b", backup.Point{}, backup.Places{})
	if err == nil || problem.ClassOf(err) != problem.Environment ||
		!strings.Contains(err.Error(), "compressed with lz4") || !strings.Contains(problem.HintOf(err), "--with-lz4") {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
	if _, err := b.clusters.Find("b"); err == nil {
		t.Error("half of a cluster is left")
	}
	l.Regain(t)
	b.wantRestored(r.ID, "b", backup.Point{}, "1")
}
