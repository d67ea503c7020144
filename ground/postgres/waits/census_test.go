package waits

import (
	"slices"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// Sessions of this database are told from those of others, and the server's own processes are listed.
func TestTakeCensus(t *testing.T) {
	here, there := clustertest.Database(t).Secret(), clustertest.Database(t).Secret()
	own, other := clustertest.Connect(t, here, "shop"), clustertest.Connect(t, there, "shop")
	hidden := clustertest.Connect(t, here, "hidden")
	c, err := TakeCensus(patience.Context(t), clustertest.Connect(t, here, "watcher"), "hidden")
	if err != nil {
		t.Fatal(err)
	}
	pid := func(n uint32) int { return int(n) }
	if !slices.Contains(c.Own, pid(own.PgConn().PID())) || slices.Contains(c.Own, pid(other.PgConn().PID())) ||
		!slices.Contains(c.PIDs, pid(other.PgConn().PID())) || slices.Contains(c.PIDs, pid(hidden.PgConn().PID())) {
		t.Errorf("%+v, want the sessions of both databases, and which is this one's", c)
	}
	i := slices.IndexFunc(c.Background, func(p Process) bool { return p.Kind == "checkpointer" })
	if i < 0 || c.Background[i].PID == 0 || c.Database == "" {
		t.Errorf("%+v, want the checkpointer", c.Background)
	}
}
