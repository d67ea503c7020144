package experiments

import (
	"errors"
	"testing"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/postgres/installation"
)

// The measures must see on real servers what the claims speak of, or a verdict would be one on nothing.
func TestMeasuresOfTempTables_OnBothFlavours(t *testing.T) {
	for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
		if _, err := installation.Find(t.Context(), flavour); err != nil {
			t.Skipf("the flavour %s is not built: %v", flavour, err)
		}
	}
	clusters := cluster.Open(clustertest.State(t))
	s := &site{}
	err := bothFlavours(c06Settings...)(t.Context(), Bench{Clusters: clusters}, s)
	if err == nil {
		t.Run("StockHoldsLocksAndOursNone", func(t *testing.T) { seesLocks(t, s.servers) })
		t.Run("StockSendsMessagesAndOursNone", func(t *testing.T) { seesMessages(t, s.servers) })
		t.Run("StockFlushesAndOursOnlyWithAPermanentRow", func(t *testing.T) { seesFlushes(t, s.servers) })
		t.Run("TheEndIsWaitedFor", func(t *testing.T) { seesTheEnd(t, s.servers) })
		t.Run("OperationsOfTempTables", func(t *testing.T) { seesOperations(t, s.servers) })
		t.Run("StockWritesCatalogsAndOursNone", func(t *testing.T) { seesCatalogs(t, s.servers) })
	}
	if err := errors.Join(err, s.close()); err != nil {
		t.Fatal(err)
	}
	if left, err := clusters.List(); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func seesLocks(t *testing.T, servers *engines) {
	for _, c := range []struct {
		v    variant
		some bool
	}{{stock, true}, {without(skipLocks), true}, {ours, false}} {
		if held, err := servers.locksOfACycle(t.Context(), c.v); err != nil || (held.shared > 0) != c.some {
			t.Errorf("%s: %s, %v", c.v.name, held, err)
		}
	}
}

func seesMessages(t *testing.T, servers *engines) {
	for _, c := range []struct {
		v    variant
		some bool
	}{{stock, true}, {ours, false}, {only(localInvalidation), false}} {
		idle, err := servers.idleSessions(t.Context(), c.v, 2)
		if err != nil {
			t.Fatal(err)
		}
		f, err := servers.cyclesBesideIdle(t.Context(), c.v, idle)
		idle.close()
		if err != nil || (f[messagesSent] > 100) != c.some || !c.some && f[messagesSent] != 0 {
			t.Errorf("%s: %v, %v", c.v.name, f, err)
		}
	}
}

func seesFlushes(t *testing.T, servers *engines) {
	if err := servers.makeDurableTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v             variant
		durable, some bool
	}{{stock, false, true}, {ours, false, false}, {without(memoryCatalog), false, false}, {ours, true, true}} {
		f, err := servers.commits(t.Context(), committer{c.v, c.durable}, time.Second)
		if err != nil || (f[flushesEach] > 0.5) != c.some || f[commitTime] <= 0 {
			t.Errorf("%s, durable %v: %v, %v", c.v.name, c.durable, f, err)
		}
	}
}

func seesTheEnd(t *testing.T, servers *engines) {
	for _, v := range []variant{stock, ours} {
		for _, tables := range []int{20, 0} {
			f, err := servers.endTogether(t.Context(), v, 3, tables)
			if err != nil || f[endTime] <= 0 || f[endCPU] <= 0 {
				t.Errorf("%s, %d tables: %v, %v", v.name, tables, f, err)
			}
		}
	}
}

// On stock the loop writes its table's rows to the catalogs, on ours to none.
func seesCatalogs(t *testing.T, servers *engines) {
	p, err := cycle(bench.NoAnalyze, 2, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []variant{stock, ours} {
		f, story, err := servers.drill(t.Context(), v, p)
		if err != nil || (f[catalogRows] > 10) != (v.name == stock.name) ||
			(f[hotShare] > c42Hot) != (v.name == stock.name) {
			t.Errorf("%s: %v, %s, %v", v.name, f, story, err)
		}
	}
}

func seesOperations(t *testing.T, servers *engines) {
	if err := servers.makeRelations(t.Context(), 40); err != nil {
		t.Fatal(err)
	}
	s := &site{servers: servers}
	for _, v := range []variant{stock, ours} {
		turn, err := s.lifeSide(v, tempShape{100, "16MB"}, time.Second).Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := turn(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, operation := range c12Operations {
			if f[operation] <= 0 {
				t.Errorf("%s: %s took %g ms", v.name, operation, f[operation])
			}
		}
	}
}
