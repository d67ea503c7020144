package diagnose

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// A server with ten thousand tables and five thousand statements is answered as any other, and what this program keeps
// of it is bounded. `make test` makes a tenth of both.
func TestRun_OfALargeServer(t *testing.T) {
	tables, statements := thorough.Or(10_000, 1000), thorough.Or(5000, 500)
	dsn := clustertest.Alone(t, map[string]string{"shared_preload_libraries": "pg_stat_statements",
		"pg_stat_statements.max": "6000", "max_locks_per_transaction": "256"}).DSN()
	conn := clustertest.Connect(t, dsn, "test")
	execute(t, conn, "CREATE EXTENSION pg_stat_statements")
	const each = 250
	for from := 0; from < tables; from += each {
		var b strings.Builder
		for n := from; n < from+each; n++ {
			fmt.Fprintf(&b, "CREATE TABLE t%d (id int PRIMARY KEY, name text); CREATE INDEX ON t%[1]d (name); "+
				"INSERT INTO t%[1]d VALUES (1, 'x');", n)
		}
		execute(t, conn, b.String())
	}
	for from := 0; from < statements; from += each {
		var b strings.Builder
		for n := from; n < from+each; n++ {
			fmt.Fprintf(&b, "SELECT * FROM t%d WHERE id = 1;", n%tables)
		}
		execute(t, conn, b.String())
	}
	if got := clustertest.Value(t, dsn, "SELECT (count(*) >= "+fmt.Sprint(statements)+
		")::text FROM pg_stat_statements"); got != "true" {
		t.Fatal("the server counts fewer statements than were sent")
	}
	load(t, dsn, func(ctx context.Context, conn *pgx.Conn, turn int) error {
		_, err := conn.Exec(ctx, fmt.Sprintf("SELECT * FROM t%d WHERE name = 'x'", turn%tables),
			pgx.QueryExecModeSimpleProtocol)
		return err
	})
	var most atomic.Uint64
	o := Options{DSN: dsn, Duration: 5 * time.Second, Rate: RateDefault, Progress: func(time.Duration, int) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most.Store(max(most.Load(), m.HeapAlloc))
	}}
	began := time.Now()
	d, err := Run(patience.Context(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tables, %d statements: answered %.1f s after its %.0f s, %.0f MB at most", tables, statements,
		time.Since(began).Seconds()-o.Duration.Seconds(), o.Duration.Seconds(), float64(most.Load())/1e6)
	const bound = 128 << 20
	if most.Load() > bound {
		t.Errorf("%.0f MB are kept, want less than %d MB", float64(most.Load())/1e6, bound>>20)
	}
	if len(d.Statements) == 0 || d.Ledger.TotalS == 0 {
		t.Errorf("statements %+v of %.1f s", d.Statements, d.Ledger.TotalS)
	}
	for _, s := range d.Unavailable {
		if strings.Contains(s.Why, "timeout") || strings.Contains(s.Why, "cancel") {
			t.Errorf("%s: %s", s.Name, s.Why)
		}
	}
}
