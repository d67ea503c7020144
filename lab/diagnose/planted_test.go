package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/counters"
	"plimsoll/test/patience"
)

// computes for some time, within work_mem.
const computes = "SELECT sum(length(md5(g::text))) FROM generate_series(1, 20000) g"

// busy runs statements again and again on connections of their own, until the test ends.
func busy(t *testing.T, dsn, application string, statements ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	for _, sql := range statements {
		conn := clustertest.Connect(t, dsn, application)
		go func() {
			for ctx.Err() == nil {
				if _, err := conn.Exec(ctx, sql); err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", sql, err)
					break
				}
			}
			ended <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		stop()
		for range statements {
			<-ended
		}
	})
}

// finds runs a diagnosis until it has a finding of a name.
func finds(t *testing.T, dsn, name string, lasts time.Duration) (d *Diagnosis, f Finding) {
	t.Helper()
	for range 10 {
		var err error
		if d, err = Run(patience.Context(t), Options{DSN: dsn, Duration: lasts, Rate: RateDefault}); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Name == name })
		if i >= 0 {
			f = d.Findings[i]
			break
		}
	}
	if f.Name == "" {
		t.Fatalf("no finding %s: %+v; unavailable: %+v; settings %+v", name, d.Findings, d.Unavailable, d.Settings)
	}
	for _, s := range d.Unavailable {
		if strings.Contains(s.Why, "syntax") || strings.Contains(s.Why, "does not exist") {
			t.Errorf("a query is wrong: %+v", s)
		}
	}
	return d, f
}

// A prepared transaction is named, with its age and what it holds.
func TestRun_NamesAPreparedTransaction(t *testing.T) {
	dsn := clustertest.Alone(t, map[string]string{"max_prepared_transactions": "2"}).DSN()
	conn := clustertest.Connect(t, dsn, "shop")
	execute(t, conn, "CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (1, 0)")
	execute(t, conn, "BEGIN; UPDATE hot SET n = 1; PREPARE TRANSACTION 'order''s 42'")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	victim := clustertest.Connect(t, dsn, "shop")
	go func() {
		defer close(ended)
		_, _ = victim.Exec(ctx, "UPDATE hot SET n = 2")
	}()
	t.Cleanup(func() { stop(); <-ended })
	d, f := finds(t, dsn, lockOfPrepared.name, 2*time.Second)
	if d.Findings[0].Name != f.Name || f.Level != Problem || !strings.Contains(f.Title, "order's 42") {
		t.Errorf("findings %+v, want the prepared transaction first", d.Findings)
	}
	p := d.Stories[0].Root.Prepared
	if p == nil || p.GID != "order's 42" || p.AgeS <= 0 || !strings.Contains(p.Holds, "RowExclusiveLock of "+
		"public.hot") {
		t.Errorf("%+v, want its age and that it holds hot", p)
	}
	if says := strings.Join(f.Next, "\n"); !strings.Contains(says, "COMMIT PREPARED 'order''s 42'") {
		t.Errorf("what next: %q", f.Next)
	}
}

// The key of an advisory lock is in the lock story, as the program writes it.
func TestRun_ShowsTheKeysOfAdvisoryLocks(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	holder := clustertest.Connect(t, dsn, "holder")
	execute(t, holder, "BEGIN; SELECT pg_advisory_xact_lock(-7), pg_advisory_xact_lock(-1, 2)")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	keys := []string{"-7", "-1, 2"}
	for _, key := range keys {
		conn := clustertest.Connect(t, dsn, "victim")
		go func() {
			_, _ = conn.Exec(ctx, "SELECT pg_advisory_lock("+key+")")
			ended <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		stop()
		for range keys {
			<-ended
		}
	})
	var d *Diagnosis
	patience.Until(t, "both are blocked", func() bool {
		var err error
		d, err = Run(patience.Context(t), Options{DSN: dsn, Duration: 2 * time.Second, Rate: RateDefault})
		if err != nil {
			t.Fatal(err)
		}
		return len(d.Stories) == 1 && d.Stories[0].Victims == 2
	})
	if tree := strings.Join(d.Stories[0].Tree, "\n"); !strings.Contains(tree, "the advisory lock -7") ||
		!strings.Contains(tree, "the advisory lock -1, 2") {
		t.Errorf("the tree lacks their keys:\n%s", tree)
	}
}

func TestRun_TellsThatReplayIsPaused(t *testing.T) {
	_, standby := clustertest.Synchronous(t)
	clustertest.Value(t, standby, "SELECT pg_wal_replay_pause()")
	_, f := finds(t, standby, replayPaused.name, time.Second)
	if f.Level != Problem || !strings.Contains(strings.Join(f.Evidence, ""), "MB of log") {
		t.Errorf("%+v, want a problem with figures", f)
	}
}

func TestRun_NamesASlotThatNobodyReads(t *testing.T) {
	dsn := clustertest.Alone(t, map[string]string{"wal_level": "replica", "max_replication_slots": "2"}).DSN()
	was := behindLeast.Value
	behindLeast.Value = 1 << 20
	t.Cleanup(func() { behindLeast.Value = was })
	conn := clustertest.Connect(t, dsn, "")
	execute(t, conn, "SELECT pg_create_physical_replication_slot('forgotten', true)")
	execute(t, conn, "CREATE TABLE t AS SELECT g, repeat('x', 100) FROM generate_series(1, 50000) g")
	if _, f := finds(t, dsn, slotsBehind.name, time.Second); !strings.Contains(f.Evidence[0], "slot forgotten") ||
		!strings.Contains(f.Evidence[0], "nobody reads it") {
		t.Errorf("%+v", f)
	}
}

// An index that a cast keeps from being used is not missing.
func TestRun_DoesNotMissAnIndexThatIsThere(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "")
	execute(t, conn, "CREATE TABLE orders AS SELECT g AS id, g % 1000 AS customer FROM generate_series(1, 50000) g")
	execute(t, conn, "CREATE INDEX orders_customer ON orders (customer); ANALYZE orders")
	busy(t, dsn, "shop", "SELECT count(*) FROM orders WHERE customer::text = '7'")
	d, f := finds(t, dsn, indexNotUsed.name, 3*time.Second)
	if said := f.Title + strings.Join(f.Evidence, " "); !strings.Contains(said, "index orders_customer") {
		t.Errorf("%+v, want the index's name", f)
	}
	for _, f := range d.Findings {
		if f.Name == wholeTables.name {
			t.Errorf("and an index is missing: %+v", f)
		}
	}
}

// Settings of a role are read, with the time of its sessions; those that log each statement are told.
func TestRun_TellsSettingsThatDiffer(t *testing.T) {
	dsn := clustertest.Database(t)
	app := as(t, dsn, "diagnose_app", "")
	conn := clustertest.Connect(t, dsn.Secret(), "")
	execute(t, conn, "ALTER ROLE diagnose_app SET enable_hashjoin = off")
	execute(t, conn, "ALTER ROLE diagnose_app SET log_statement = 'all'")
	execute(t, conn, "ALTER ROLE diagnose_app CONNECTION LIMIT 50")
	execute(t, conn, "CREATE TABLE t (n int) WITH (autovacuum_enabled = off)")
	execute(t, conn, "CREATE FUNCTION sorted() RETURNS int LANGUAGE sql SET enable_sort = off RETURN 1")
	busy(t, app, "shop", "SELECT count(*) FROM generate_series(1, 20000) g JOIN generate_series(1, 20000) h ON "+
		"g.g = h.h")
	d, f := finds(t, dsn.Secret(), ownSettings.name, 2*time.Second)
	if *f.Price < 0.5 || !strings.Contains(f.Title, "Role diagnose_app") {
		t.Errorf("%+v, want the role's time", f)
	}
	text := fmt.Sprintf("%+v", d.Settings)
	for _, want := range []string{"enable_hashjoin", "autovacuum_enabled", "table public.t", "log_statement",
		connectionLimit, "function public.sorted"} {
		if !strings.Contains(text, want) {
			t.Errorf("settings lack %s: %s", want, text)
		}
	}
}

// A statement that always ends at its role's limit is named with the limit, by a role that may read no log.
func TestRun_NamesAStatementThatATimeoutEnds(t *testing.T) {
	dsn := clustertest.Database(t)
	hasty, monitor := as(t, dsn, "diagnose_hasty", ""), as(t, dsn, "diagnose_watcher", "pg_monitor")
	execute(t, clustertest.Connect(t, dsn.Secret(), ""), "ALTER ROLE diagnose_hasty SET statement_timeout = 40")
	conn := clustertest.Connect(t, hasty, "shop")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_, _ = conn.Exec(ctx, "SELECT count(*) FROM generate_series(1, 100000000) g")
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
	_, f := finds(t, monitor, endedByLimit.name, 2*time.Second)
	if f.Level != Problem || !strings.Contains(f.Title, "statement_timeout = 40 of role diagnose_hasty") ||
		len(f.Statements) != 1 || !strings.Contains(f.Statements[0], "generate_series") {
		t.Errorf("%+v, want the limit and the statement", f)
	}
}

// Nobody is at work: the report's lists are empty, and not null.
func TestRun_OfAnIdleServer(t *testing.T) {
	d, err := Run(patience.Context(t), Options{DSN: clustertest.Database(t).Secret(), Duration: time.Second,
		Rate: RateDefault})
	if err != nil {
		t.Fatal(err)
	}
	var lists struct {
		Ledger struct {
			Lines []any `json:"lines"`
		} `json:"ledger"`
		Background []any `json:"background"`
	}
	b, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(b, &lists)
	}
	if err != nil || lists.Ledger.Lines == nil || lists.Background == nil {
		t.Errorf("%v, %+v", err, lists)
	}
}

// A real pgbouncer, by transaction and by statement: prepared statements are not carried from one process to another.
func TestRun_ThroughPgbouncer(t *testing.T) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	dsn := clustertest.Database(t).Secret()
	for _, mode := range []string{"transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			through := bouncer(t, program, dsn, mode)
			busy(t, through+"&default_query_exec_mode=simple_protocol", "shop", "SELECT pg_sleep(0.01)",
				"SELECT pg_sleep(0.02)")
			d, err := Run(patience.Context(t), Options{DSN: through, Duration: 2 * time.Second, Rate: RateDefault})
			if err != nil {
				t.Fatal(err)
			}
			if d.Cost.Samples < 2 || d.Ledger.TotalS == 0 {
				t.Errorf("%+v, want samples of both sessions", d.Ledger)
			}
			for _, s := range d.Unavailable {
				if s.Name == counters.Databases || strings.Contains(s.Why, "26000") ||
					strings.Contains(s.Why, "prepared") {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

// finding by name; nil: it has none.
func (d *Diagnosis) finding(name string) *Finding {
	for i := range d.Findings {
		if d.Findings[i].Name == name {
			return &d.Findings[i]
		}
	}
	return nil
}

// Another role's session and database are told apart from this one's.
func TestRun_TellsWhoUsesTheProcessors(t *testing.T) {
	here, there := clustertest.Database(t).Secret(), clustertest.Database(t).Secret()
	busy(t, there, "other", computes)
	d, err := Run(patience.Context(t), Options{DSN: here, Duration: 3 * time.Second, Rate: RateDefault})
	if err != nil {
		t.Fatal(err)
	}
	if d.Host == nil {
		t.Skip("NOT TESTED: the machine is not visible")
	}
	by := map[string]float64{}
	sum := 0.0
	for _, u := range d.Host.Server {
		by[u.Kind] = u.Share
		sum += u.Share
	}
	if by[usedElsewhere] <= by[usedHere] || sum > *d.Host.Database*1.2+0.05 {
		t.Errorf("%+v of %.2f, want most for sessions of other databases", d.Host.Server, *d.Host.Database)
	}
	if d.finding(NoReason) == nil && d.finding(processorsElsewhere.name) == nil &&
		d.finding("long-statements") == nil { // which its calls are where the machine is busy
		t.Errorf("nothing tells what the time is spent on: %+v", d.Findings)
	}
}
