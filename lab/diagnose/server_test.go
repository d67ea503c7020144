package diagnose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(patience.Context(t), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// as returns the DSN for a new user with the rights of a role; empty: without any.
func as(t *testing.T, dsn cluster.DSN, user, role string) string {
	t.Helper()
	conn := clustertest.Connect(t, dsn.Secret(), "test")
	execute(t, conn, "DROP ROLE IF EXISTS "+user+"; CREATE ROLE "+user+" LOGIN PASSWORD 'x'")
	if role != "" {
		execute(t, conn, fmt.Sprintf("GRANT %s TO %s", role, user))
	}
	config := conn.Config()
	return fmt.Sprintf("host=%s port=%d user=%s password=x dbname=%s sslmode=disable", config.Host, config.Port, user,
		config.Database)
}

// hotRow makes an idle client hold a row that others wait for, until the test ends.
func hotRow(t *testing.T, dsn string) {
	t.Helper()
	holder := clustertest.Connect(t, dsn, "clerk")
	execute(t, holder, "CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (1, 0)")
	execute(t, holder, "BEGIN; UPDATE hot SET n = n + 1 WHERE id = 1")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	const victims = 3
	for range victims {
		conn := clustertest.Connect(t, dsn, "shop")
		go func() {
			_, _ = conn.Exec(ctx, "UPDATE hot SET n = 42 WHERE id = 1")
			ended <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		stop()
		for range victims {
			<-ended
		}
	})
	watcher := clustertest.Connect(t, dsn, "test")
	patience.Until(t, "all victims wait", func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "+
			"AND datname = current_database()").Scan(&n)
		return err == nil && n == victims
	})
}

func TestRun_NamesAnIdleClientThatHoldsAHotRow(t *testing.T) {
	dsn := clustertest.Database(t)
	monitor := as(t, dsn, "diagnose_monitor", "pg_monitor")
	hotRow(t, dsn.Secret())
	var d *Diagnosis
	patience.Until(t, "the lock is the first finding", func() bool {
		var err error
		d, err = Run(patience.Context(t), Options{DSN: monitor, Duration: 2 * time.Second, Rate: RateDefault})
		if err != nil {
			t.Fatal(err)
		}
		return len(d.Findings) > 0 && d.Findings[0].Name == lockOfIdleClient.name
	})
	if f := d.Findings[0]; f.Level != Problem || *f.Price < 0.5 {
		t.Errorf("%+v, want three of four sessions' time", f)
	}
	if len(d.Stories) == 0 {
		t.Fatal("no story")
	}
	s := d.Stories[0]
	if s.Root.Application != "clerk" || !strings.Contains(s.Object, "hot") || s.Victims != 3 ||
		!strings.HasPrefix(s.Root.Statement, "BEGIN; UPDATE hot") {
		t.Errorf("story %+v, want the clerk's, of hot, with three victims", s)
	}
	if sum := d.Ledger.sum(); sum < 0.999 || sum > 1.001 {
		t.Errorf("the ledger adds up to %v", sum)
	}
	if d.Cost.Samples == 0 || d.Cost.QueriesS == 0 || d.Server.Database == "" {
		t.Errorf("cost %+v, server %+v", d.Cost, d.Server)
	}
	var b strings.Builder
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"idle client holds", "clerk", "sum", "100.0 %", "NOT THE PROBLEM", "Cost of this"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

// The commits of a server whose synchronous standby is away wait for it, not for the log or its disk.
func TestRun_NamesASynchronousStandbyThatIsAway(t *testing.T) {
	own := clustertest.Alone(t, map[string]string{"synchronous_standby_names": "nobody",
		"wal_level": "replica", "max_wal_senders": "4"})
	conn := clustertest.Connect(t, own.DSN(), "shop")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Exec(ctx, "SET synchronous_commit = on; CREATE TABLE t (n int)")
	}()
	t.Cleanup(func() { stop(); <-ended })
	watcher := clustertest.Connect(t, own.DSN(), "test")
	patience.Until(t, "the commit waits", func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").
			Scan(&n)
		return err == nil && n == 1
	})
	d, err := Run(patience.Context(t), Options{DSN: own.DSN(), Duration: time.Second, Rate: RateDefault})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Findings) == 0 || d.Findings[0].Name != standbyConfirms.name ||
		!strings.Contains(d.Findings[0].Title, "is not connected") {
		t.Fatalf("%+v, want the standby that is away first", d.Findings)
	}
	for _, f := range d.Findings {
		if f.Name == logFlush.name {
			t.Errorf("it also blames the log: %+v", f)
		}
	}
	if says := strings.Join(d.Findings[0].Next, "\n"); strings.Contains(says, "pg_test_fsync") {
		t.Errorf("advice about the disk: %s", says)
	}
}

// Where reading began late, as on a busy machine, the time is over before the first look.
func TestRun_LooksOnceHoweverShortItsTime(t *testing.T) {
	d, err := Run(patience.Context(t), Options{DSN: clustertest.Database(t).Secret(), Duration: 1, Rate: RateDefault})
	if err != nil || d.Cost.Samples < 1 { // more where the first look took until the second was due
		t.Errorf("%v, %+v", err, d)
	}
}

// To a user without the privilege all sessions look idle: no report is better than such a report.
func TestRun_NeedsTheRightToSee(t *testing.T) {
	blind := as(t, clustertest.Database(t), "diagnose_blind", "")
	d, err := Run(patience.Context(t), Options{DSN: blind, Duration: time.Second, Rate: RateDefault})
	if d != nil || problem.ClassOf(err) != problem.Environment ||
		problem.HintOf(err) != `GRANT pg_monitor TO "diagnose_blind"` {
		t.Errorf("%v, %v (hint %q)", d, err, problem.HintOf(err))
	}
}

func TestAttach_WritesNothing(t *testing.T) {
	a, err := attach(patience.Context(t), clustertest.Database(t).Secret())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close(t.Context())
	for _, conn := range []*pgx.Conn{a.fast, a.slow} {
		var refused *pgconn.PgError
		const readOnly = "25006"
		if _, err := conn.Exec(t.Context(), "CREATE TABLE x (n int)"); !errors.As(err, &refused) ||
			refused.Code != readOnly {
			t.Errorf("%v, want that nothing may be written", err)
		}
	}
}

func TestRun_ReportsWhatWasSeenWhenItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	looks := 0
	d, err := Run(ctx, Options{DSN: clustertest.Database(t).Secret(), Duration: time.Hour, Rate: RateMax,
		Progress: func(time.Duration, int) {
			if looks++; looks == 5 {
				stop()
			}
		}})
	if problem.ClassOf(err) != problem.Interrupted || d == nil || d.Stopped == "" || d.Cost.Samples < 5 {
		t.Errorf("%v, %+v", err, d)
	}
	if len(d.Rates) == 0 || d.Rates[0].PerS == nil {
		t.Errorf("the statistics were not read at the end: %+v, %+v", d.Rates, d.Unavailable)
	}
}

func TestRun_ReportsWhatWasSeenWhenTheConnectionIsCut(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	killer := clustertest.Connect(t, dsn, "test")
	looks := 0
	d, err := Run(patience.Context(t), Options{DSN: dsn, Duration: time.Hour, Rate: RateMax,
		Progress: func(time.Duration, int) {
			if looks++; looks == 5 {
				_, _ = killer.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "+
					"application_name = $1 AND datname = current_database()", ownName)
			}
		}})
	if err == nil || problem.ClassOf(err) != problem.Failure || d == nil || !strings.Contains(d.Stopped, "lost") {
		t.Errorf("%v, %+v", err, d)
	}
}
