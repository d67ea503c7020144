package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// What a healthy and busy server does all the time is no reason for advice.

// transactions that a busy server begins in a moment.
func transactions(t *testing.T, dsn string, n int) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "")
	defer conn.Close(context.Background())
	for range n {
		run(t, conn, "SELECT pg_current_xact_id()")
	}
}

// none of the advice has an ID that begins so.
func none(t *testing.T, r *Report, prefix string) {
	t.Helper()
	for _, a := range r.Advice {
		if strings.HasPrefix(a.ID, prefix) {
			t.Errorf("%s [%s] %s\n  seen %q\n  do   %q\n  changes %+v", a.ID, a.Level, a.Title, a.Evidence, a.Do,
				a.Changes)
		}
	}
}

// vacuumIsNotBlamed for its old snapshot, which does not hold back other vacuums.
func vacuumIsNotBlamed(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, orders, "CREATE INDEX ON orders (id)", "DELETE FROM orders WHERE id % 2 = 0")
	vacuum := clustertest.Connect(t, dsn, "")
	run(t, vacuum, "SET vacuum_cost_delay = '100ms'", "SET vacuum_cost_limit = 1")
	ctx, cancel := context.WithCancel(patience.Context(t))
	ended := make(chan struct{})
	go func() {
		_, _ = vacuum.Exec(ctx, "/* at night */ VACUUM orders")
		close(ended)
	}()
	defer func() { cancel(); <-ended }()
	patience.Until(t, "VACUUM is running", func() bool {
		return value[int](t, dsn, "SELECT count(*) FROM pg_stat_progress_vacuum") == 1
	})
	transactions(t, dsn, 1200)
	none(t, advised(t, dsn), "horizon:")
}

// otherDatabases have their own xmin horizons.
func otherDatabases(t *testing.T, b *bench) {
	dsn, other := b.database(t), b.database(t)
	b.on(t, dsn, orders)
	reader := clustertest.Connect(t, other, "report")
	run(t, reader, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM pg_class")
	transactions(t, dsn, 1200)
	b.on(t, dsn, "DELETE FROM orders WHERE id % 2 = 0", "VACUUM orders")
	none(t, advised(t, dsn), "horizon:")
}

// aMoment of a busy server has more than a thousand transactions.
func aMoment(t *testing.T, b *bench) {
	dsn := b.database(t)
	session := clustertest.Connect(t, dsn, "till")
	run(t, session, "CREATE TABLE t (id int)", "BEGIN", "INSERT INTO t VALUES (1)")
	transactions(t, dsn, 1200)
	none(t, advised(t, dsn), "horizon:")
}

// pgbenchIsHealthy: all rows of its small tables change within moments, and autovacuum has just processed them.
func pgbenchIsHealthy(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, "CREATE TABLE branches AS SELECT g AS bid, 0 AS balance, repeat(' ', 88) AS filler FROM "+
		"generate_series(1, 10) g", "ALTER TABLE branches ADD PRIMARY KEY (bid)", "VACUUM ANALYZE branches")
	conn := clustertest.Connect(t, dsn, "pgbench")
	holder := clustertest.Connect(t, dsn, "pgbench")
	run(t, holder, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM branches") // so that none is pruned
	for range 300 {
		run(t, conn, "UPDATE branches SET balance = balance + 1")
	}
	run(t, conn, "SELECT pg_stat_force_next_flush()")
	run(t, holder, "ROLLBACK")
	patience.Until(t, "the updates are counted", func() bool {
		return value[float64](t, dsn, "SELECT n_mod_since_analyze FROM pg_stat_user_tables") >= 2000
	})
	r := advised(t, dsn)
	none(t, r, "analyze:")
	none(t, r, "vacuum:")
}

// ownSettings of an application belong to no library.
func ownSettings(t *testing.T, b *bench) {
	dsn := b.database(t)
	name := value[string](t, dsn, "SELECT current_database()")
	b.on(t, dsn, "ALTER DATABASE "+name+" SET app.tenant = 'secret'", "ALTER DATABASE "+name+
		" SET pg_trgm.similarity_threshold = 0.5", "ALTER DATABASE "+name+" SET postgres_fdw.application_name = 'x'")
	none(t, advised(t, dsn), "library:")
}

// slowReplica streams the log as a standby does, and says that it has replayed nothing of it.
func slowReplica(t *testing.T, dsn, application string) {
	t.Helper()
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["replication"], config.RuntimeParams["application_name"] = "true", application
	config.RuntimeParams["wal_sender_timeout"] = "0" // it never answers, and stays until it is seen
	conn, err := pgconn.ConnectConfig(patience.Context(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	at := value[string](t, dsn, "SELECT pg_current_wal_flush_lsn()::text")
	conn.Frontend().Send(&pgproto3.Query{String: "START_REPLICATION PHYSICAL " + at})
	if err := conn.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
}

// eachIsSaidOnce, whatever several standbys are called.
func eachIsSaidOnce(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, lagBytes, 1<<20)
	for range 4 {
		slowReplica(t, dsn, "walreceiver")
	}
	b.on(t, dsn, orders)
	waitForAdvice(t, dsn, "replica:walreceiver")
	var ids []string
	for _, a := range advised(t, dsn).Advice {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) != len(ids) {
		t.Errorf("said more than once: %q", ids)
	}
}

// usefulIndexes are built and used; one on a column with one value would not be.
func usefulIndexes(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, "CREATE EXTENSION pg_stat_statements")
	for _, table := range []string{"same", "skewed", "distinct_one"} {
		b.on(t, dsn, "CREATE TABLE "+table+" AS SELECT g AS id, 1 AS tenant, CASE WHEN g % 50 = 0 THEN g ELSE 0 END "+
			"AS state, g % 1000 AS customer, repeat('x', 100) AS text FROM generate_series(1, 20000) g",
			"VACUUM ANALYZE "+table)
	}
	conn := clustertest.Connect(t, dsn, "")
	use := func() {
		for i := range 12 {
			for _, sql := range []string{"SELECT count(*) FROM same WHERE tenant = $1",
				"SELECT count(*) FROM skewed WHERE state = $1", "SELECT count(*) FROM distinct_one WHERE tenant = $1 " +
					"AND customer = $2"} {
				args := []any{pgx.QueryExecModeExec, 0}
				if strings.Contains(sql, "tenant") {
					args[1] = 1
				}
				if strings.Contains(sql, "$2") {
					args = append(args, i)
				}
				if _, err := conn.Exec(patience.Context(t), sql, args...); err != nil {
					t.Fatal(err)
				}
			}
		}
		run(t, conn, "SELECT pg_stat_force_next_flush()")
	}
	use()
	waitForAdvice(t, dsn, "scan:public.distinct_one(customer)")
	r := advised(t, dsn)
	none(t, r, "scan:public.same(")
	none(t, r, "scan:public.skewed(")
	chosen, err := r.Choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Applier{DSN: dsn, Folder: t.TempDir()}).Apply(patience.Context(t), chosen); err != nil {
		t.Fatal(err)
	}
	use()
	const unused = "SELECT coalesce(string_agg(indexrelname, ' ') FILTER (WHERE idx_scan = 0), '') || count(*) FROM " +
		"pg_stat_user_indexes WHERE indexrelname LIKE 'plimsoll%'"
	patience.Until(t, "what was built is counted", func() bool { return value[string](t, dsn, unused) != "0" })
	if got := value[string](t, dsn, unused); got != "1" {
		t.Errorf("built and never used: %s", fmt.Sprint(got))
	}
}
