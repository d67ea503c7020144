package advise

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/patience"
)

// lower a limit for one test: the state is planted for real, and small.
func lower(t *testing.T, l *Limit, to float64) {
	was := l.Value
	l.Value = to
	t.Cleanup(func() { l.Value = was })
}

const orders = `CREATE TABLE orders AS SELECT g AS id, g % 1000 AS customer, repeat('x', 100) AS text
	FROM generate_series(1, 20000) g; SELECT pg_stat_force_next_flush()`

func TestServer(t *testing.T) {
	b := newBench(t)
	for name, test := range map[string]func(*testing.T, *bench){
		"HealthyNeedsNothing": healthyNeedsNothing, "PgMonitorIsEnough": pgMonitorIsEnough,
		"HarmfulSettings": harmfulSettings, "SettingsSetTwice": settingsSetTwice, "Libraries": librariesNotLoaded,
		"Statistics": oldStatistics, "Autovacuum": autovacuumBehind, "Horizon": horizonHeld, "Bloat": emptySpace,
		"IndexBloat": emptyIndexes, "ForeignKeys": foreignKeysWithoutIndex,
		"MissingIndex": missingIndex, "SampledIndex": sampledIndex,
		"UnusedIndexes": needlessIndexes, "Spills": spills, "Buffers": smallBuffers,
		"StatisticsTarget": statisticsTarget, "Connections": shortSessions, "Churn": catalogChurn,
		"TempStatistics": tempWithoutStatistics, "Emptying": smallTablesTruncated, "Replica": laggingReplica,
		"Totals": splitTotals, "Files": manyFiles,
		"VacuumIsNotBlamed": vacuumIsNotBlamed, "OtherDatabases": otherDatabases, "AMoment": aMoment,
		"PgbenchIsHealthy": pgbenchIsHealthy, "OwnSettings": ownSettings, "EachIsSaidOnce": eachIsSaidOnce,
		"UsefulIndexes": usefulIndexes, "ALockedTable": aLockedTable,
		"Prices": pricesOfADiagnosis, "RoundTrip": roundTrip, "Stopped": stoppedInBetween, "BuildStopped": buildStopped,
		"SomebodyElse": somebodyElse, "Restart": restartIsReportedOrDone, "Refusals": refusals,
	} {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

func healthyNeedsNothing(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, orders, "ALTER TABLE orders ADD PRIMARY KEY (id)", "VACUUM ANALYZE orders")
	r := advised(t, dsn)
	for _, a := range r.Advice {
		if a.Level != Note {
			t.Errorf("a healthy server has %+v, want notes alone", a)
		}
	}
	if len(r.Healthy) < 10 {
		t.Errorf("healthy: %q", r.Healthy)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "NOTHING TO DO") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

func pgMonitorIsEnough(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, orders, "UPDATE orders SET text = ''", "CREATE TABLE acc_shop_totals (split int)")
	b.on(t, dsn, "CREATE ROLE sees LOGIN PASSWORD 'x'", "GRANT pg_monitor TO sees", "CREATE ROLE blind LOGIN "+
		"PASSWORD 'x'")
	t.Cleanup(func() { b.on(t, b.own.DSN(), "DROP ROLE sees, blind") })
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	as := func(user string) string {
		return fmt.Sprintf("host=%s port=%d user=%s password=x dbname=%s sslmode=disable", config.Host, config.Port,
			user,
			config.Database)
	}
	var r *Report
	patience.Until(t, "old statistics are seen", func() bool {
		r = advised(t, as("sees"))
		return r.Find("analyze:public.orders") != nil
	})
	for name, right := range map[string]string{"settings in files": "GRANT SELECT ON pg_file_settings",
		"totals": "GRANT SELECT ON"} {
		if why := r.unavailable(name); !strings.Contains(why, right) {
			t.Errorf("%s: %q, want the right that is missing", name, why)
		}
	}
	_, err = Run(patience.Context(t), Options{DSN: as("blind")})
	if problem.ClassOf(err) != problem.Environment || problem.HintOf(err) != `GRANT pg_monitor TO "blind"` {
		t.Errorf("%v (hint %q)", err, problem.HintOf(err))
	}
}

func harmfulSettings(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, "ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET autovacuum = off")
	b.reload(t)
	t.Cleanup(func() {
		b.on(t, b.own.DSN(), "ALTER SYSTEM SET fsync = on", "ALTER SYSTEM RESET autovacuum")
		b.reload(t)
	})
	r := advised(t, dsn)
	for _, id := range []string{"harmful:fsync", "harmful:autovacuum"} {
		a := r.Find(id)
		if a == nil || a.Level != Harmful || a.Applicable() {
			t.Fatalf("%s: %+v", id, a)
		}
		if _, err := r.Choose([]string{id}); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s may be applied: %v", id, err)
		}
	}
	if r.Advice[0].Level != Harmful || r.Find("harmful:full_page_writes") != nil {
		t.Errorf("first is %+v", r.Advice[0])
	}
}

func settingsSetTwice(t *testing.T, b *bench) {
	b.configure(t, "autovacuum_vacuum_cost_limit = 1000\nwork_mem = '5MB'\nautovacuum_vacuum_cost_limit = 2000\n")
	dsn := b.database(t)
	a := waitForAdvice(t, dsn, "twice:autovacuum_vacuum_cost_limit")
	if text := strings.Join(a.Evidence, "; "); a.Level != Problem || !strings.Contains(text, "line 1: 1000") ||
		!strings.Contains(text, "line 3: 2000") || !strings.Contains(text, "the server uses 2000") {
		t.Errorf("advice %+v, want a problem that names both lines and the value in use", a)
	}
	if advised(t, dsn).Find("twice:work_mem") != nil {
		t.Error("work_mem stands once")
	}
}

func librariesNotLoaded(t *testing.T, b *bench) {
	b.configure(t, "nosuchlibrary.enabled = on\npg_hint_plan.enable_hint = on\ncron.database_name = 'x'\n")
	dsn := b.database(t)
	none(t, advised(t, dsn), "library:nosuch") // it may be an application's own
	if a := waitForAdvice(t, dsn, "library:pg_cron"); a.Level != Note || a.Applicable() ||
		!strings.Contains(a.Do[0], "install pg_cron first") {
		t.Errorf("it is not installed: %+v", a)
	}
	a := waitForAdvice(t, dsn, "library:pg_hint_plan")
	if a.Level != Problem || !a.Changes[0].Restart || !strings.Contains(a.Evidence[0], "user.conf, line 2") {
		t.Errorf("advice %+v, want a problem with a restart that names file and line", a)
	}
	out, err := (Applier{DSN: dsn, Folder: t.TempDir()}).Apply(patience.Context(t), []Advice{a})
	if err == nil || len(out.Refused) != 1 || !strings.Contains(out.Refused[0].Why, "would not start") {
		t.Errorf("%v, %+v, want that a server that does not start is not made", err, out)
	}
}

func oldStatistics(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, staleFor, 0)
	b.on(t, dsn, orders, "ANALYZE orders", "UPDATE orders SET text = 'y' WHERE id <= 15000")
	a := waitForAdvice(t, dsn, "analyze:public.orders")
	if a.Level != Problem || a.Changes[0].SQL != `ANALYZE "public"."orders"` {
		t.Errorf("advice %+v, want a problem with an ANALYZE of the table", a)
	}
	if _, err := (Applier{DSN: dsn, Folder: t.TempDir()}).Apply(patience.Context(t), []Advice{a}); err != nil {
		t.Fatal(err)
	}
	patience.Until(t, "it is gone", func() bool { return advised(t, dsn).Find(a.ID) == nil })
}

func autovacuumBehind(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, staleFor, 0)
	b.on(t, dsn, orders, "VACUUM ANALYZE orders", "UPDATE orders SET text = 'y'",
		"CREATE TABLE quiet (id int) WITH (autovacuum_enabled = off)",
		"CREATE TABLE queue WITH (autovacuum_enabled = false) AS SELECT g AS id FROM generate_series(1, 3000) g",
		"DELETE FROM queue")
	if a := waitForAdvice(t, dsn, "vacuum:public.orders"); a.Level != Problem {
		t.Errorf("advice %+v, want a problem", a)
	}
	if a := waitForAdvice(t, dsn, "autovacuum:public.quiet"); a.Level != Note || !a.Applicable() {
		t.Errorf("nothing is missing yet: %+v", a)
	}
	if a := waitForAdvice(t, dsn, "autovacuum:public.queue"); a.Level != Problem ||
		!strings.HasSuffix(a.Changes[0].Undo, "(autovacuum_enabled = false)") {
		t.Errorf("advice %+v, want a problem whose undo restores the option", a)
	}
}

func horizonHeld(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, heldXIDs, 20)
	lower(t, heldFor, 0)
	holder := clustertest.Connect(t, dsn, "")
	run(t, holder, "CREATE TABLE t (id int)", "BEGIN", "INSERT INTO t VALUES (4242424242 % 7)")
	prepared := clustertest.Connect(t, dsn, "")
	run(t, prepared, "BEGIN", "INSERT INTO t VALUES (1)", "PREPARE TRANSACTION 'forgotten'")
	t.Cleanup(func() { b.on(t, dsn, "ROLLBACK PREPARED 'forgotten'") })
	run(t, prepared, "SELECT pg_create_physical_replication_slot('nobody', true)")
	t.Cleanup(func() { b.on(t, dsn, "SELECT pg_drop_replication_slot('nobody')") })
	for range 30 {
		run(t, prepared, "INSERT INTO t VALUES (2)")
	}
	id := fmt.Sprintf("horizon:session:%d", holder.PgConn().PID())
	a := waitForAdvice(t, dsn, id)
	if a.Level != Note || len(a.Changes) != 0 || strings.Contains(fmt.Sprint(a), "4242424242") {
		t.Errorf("nothing is missing yet: %+v", a)
	}
	waitForAdvice(t, dsn, "horizon:prepared-transaction:forgotten")
	b.on(t, dsn, orders, "DELETE FROM orders", "VACUUM orders")
	patience.Until(t, "the dead rows are counted", func() bool { return advised(t, dsn).Find(id).Level == Problem })
	if a := waitForAdvice(t, dsn, id); !strings.Contains(a.Evidence[1], "000 dead rows in 1 tables") ||
		!strings.Contains(strings.Join(a.Do, ""), "after asking its owner") {
		t.Errorf("advice %+v, want the dead rows, and to ask the session's owner", a)
	}
	r := advised(t, dsn)
	for _, id := range r.IDs() {
		if a := r.Find(id); strings.Contains(fmt.Sprint(a.Changes), "timeout") {
			t.Errorf("--all ends sessions: %+v", a)
		}
	}
	roleTimeout(t, dsn)
	if a := waitForAdvice(t, dsn, "slot:nobody"); a.Level != Note {
		t.Errorf("a slot that holds little: %+v", a)
	}
}

// roleTimeout is given by its ID alone, to one role in one database, and undone.
func roleTimeout(t *testing.T, dsn string) {
	t.Helper()
	const timeouts = "SELECT count(*) FROM pg_db_role_setting, unnest(setconfig) c WHERE c LIKE 'idle_in_transaction%'"
	a := waitForAdvice(t, dsn, "timeout:"+value[string](t, dsn, "SELECT current_user"))
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), []Advice{a}); err != nil || value[int](t, dsn, timeouts) != 1 {
		t.Errorf("it is not set: %v", err)
	}
	none(t, advised(t, dsn), "timeout:")
	if _, err := h.Revert(patience.Context(t)); err != nil || value[int](t, dsn, timeouts) != 0 {
		t.Errorf("it was not undone: %v", err)
	}
}

func emptySpace(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, bloatLeast, 1<<20)
	b.on(t, dsn, orders, "VACUUM ANALYZE orders")
	if a := advised(t, dsn).Find("bloat:public.orders"); a != nil {
		t.Errorf("a full table: %+v", a)
	}
	b.on(t, dsn, "DELETE FROM orders WHERE id % 10 <> 0", "VACUUM ANALYZE orders")
	waitForAdvice(t, dsn, "bloat:public.orders")
}

func emptyIndexes(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, bloatLeast, 256<<10)
	b.on(t, dsn, orders, "CREATE INDEX by_id ON orders (id)", "CREATE INDEX healthy ON orders (lower(text), id)",
		"VACUUM ANALYZE orders")
	if a := advised(t, dsn).Find("index-bloat:public.by_id"); a != nil {
		t.Errorf("a full index: %+v", a)
	}
	b.on(t, dsn, "DELETE FROM orders WHERE id % 10 <> 0", "VACUUM ANALYZE orders", "REINDEX INDEX healthy",
		"ANALYZE orders")
	a := waitForAdvice(t, dsn, "index-bloat:public.by_id")
	if text := strings.Join(a.Evidence, ""); !strings.Contains(text, "an estimate") ||
		!strings.Contains(strings.Join(a.Do, ";"), "CREATE EXTENSION pgstattuple") ||
		!strings.Contains(a.Prove, "REINDEX INDEX") {
		t.Errorf("advice %+v, want an estimate, and how to measure and to compare", a)
	}
	if a := advised(t, dsn).Find("index-bloat:public.healthy"); a != nil {
		t.Errorf("it is rebuilt: %+v", a)
	}
	if value[int](t, dsn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'") == 0 {
		return // what follows is the extension's
	}
	b.on(t, dsn, "CREATE SCHEMA measures", "CREATE EXTENSION pgstattuple SCHEMA measures")
	if a := waitForAdvice(t, dsn, a.ID); !strings.Contains(a.Evidence[0], "pgstattuple measured leaf pages ") {
		t.Errorf("advice %+v, want what pgstattuple measured", a)
	}
	b.on(t, dsn, "REINDEX INDEX by_id", // the estimate is wrong where statistics are
		"UPDATE pg_class SET relpages = 100, reltuples = 10 WHERE relname = 'by_id'")
	if a := advised(t, dsn).Find(a.ID); a != nil {
		t.Errorf("pgstattuple says that it is full: %+v", a)
	}
}

func foreignKeysWithoutIndex(t *testing.T, b *bench) {
	dsn := b.database(t)
	const lines = `CREATE TABLE {table} (id int PRIMARY KEY, code int UNIQUE);
		INSERT INTO {table} SELECT g, g FROM generate_series(1, 2000) g;
		CREATE TABLE {table}_lines AS SELECT g AS id, g % 1000 + 1 AS parent FROM generate_series(1, 6000) g;
		ALTER TABLE {table}_lines ADD CONSTRAINT {table}_key FOREIGN KEY (parent) REFERENCES {table} ({key});
		ANALYZE {table}_lines`
	made := func(table, key string) string {
		return strings.NewReplacer("{table}", table, "{key}", key).Replace(lines)
	}
	b.on(t, dsn, made("deleted", "id"), made("indexed", "id"),
		made("kept", "id"), made("renamed", "code"),
		"CREATE INDEX ON indexed_lines (parent, id)")
	lower(t, deletesLeast, 20)
	lower(t, scanRowsPS, 0)
	const remove = "DELETE FROM %s WHERE id > 1975; SELECT pg_stat_force_next_flush()"
	b.on(t, dsn, fmt.Sprintf(remove, "deleted"), fmt.Sprintf(remove, "indexed"))
	a := waitForAdvice(t, dsn, "foreign-key:public.deleted_lines(parent)")
	if text := strings.Join(a.Evidence, ""); a.Level != Problem || !strings.Contains(text, "25 rows were deleted") ||
		!strings.Contains(text, "6000 rows") || a.Memory == "" {
		t.Errorf("advice %+v, want a problem with deleted and read rows and its cost", a)
	}
	r := advised(t, dsn)
	for _, healthy := range []string{"indexed", "kept", "renamed"} {
		if a := r.Find("foreign-key:public." + healthy + "_lines(parent)"); a != nil {
			t.Errorf("advice on a healthy key: %+v", a)
		}
	}
	// Of a table in partitions each is a key of its own to the server, and one index serves them all.
	b.on(t, dsn, `CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
		CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (1) TO (1989);
		CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (1989) TO (2001);
		INSERT INTO parted SELECT generate_series(1, 2000);
		CREATE TABLE parted_lines AS SELECT g AS id, g % 1000 + 1 AS parent FROM generate_series(1, 6000) g;
		ALTER TABLE parted_lines ADD FOREIGN KEY (parent) REFERENCES parted; ANALYZE parted_lines`,
		fmt.Sprintf(remove, "parted"))
	waitForAdvice(t, dsn, "foreign-key:public.parted_lines(parent)")
	found := 0
	for _, one := range advised(t, dsn).Advice {
		if one.ID == "foreign-key:public.parted_lines(parent)" {
			if found++; !strings.Contains(one.Evidence[0], "25 rows were deleted") {
				t.Errorf("advice %+v, want 25 deleted rows", one)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d times the same advice", found)
	}
	lower(t, deletesLeast, 1)
	session := clustertest.Connect(t, dsn, "") // without pg_stat_statements its last statement is seen
	run(t, session, "UPDATE renamed SET code = code + 9000 WHERE id = 1999")
	waitForAdvice(t, dsn, "foreign-key:public.renamed_lines(parent)")
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), []Advice{a}); err != nil || advised(t, dsn).Find(a.ID) != nil {
		t.Errorf("it was applied, and is still there: %v", err)
	}
}

func TestSets(t *testing.T) {
	for sql, want := range map[string]bool{
		"UPDATE parts SET id = $1 WHERE name = $2":            true,
		`update only public."parts" set name = $1, "id" = $2`: true,
		"UPDATE parts SET (name, id) = (1, 2)":                false, // rare; a missed one is no false alarm
		"UPDATE parts SET name = $1 WHERE id = $2":            false,
		"UPDATE parts_of SET id = 1":                          false,
		"DELETE FROM parts WHERE id = 1":                      false,
	} {
		if got := sets(sql, "parts", []string{"id"}); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

// scanned is a database whose orders a session has read whole many times.
func scanned(t *testing.T, b *bench) (dsn string, conn *pgx.Conn) {
	dsn = b.database(t)
	b.on(t, dsn, orders, "ALTER TABLE orders ADD PRIMARY KEY (id)", "ANALYZE orders")
	conn = clustertest.Connect(t, dsn, "")
	for range 12 {
		run(t, conn, "SELECT count(*) FROM orders WHERE customer = 77")
	}
	return dsn, conn
}

func missingIndex(t *testing.T, b *bench) {
	lower(t, scanRowsPS, 0)
	dsn, _ := scanned(t, b)
	a := waitForAdvice(t, dsn, "scan:public.orders(customer)")
	if a.Level != Problem || strings.Contains(strings.Join(a.Evidence, ""), "77") || a.Memory == "" {
		t.Errorf("advice %+v, want a problem without values, with its cost", a)
	}
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	for range 2 {
		if _, err := h.Apply(patience.Context(t), []Advice{a}); err != nil {
			t.Fatal(err)
		}
		if advised(t, dsn).Find(a.ID) != nil {
			t.Error("it is still missing")
		}
	}
	const count = "SELECT count(*) FROM pg_indexes WHERE indexname = 'plimsoll_orders_customer_idx'"
	if n := value[int](t, dsn, count); n != 1 {
		t.Errorf("%d indexes", n)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil || value[int](t, dsn, count) != 0 {
		t.Errorf("it was not undone: %v", err)
	}
}

// The server does not remember the statement; the diagnosis saw it, and prices the index.
func sampledIndex(t *testing.T, b *bench) {
	dsn, conn := scanned(t, b)
	run(t, conn, "SELECT 1")
	price := 0.3
	seen := Cause{Name: "missing-index", Title: "Statements read all of public.orders", Price: &price}
	seen.Statements = []string{
		"SELECT o.text FROM orders o LEFT JOIN lines l ON l.number = o.id WHERE o.customer = $? AND l.price > ?"}
	patience.Until(t, "the scans are counted, and the statement is known", func() bool {
		a := advised(t, dsn, seen).Find("scan:public.orders(customer)")
		return a != nil && a.Price != nil && *a.Price == price && len(a.Changes) == 1
	})
	if a := advised(t, dsn).Find("scan:public.orders"); a == nil || len(a.Changes) > 0 {
		t.Errorf("without the diagnosis: %+v", a)
	}
}

func needlessIndexes(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, orders, "ALTER TABLE orders ADD PRIMARY KEY (id)", "CREATE INDEX one ON orders (customer)",
		"CREATE INDEX two ON orders (customer)", "CREATE INDEX alone ON orders (customer, id)",
		"CREATE INDEX again ON orders (id)", "UPDATE orders SET text = 'y' WHERE id < 2000")
	if a := waitForAdvice(t, dsn, "index:public.two"); a.Level != Problem {
		t.Errorf("advice %+v, want a problem", a)
	}
	if a := waitForAdvice(t, dsn, "index:public.again"); !strings.Contains(a.Title, "orders_pkey") {
		t.Errorf("advice %+v, want orders_pkey named as the same index", a)
	}
	if advised(t, dsn).Find("index:public.alone") != nil {
		t.Error("nobody has used its table yet")
	}
	lower(t, usesLeast, 0)
	if a := waitForAdvice(t, dsn, "index:public.alone"); a.Level != Note {
		t.Errorf("unused: %+v", a)
	}
	if r := advised(t, dsn); r.Find("index:public.orders_pkey") != nil {
		t.Error("the primary key must stay")
	}
}

func spills(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, spillsLeast, 3)
	lower(t, spillsPerS, 0)
	conn := clustertest.Connect(t, dsn, "")
	run(t, conn, "SET work_mem = '64kB'")
	for range 4 {
		run(t, conn, "SELECT count(*) FROM (SELECT g FROM generate_series(1, 30000) g ORDER BY g % 77, g OFFSET 1) "+
			"AS s")
	}
	run(t, conn, "SELECT pg_stat_force_next_flush()")
	if a := waitForAdvice(t, dsn, "setting:work_mem"); a.Memory == "" || len(a.Changes) != 1 || a.Changes[0].Restart {
		t.Errorf("advice %+v, want one change without a restart, with its memory", a)
	}
}

func smallBuffers(t *testing.T, _ *bench) {
	own := newSmall(t)
	lower(t, accessesLeast, 1000)
	own.on(t, own.own.DSN(), `CREATE TABLE large AS SELECT g AS id, repeat('x', 500) AS text
		FROM generate_series(1, 20000) g`)
	conn := clustertest.Connect(t, own.own.DSN(), "")
	for range 5 {
		run(t, conn, "SELECT count(*) FROM large WHERE text <> 'y'")
	}
	run(t, conn, "SELECT pg_stat_force_next_flush()")
	if a := waitForAdvice(t, own.own.DSN(), "setting:shared_buffers"); !a.Changes[0].Restart || a.Memory == "" {
		t.Errorf("advice %+v, want a change with a restart, with its memory", a)
	}
}

func statisticsTarget(t *testing.T, b *bench) {
	b.configure(t, "default_statistics_target = 10000\n")
	if a := waitForAdvice(t, b.database(t), "setting:default_statistics_target"); a.Level != Problem ||
		!strings.Contains(a.Evidence[0], "user.conf, line 1") {
		t.Errorf("advice %+v, want a problem that names file and line", a)
	}
}

func shortSessions(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, sessionsOf, 10)
	lower(t, sessionsPS, 0)
	lower(t, lifeLeast, 3600) // this machine may be slow: an hour is shorter than no session of a test
	for range 12 {
		conn := clustertest.Connect(t, dsn, "")
		run(t, conn, "SELECT 1")
		conn.Close(context.Background())
	}
	waitForAdvice(t, dsn, "connections:storm")
	lower(t, usedMost, 0)
	if a := waitForAdvice(t, dsn, "connections:limit"); a.Level != Problem || a.Memory == "" {
		t.Errorf("advice %+v, want a problem with its memory", a)
	}
}

func catalogChurn(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, churnLeast, 1000)
	lower(t, churnTimes, 0.5)
	lower(t, churnPerS, 0)
	conn := clustertest.Connect(t, dsn, "")
	var columns []string
	for i := range 200 {
		columns = append(columns, fmt.Sprintf("c%d int", i))
	}
	off := "SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'enable_temp_memory_catalog'"
	run(t, conn, off)
	for range 15 {
		run(t, conn, "CREATE TEMP TABLE t ("+strings.Join(columns, ", ")+")", "DROP TABLE t")
	}
	run(t, conn, "SELECT pg_stat_force_next_flush()")
	waitForAdvice(t, dsn, "temp-tables")
}

func tempWithoutStatistics(t *testing.T, b *bench) {
	dsn := b.database(t)
	off := value[string](t, dsn, "SELECT coalesce(string_agg('-c ' || name || '=off', ' '), '') FROM pg_settings "+
		"WHERE name IN ('enable_temp_memory_catalog', 'temp_lazy_files')")
	conn := clustertest.Connect(t, dsn+" options='"+off+"'", "")
	run(t, conn, "CREATE TEMP TABLE filled AS SELECT g, repeat('x', 100) FROM generate_series(1, 5000) g")
	if a := waitForAdvice(t, dsn, "temp-statistics"); a.Level != Note ||
		!strings.Contains(a.Evidence[0], "1 temp tables") {
		t.Errorf("advice %+v, want a note on one temp table", a)
	}
	run(t, conn, "ANALYZE filled")
	if advised(t, dsn).Find("temp-statistics") != nil {
		t.Error("it has statistics now")
	}
}

// smallTablesTruncated next to a large one, which is better truncated, and a permanent one.
func smallTablesTruncated(t *testing.T, b *bench) {
	dsn := b.database(t)
	const class = "emptying of temp tables: pg_stat_statements"
	if why := advised(t, dsn).unavailable(class); why == "" {
		t.Error("without statements it is not known whether tables are truncated")
	}
	b.on(t, dsn, "CREATE EXTENSION pg_stat_statements")
	lower(t, emptyLeast, 20)
	lower(t, emptyShare, 0)
	conn := clustertest.Connect(t, dsn, "")
	run(t, conn, "CREATE TEMP TABLE small (id int)", "CREATE TEMP TABLE large (id int)",
		"CREATE TABLE lasting (id int)", "SET pg_stat_statements.track_planning = on")
	for range 25 {
		run(t, conn, "INSERT INTO lasting VALUES (1)", "TRUNCATE lasting")
		run(t, conn, "INSERT INTO pg_temp.large SELECT generate_series(1, 1000)", "TRUNCATE TABLE pg_temp.large")
	}
	if r := advised(t, dsn); r.Find("temp-truncate") != nil || r.unavailable(class) != "" {
		t.Errorf("large tables are truncated, as they should: %+v", r.Find("temp-truncate"))
	}
	const prepared, plain = "TRUNCATE small", "TRUNCATE TABLE small"
	if _, err := conn.Prepare(patience.Context(t), prepared, prepared); err != nil {
		t.Fatal(err)
	}
	use := func(mode pgx.QueryExecMode, truncate string) {
		for range 25 {
			for _, sql := range []string{"INSERT INTO small SELECT generate_series(1, $1::int)",
				"SELECT count(*) FROM small WHERE id < $1", "SELECT count(*) FROM lasting WHERE id < $1"} {
				if _, err := conn.Exec(patience.Context(t), sql, mode, 3); err != nil {
					t.Fatal(err)
				}
			}
			run(t, conn, truncate)
		}
	}
	use(pgx.QueryExecModeSimpleProtocol, plain)
	a := waitForAdvice(t, dsn, "temp-truncate")
	if want := "1 temp tables were truncated some 25 times, with 3.0 rows in each"; !strings.HasPrefix(a.Evidence[0],
		want) {
		t.Errorf("%q, want %q", a.Evidence[0], want)
	}
	if want := "other statements are planned as often"; !strings.HasPrefix(a.Evidence[1], want) {
		t.Errorf("%q, want %q", a.Evidence[1], want)
	}
	run(t, conn, "SELECT pg_stat_statements_reset()")
	use(pgx.QueryExecModeCacheStatement, prepared) // which is counted once
	a = waitForAdvice(t, dsn, "temp-truncate")
	if want := "1 temp tables were truncated some 2"; !strings.HasPrefix(a.Evidence[0], want) {
		t.Errorf("%q, want %q", a.Evidence[0], want)
	}
	if want := "50 calls of statements that use them were planned "; !strings.HasPrefix(a.Evidence[1], want) {
		t.Errorf("%q, want %q", a.Evidence[1], want)
	}
}

func laggingReplica(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, lagBytes, 1<<20)
	slowReplica(t, dsn, "slow_standby")
	b.on(t, dsn, orders)
	waitForAdvice(t, dsn, "replica:slow_standby")
}

func splitTotals(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, "CREATE TABLE gl_general_totals AS SELECT g AS id, g % 8 AS split FROM generate_series(1, 5000) g")
	if a := waitForAdvice(t, dsn, "totals:general"); a.Do[0] != "plimsoll recalculate general" {
		t.Errorf("advice %+v, want a recalculation", a)
	}
}

func manyFiles(t *testing.T, b *bench) {
	lower(t, filesMany, 100)
	waitForAdvice(t, b.database(t), "files")
}

func pricesOfADiagnosis(t *testing.T, b *bench) {
	dsn := b.database(t)
	lower(t, usesLeast, 0)
	b.on(t, dsn, orders, "CREATE TABLE other AS SELECT * FROM orders", "CREATE INDEX unread ON orders (customer)",
		"UPDATE orders SET text = ''")
	waitForAdvice(t, dsn, "analyze:public.other")
	price := 0.4
	r := advised(t, dsn, Cause{Name: "unused-indexes", Title: "1 indexes of public.orders are written and never read",
		Price: &price, Gain: &Range{0.3, 0.5}}, Cause{Name: "stale-statistics", Title: "of public.orders"})
	a := r.Find("index:public.unread")
	if a == nil || a.Level != Problem || a.Price == nil || *a.Price != price || a.ExpectedGain == nil ||
		r.Advice[0].ID != a.ID {
		t.Errorf("%+v, first of all %s", a, r.Advice[0].ID)
	}
	if o := r.Find("analyze:public.other"); o == nil || o.Price != nil || len(o.Evidence) != 1 {
		t.Errorf("priced by a finding about another table: %+v", o)
	}
}
