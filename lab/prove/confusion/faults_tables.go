package confusion

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// statement that clients repeat.
func statement(sql string) step {
	return func(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
		_, err := conn.Exec(ctx, sql)
		return err
	}
}

func catalogChurn(ctx context.Context, s *scene) error {
	make, table := "TEMP", "tt"
	if s.cluster.Server().Patchset > 0 {
		make, table = "UNLOGGED", "tt_%d" // our engine keeps temporary tables out of the catalogs
	}
	s.clients(2, "reports", 0, func(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
		name := strings.ReplaceAll(table, "%d", fmt.Sprint(conn.PgConn().PID()))
		_, err := conn.Exec(ctx, "CREATE "+make+" TABLE "+name+" (a int, b text, c numeric); CREATE INDEX ON "+name+
			" (a); INSERT INTO "+name+" SELECT n, n, n FROM generate_series(1, 50) n; DROP TABLE "+name)
		return err
	})
	s.grows(ctx, "rows of catalogs", "SELECT sum(n_tup_ins) FROM pg_stat_sys_tables WHERE schemaname = 'pg_catalog'",
		100)
	return nil
}

// staleStatistics: the planner takes the new changes for none.
func staleStatistics(ctx context.Context, s *scene) error {
	if err := postgres.Execute(ctx, s.dsn, "ALTER TABLE changes SET (autovacuum_enabled = off); "+
		"INSERT INTO changes SELECT n, 'new', 1 + n % 20000 FROM generate_series(20001, 60000) n"); err != nil {
		return err
	}
	s.clients(2, "exchange", 10*time.Millisecond, statement("SELECT count(*), sum(c.balance) FROM changes n "+
		"JOIN customers c ON c.id = n.customer WHERE n.state = 'new'"))
	s.checked(func(ctx context.Context) (string, bool) {
		changed := s.number(ctx, "SELECT n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = 'changes'")
		n := s.countedFor("exchange").n.Load()
		return fmt.Sprintf("%.0f rows changed since ANALYZE, read %d times", changed, n), changed >= 20_000 && n > 0
	})
	return nil
}

// bloat the queue: every row changes many times and nobody vacuums.
const bloat = "ALTER TABLE queue SET (autovacuum_enabled = off); " +
	"DO $$ BEGIN FOR n IN 1..25 LOOP UPDATE queue SET state = 'round ' || n; END LOOP; END $$"

var readQueue = statement("SELECT count(*) FROM queue WHERE state = 'new'")

func (s *scene) deadRows() {
	s.checked(func(ctx context.Context) (string, bool) {
		dead := s.number(ctx, "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'queue'")
		n := s.countedFor("dispatcher").n.Load()
		return fmt.Sprintf("%.0f dead rows of 4000, read %d times", dead, n), dead >= 20_000 && n > 0
	})
}

func bloatedTable(ctx context.Context, s *scene) error {
	if err := postgres.Execute(ctx, s.dsn, bloat+"; ANALYZE queue"); err != nil {
		return err
	}
	s.clients(3, "dispatcher", 5*time.Millisecond, readQueue)
	s.deadRows()
	return nil
}

// heldHorizon: a report from before holds its snapshot while rows change.
func heldHorizon(ctx context.Context, s *scene) error {
	holder, err := s.connect(ctx, "old report")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return holder.Close(context.Background()) })
	if _, err := holder.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM customers"); err != nil {
		return err
	}
	const change = "DO $$ BEGIN FOR n IN 1..1500 LOOP IF n % 60 = 0 THEN UPDATE queue SET state = 'round'; " +
		"ELSE PERFORM pg_current_xact_id(); END IF; COMMIT; END LOOP; END $$" // each a transaction of its own
	if err := postgres.Execute(ctx, s.dsn, change); err != nil {
		return err
	}
	sleep(ctx, 10*time.Second)
	s.clients(3, "dispatcher", 5*time.Millisecond, readQueue)
	s.deadRows()
	return nil
}

// sortingReports need more than the memory they are given.
func sortingReports(ctx context.Context, s *scene) error {
	s.clients(2, "reports", 10*time.Millisecond, statement("SELECT count(*) FROM (SELECT note, total FROM orders "+
		"WHERE id <= 60000 ORDER BY note OFFSET 0) AS sorted"))
	s.grows(ctx, "bytes of temporary files",
		"SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()", 1<<20)
	return nil
}

// checkMisses: readers of rows all over the base, most of which are not in memory.
func checkMisses(ctx context.Context, s *scene) error {
	s.clients(3, "search", 5*time.Millisecond, func(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
		ids := make([]int64, 200)
		for i := range ids {
			ids[i] = 1 + rng.Int64N(200_000)
		}
		var n int64
		return conn.QueryRow(ctx, "SELECT sum(length(note)) FROM orders WHERE id = ANY ($1)", ids).Scan(&n)
	})
	s.grows(ctx, "blocks read", "SELECT blks_read FROM pg_stat_database WHERE datname = current_database()", 1000)
	return nil
}

func missingIndex(ctx context.Context, s *scene) error {
	if err := postgres.Execute(ctx, s.dsn, "DROP INDEX orders_customer"); err != nil {
		return err
	}
	s.grows(ctx, "rows read by scans", "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'orders'", 500_000)
	return nil
}

func tooManyIndexes(ctx context.Context, s *scene) error {
	var b strings.Builder
	for n := range 20 {
		fmt.Fprintf(&b, "CREATE INDEX lines_unused_%d ON lines ((quantity + %d), note, item);", n, n)
	}
	if err := postgres.Execute(ctx, s.dsn, b.String()); err != nil {
		return err
	}
	s.clients(2, "import", 5*time.Millisecond, sell)
	s.grows(ctx, "lines written", "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'lines'", 200)
	return nil
}

func vacuum(_ context.Context, s *scene) error {
	s.clients(2, "night job", 0, func(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
		table := []string{"orders", "customers"}[rng.IntN(2)]
		_, err := conn.Exec(ctx, "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) "+table)
		return err
	})
	s.checkSteps("night job", 5)
	return nil
}

// checkSteps checks that an application did so many steps.
func (s *scene) checkSteps(application string, least int64) {
	s.checked(func(context.Context) (string, bool) {
		c := s.countedFor(application)
		return fmt.Sprintf("%s: %d steps, %d failed; at least %d", application, c.n.Load(), c.failed.Load(), least),
			c.n.Load()-c.failed.Load() >= least
	})
}

// backup with the server's own program.
func backup(_ context.Context, s *scene) error {
	program, err := s.cluster.Server().Program("pg_dump")
	if err != nil {
		if problem.ClassOf(err) == problem.Environment {
			return unable{err}
		}
		return err
	}
	for range 2 {
		s.during(func(ctx context.Context) { dump(ctx, program, s.dsn, s.countedFor("backup")) })
	}
	s.checkSteps("backup", 1)
	return nil
}

// poorJoin of every pair.
func poorJoin(_ context.Context, s *scene) error {
	s.clients(2, "analyst", 10*time.Millisecond, statement("SELECT count(*) FROM items a JOIN items b "+
		"ON a.price < b.price WHERE a.stock + b.stock > 7"))
	s.underWay("analyst")
	return nil
}

// correlatedSubquery: the items that are dearer than the mean of their stock, found row by row.
func correlatedSubquery(_ context.Context, s *scene) error {
	s.clients(2, "analyst", 10*time.Millisecond, statement("SELECT count(*) FROM items a WHERE a.price > "+
		"(SELECT avg(b.price) FROM items b WHERE b.stock = a.stock AND b.id <> a.id)"))
	s.underWay("analyst")
	return nil
}

// underWay checks that a statement of an application runs: a call may be longer than the trial.
func (s *scene) underWay(application string) {
	s.checked(func(ctx context.Context) (string, bool) {
		n := s.number(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+application+
			"' AND state = 'active'")
		return fmt.Sprintf("statements of %s under way: %.0f, at least 1", application, n), n >= 1
	})
}

func concurrentInserts(ctx context.Context, s *scene) error {
	s.clients(2, "import", 20*time.Millisecond, statement("INSERT INTO journal SELECT n, n, md5(n::text) "+
		"FROM generate_series(1, 50000) n"))
	s.grows(ctx, "rows inserted", "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'journal'", 10_000)
	return nil
}
