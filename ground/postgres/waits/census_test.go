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
	if port := int(own.Config().Port); c.Port != port {
		t.Errorf("port %d, want %d", c.Port, port)
	}
	i := slices.IndexFunc(c.Background, func(p Process) bool { return p.Kind == "checkpointer" })
	if i < 0 || c.Background[i].PID == 0 || c.Database == "" {
		t.Errorf("%+v, want the checkpointer", c.Background)
	}
	open := clustertest.Connect(t, here, "till")
	if _, err := open.Exec(patience.Context(t), "BEGIN; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if c, err = TakeCensus(patience.Context(t), clustertest.Connect(t, here, "watcher"), "hidden"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]int{"shop": {1, 1}, "till": {1, 0}, "hidden": {}} {
		var got [2]int
		for _, u := range c.Users {
			if u.Application == name && u.Database == own.Config().Database {
				got = [2]int{u.All, u.Idle}
				if inside := u.ForS > 0; inside != (name == "till") || u.User == "" {
					t.Errorf("%+v", u)
				}
			}
		}
		if got != want {
			t.Errorf("%s has %v connections and idle ones, want %v", name, got, want)
		}
	}
}
