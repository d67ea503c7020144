package temptables

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/experiments/site"
)

// The measures must see on real servers what the claims speak of, or a verdict would be one on nothing.
func TestMeasuresOfTempTables_OnBothFlavours(t *testing.T) {
	for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
		if _, err := installation.Find(t.Context(), flavour); err != nil {
			t.Skipf("the flavour %s is not built: %v", flavour, err)
		}
	}
	clusters := cluster.Open(clustertest.State(t))
	s := &site.Site{}
	err := site.BothFlavours(c06Settings...).Open(t.Context(), site.Bench{Clusters: clusters}, s)
	if err == nil {
		t.Run("StockHoldsLocksAndOursNone", func(t *testing.T) { seesLocks(t, s.Servers) })
		t.Run("StockSendsMessagesAndOursNone", func(t *testing.T) { seesMessages(t, s.Servers) })
		t.Run("StockFlushesAndOursOnlyWithAPermanentRow", func(t *testing.T) { seesFlushes(t, s.Servers) })
		t.Run("TheEndIsWaitedFor", func(t *testing.T) { seesTheEnd(t, s.Servers) })
		t.Run("OperationsOfTempTables", func(t *testing.T) { seesOperations(t, s.Servers) })
		t.Run("StockWritesCatalogsAndOursNone", func(t *testing.T) { seesCatalogs(t, s.Servers) })
		t.Run("PagesThatSessionsWaitFor", func(t *testing.T) { seesPages(t, s.Servers) })
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := clusters.List(); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func seesLocks(t *testing.T, servers *site.Engines) {
	for _, c := range []struct {
		v    site.Variant
		some bool
	}{{site.Stock, true}, {site.Without(site.SkipLocks), true}, {site.Ours, false}} {
		if held, err := locksOfACycle(t.Context(), servers, c.v); err != nil || (held.shared > 0) != c.some {
			t.Errorf("%s: %s, %v", c.v.Name, held, err)
		}
	}
}

func seesMessages(t *testing.T, servers *site.Engines) {
	for _, c := range []struct {
		v    site.Variant
		some bool
	}{{site.Stock, true}, {site.Ours, false}, {site.Only(site.LocalInvalidation), false}} {
		idle, err := openIdleSessions(t.Context(), servers, c.v, 2)
		if err != nil {
			t.Fatal(err)
		}
		f, err := cyclesBesideIdle(t.Context(), servers, c.v, idle)
		idle.close()
		if err != nil || (f[messagesSent] > 100) != c.some || !c.some && f[messagesSent] != 0 {
			t.Errorf("%s: %v, %v", c.v.Name, f, err)
		}
	}
}

func seesFlushes(t *testing.T, servers *site.Engines) {
	if err := makeDurableTable(t.Context(), servers); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v             site.Variant
		durable, some bool
	}{{site.Stock, false, true}, {site.Ours, false, false}, {site.Without(site.MemoryCatalog), false, false},
		{site.Ours, true, true}} {
		f, err := measureCommits(t.Context(), servers, committer{c.v, c.durable}, time.Second)
		if err != nil || (f[flushesEach] > 0.5) != c.some || f[commitTime] <= 0 {
			t.Errorf("%s, durable %v: %v, %v", c.v.Name, c.durable, f, err)
		}
	}
}

func seesTheEnd(t *testing.T, servers *site.Engines) {
	others, err := cycle(bench.NoAnalyze, 2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	others.rate = 20
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, tables := range []int{20, 0} {
			f, err := endTogether(t.Context(), servers, v, 3, tables, others)
			// the machine's processor time is counted in ticks of 10 ms, and may be none of so short an end
			if err != nil || f[endTime] <= 0 || f[endCPU] < 0 {
				t.Errorf("%s, %d tables: %v, %v", v.Name, tables, f, err)
			}
		}
	}
}

// On stock the loop writes its table's rows to the catalogs, on ours to none.
func seesCatalogs(t *testing.T, servers *site.Engines) {
	if err := servers.OnBoth(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_buffercache"); err != nil {
		t.Fatal(err)
	}
	p, err := cycle(bench.NoAnalyze, 2, 3*time.Second) // a busy machine ends a transaction in that
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		f, story, err := countWaits(t.Context(), servers, v, p)
		_, located := f[hotShare]
		if err != nil || (f[catalogRows] > 10) != (v.Name == site.Stock.Name) || located != (f[pageWaits] > 0) {
			t.Errorf("%s: %v, %s, %v", v.Name, f, story, err)
		}
	}
}

// A page that two sessions have pinned is one that somebody waits for, but only while somebody waits for a page.
func seesPages(t *testing.T, servers *site.Engines) {
	if err := servers.OnBoth(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_buffercache"); err != nil {
		t.Fatal(err)
	}
	if err := servers.OnBoth(t.Context(), "CREATE TABLE pinned AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
	whileWaiting := strings.Replace(pagesSQL, waitsForPage, "true", 1)
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		nobody, somebody := drilled{pages: map[string]int{}}, drilled{pages: map[string]int{}}
		err := pinning(t, servers, v, 2, func(watcher *pgx.Conn) error {
			return errors.Join(nobody.locateOnce(t.Context(), watcher, pagesSQL),
				somebody.locateOnce(t.Context(), watcher, whileWaiting))
		})
		if err != nil || nobody.pages["pinned"] != 0 || somebody.pages["pinned"] != 1 {
			t.Errorf("%s: %v, and %v while somebody waits; %v", v.Name, nobody.pages, somebody.pages, err)
		}
	}
}

// pinning has so many sessions each hold the only page of the table, by a cursor.
func pinning(t *testing.T, servers *site.Engines, v site.Variant, n int, do func(*pgx.Conn) error) error {
	return servers.On(t.Context(), v, func(conn *pgx.Conn) error {
		if n == 0 {
			return do(conn)
		}
		for _, sql := range []string{"BEGIN", "DECLARE held CURSOR FOR SELECT n FROM pinned", "FETCH 1 FROM held"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		return pinning(t, servers, v, n-1, do)
	})
}

func seesOperations(t *testing.T, servers *site.Engines) {
	if err := makeRelations(t.Context(), servers, 40); err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Servers: servers}
	for _, side := range c12Sides(0) {
		turn, err := lifeSide(s, side, tempShape{100, "16MB"}, 3*time.Second).Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := turn(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, operation := range c12Operations {
			if f[operation] <= 0 {
				t.Errorf("%s: %s took %g ms", side.name, operation, f[operation])
			}
		}
	}
}
