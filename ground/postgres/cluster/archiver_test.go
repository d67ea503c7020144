package cluster_test

import (
	"os"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// An archive that cannot be written to is in the status, with what waits for it; so is its repair.
func TestStatus_ShowsAFailingArchive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := clustertest.Copied(spec())
	s.Log = cluster.ArchiveLog
	c, err := b.Up(patience.Context(t), "a", s)
	check(t, err)
	b.downAtEnd("a")
	until := func(what string, is func(*cluster.Archiving) bool) *cluster.Archiving {
		t.Helper()
		var a *cluster.Archiving
		patience.Until(t, what, func() bool {
			a = b.status("a").Archiving
			return a != nil && is(a)
		})
		return a
	}
	next := func() {
		t.Helper()
		check(t, order(t, c, "CREATE TABLE IF NOT EXISTS n (n int); INSERT INTO n VALUES (1); SELECT pg_switch_wal()"))
	}
	next()
	a := until("a segment is archived", func(a *cluster.Archiving) bool {
		return a.LastArchived != "" && a.Waiting == 0
	})
	if a.Failing || a.FailedCount != 0 {
		t.Errorf("it fails before anything is wrong: %+v", a)
	}
	check(t, os.Rename(a.Dir, a.Dir+".away"))
	next()
	a = until("archiving fails", func(a *cluster.Archiving) bool { return a.Failing })
	if a.FailedCount < 1 || a.LastFailed == "" || a.LastFailedAt == nil || a.Waiting < 1 || a.WaitingBytes < 1<<20 ||
		a.BehindS == nil {
		t.Errorf("want what failed and what waits, got %+v", a)
	}
	check(t, os.Rename(a.Dir+".away", a.Dir))
	next() // wakes the archiver, which would wait for a minute
	a = until("archiving works again", func(a *cluster.Archiving) bool { return !a.Failing && a.Waiting == 0 })
	if a.FailedCount < 1 || a.LastFailed == "" {
		t.Errorf("what failed is forgotten: %+v", a)
	}
}
