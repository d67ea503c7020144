package score_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/recorded/score"
)

// entry of a session that ends at a time of 10:00, in the format stderr.
func entry(at time.Duration, session int, text string) string {
	end := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC).Add(at)
	return fmt.Sprintf("%s [%d] u@shop %s\n", end.Format("2006-01-02 15:04:05.000 UTC"), session, text)
}

func statement(at time.Duration, session int, took time.Duration, sql string) string {
	return entry(at, session, fmt.Sprintf("LOG:  duration: %.3f ms  statement: %s", took.Seconds()*1000, sql))
}

func postgresLog(t *testing.T, entries ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "postgresql.log")
	if err := os.WriteFile(path, []byte(strings.Join(entries, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const ms = time.Millisecond

func scored(t *testing.T, o score.Options, entries ...string) *score.Result {
	t.Helper()
	o.Paths, o.Zone = []string{postgresLog(t, entries...)}, time.UTC
	r, err := score.Read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shown is name, number, median and statements of each operation.
func shown(r *score.Result) (all []string) {
	for _, op := range r.Operations {
		all = append(all, fmt.Sprintf("%s: %d × %v ms, %v statements, %d lost", op.Name, op.N, op.P50S*1000,
			op.Statements, op.Timeouts+op.Deadlocks))
	}
	return all
}

func TestSessions_PausesDivideThem(t *testing.T) {
	r := scored(t, score.Options{Target: time.Second},
		// 100 ms in the program between two statements belong to the operation; two sessions do not mix.
		statement(100*ms, 1, 50*ms, "BEGIN"),
		statement(110*ms, 2, 10*ms, "SELECT * FROM items WHERE id = 7"),
		statement(250*ms, 1, 50*ms, `INSERT INTO "orders_2026" VALUES ('delete from x')`),
		statement(250*ms, 1, 0, "COMMIT"),
		statement(2*time.Second, 1, 20*ms, "UPDATE ONLY stock s SET n = 1"),
		// Others' locks: the wait is part of the statement that ends later.
		entry(5*time.Second, 2, "LOG:  process 2 acquired ShareLock on transaction 9 after 1500.000 ms"),
		statement(5100*ms, 2, 1700*ms, "UPDATE stock SET n = 1"),
		entry(9*time.Second, 1, "ERROR:  deadlock detected"),
		entry(9*time.Second, 1, "STATEMENT:  UPDATE stock SET n = 2"),
		// A check of a connection is no operation.
		statement(20*time.Second, 1, 1*ms, "SELECT 1"),
	)
	// The prefix has no SQLSTATE: the message says what it was.
	want := []string{"update stock: 3 × 20 ms, 0.67 statements, 1 lost",
		"insert orders_N: 1 × 200 ms, 3 statements, 0 lost", "read items: 1 × 10 ms, 1 statements, 0 lost"}
	got := shown(r)
	for i := range got {
		got[i] = strings.Replace(got[i], "0.6666666666666666", "0.67", 1)
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
	if r.Calls != 5 || r.Unscored.Calls != 1 || r.Locks.Waits != 1 || r.Locks.WaitsS != 1.5 {
		t.Errorf("%d calls, %+v, %+v", r.Calls, r.Unscored, r.Locks)
	}
	if r.Source != score.PostgreSQL || r.Pauses == nil || r.Pauses.GapMS != 250 {
		t.Errorf("%s, %+v", r.Source, r.Pauses)
	}
}

func TestSessions_TagsAndResetsDivideThem(t *testing.T) {
	r := scored(t, score.Options{Gap: time.Second, Target: time.Second},
		statement(10*ms, 1, 5*ms, "SELECT 1 FROM a /*controller='shop',action='list',traceparent='00-1'*/"),
		statement(20*ms, 1, 5*ms, "SELECT 1 FROM b /*controller='shop',action='list'*/"),
		statement(30*ms, 1, 5*ms, "SELECT 1 FROM a /*controller:shop,action:buy*/"),
		statement(40*ms, 1, 1*ms, "DISCARD ALL"),
		statement(50*ms, 1, 5*ms, "SELECT 1 FROM c JOIN pg_temp.tt_0a1b ON true"),
		statement(50*ms, 1, 0, `INSERT INTO "pg_temp".tt_0a1b VALUES (1)`),
	)
	want := []string{"shop#list: 1 × 15 ms, 2 statements, 0 lost", "shop#buy: 1 × 5 ms, 1 statements, 0 lost",
		"read c: 1 × 5 ms, 2 statements, 0 lost"}
	if diff := cmp.Diff(want, shown(r), cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
}

// A score read twice is the same to its last digit, also where many sessions are open at the end.
func TestSessions_GiveTheSameFiguresEachTime(t *testing.T) {
	var entries []string
	for n := range 80 {
		took := time.Duration(n*n+1) * 137 * time.Microsecond
		entries = append(entries, statement(time.Duration(n)*ms, n, took, fmt.Sprintf("SELECT 1 FROM %c", 'a'+n%5)))
	}
	first := scored(t, score.Options{Target: time.Second}, entries...)
	for range 10 {
		again := scored(t, score.Options{Target: time.Second}, entries...)
		if diff := cmp.Diff(first, again, cmpopts.IgnoreFields(score.Result{}, "Bytes", "Unread")); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestSessions_SayWhatTheLogLeavesOut(t *testing.T) {
	r := scored(t, score.Options{Target: time.Second},
		statement(1*time.Second, 1, 200*ms, "SELECT 1 FROM a"), statement(1500*ms, 1, 200*ms, "SELECT 1 FROM a"),
		statement(2*time.Second, 1, 300*ms, "SELECT 1 FROM a"))
	text := strings.Join(r.Notes(), "\n")
	for _, want := range []string{"only statements of 200 ms and more", "of the pauses lie between"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// A server of known operations writes all formats: each gives the same score.
func TestRead_OfARealServer(t *testing.T) {
	spec := clustertest.Copied(clustertest.Spec())
	for name, value := range map[string]string{"logging_collector": "on", "log_directory": "log",
		"log_destination": "stderr,csvlog,jsonlog", "log_filename": "pg", "log_min_duration_statement": "0",
		"log_line_prefix": "%m [%p] %q%u@%d ", "log_file_mode": "0644", "log_timezone": "UTC"} {
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value})
	}
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "logged", spec)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(c.DataDir(), "log")
	p, err := c.Start(t.Context(), cluster.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stop := func() {
		if err := p.Stop(context.Background(), cluster.Fast); err != nil {
			t.Error(err)
		}
	}
	conn := clustertest.Connect(t, c.SocketDSN("").Secret(), "shop")
	const orders = 5
	const gap = time.Second // far longer than a busy machine keeps the client from its next statement
	do := func(sql string, values ...any) {
		if _, err := conn.Exec(t.Context(), sql, values...); err != nil {
			t.Error(err)
		}
	}
	do("CREATE TABLE orders (n int, note text)")
	for n := range orders {
		time.Sleep(gap + 200*ms)
		do("BEGIN")
		do("INSERT INTO orders SELECT $1, 'a\nb' FROM pg_sleep(0.05)", n)
		do("COMMIT")
	}
	_ = conn.Close(t.Context())
	stop()
	var results []*score.Result
	for _, name := range []string{"pg", "pg.csv", "pg.json"} {
		path := filepath.Join(folder, name)
		r, err := score.Read(t.Context(), score.Options{Paths: []string{path}, Zone: time.UTC, Gap: gap,
			Target: time.Second, Database: "postgres"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		results = append(results, r)
		if name == "pg" { // lines of the start, before the collector ran, are in the other file
			continue
		}
		if diff := cmp.Diff(results[0], r, cmpopts.IgnoreFields(score.Result{}, "Bytes", "Unread", "Events", "From",
			"To")); diff != "" {
			t.Errorf("pg and %s differ:\n%s", name, diff)
		}
	}
	r := results[0]
	for _, op := range r.Operations {
		if op.Name == "insert orders" {
			if op.N != orders || op.P50S < 0.05 || op.Statements != 3 || op.Apdex != 1 {
				t.Errorf("%+v", op.Figures)
			}
			return
		}
	}
	t.Errorf("no operation of orders: %v", shown(r))
}
