package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/test/patience"
)

// load plays statements on a session of its own until the test ends.
func load(t *testing.T, dsn string, play func(ctx context.Context, conn *pgx.Conn, turn int) error) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "shop")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for turn := 0; ctx.Err() == nil; turn++ {
			if err := play(ctx, conn, turn); err != nil && ctx.Err() == nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the load ended: %v", err)
		}
	})
}

// repeatedly sends one text.
func repeatedly(sql string) func(context.Context, *pgx.Conn, int) error {
	return func(ctx context.Context, conn *pgx.Conn, _ int) error {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
}

// named diagnoses until a finding of a name is there, some times at most, and returns it.
func named(t *testing.T, o Options, name string) (*Diagnosis, Finding) {
	t.Helper()
	const turns = 4
	for range turns {
		d, err := Run(patience.Context(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Name == name }); i >= 0 {
			return d, d.Findings[i]
		}
		t.Logf("findings %+v\nunavailable %+v\nclients %+v\nhidden "+
			"%+v", d.Findings, d.Unavailable, d.Clients, d.HiddenReads)
		for _, l := range d.Statements {
			t.Logf("statement %q nested %v: tables %q, triggers %q, waits %+v", l.Text, *l.Nested, l.Tables, l.Triggers,
				l.Waits)
		}
	}
	t.Fatalf("no finding %s", name)
	return nil, Finding{}
}

func within(dsn string) Options { return Options{DSN: dsn, Duration: 3 * time.Second, Rate: 50} }

// counted is a server of its own that counts statements and functions.
func counted(t *testing.T, more map[string]string) string {
	t.Helper()
	settings := map[string]string{"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "all",
		"pg_stat_statements.track_planning": "on", "track_functions": "all"}
	for name, value := range more {
		settings[name] = value
	}
	dsn := clustertest.Alone(t, settings).DSN()
	execute(t, clustertest.Connect(t, dsn, "test"), "CREATE EXTENSION pg_stat_statements")
	return dsn
}

func TestRun_NamesWhatATriggerReads(t *testing.T) {
	dsn := counted(t, nil)
	execute(t, clustertest.Connect(t, dsn, "test"), `CREATE TABLE prices (item int, price int);
		INSERT INTO prices SELECT n, n FROM generate_series(1, 50000) n;
		CREATE TABLE orders (id int PRIMARY KEY, price int);
		INSERT INTO orders VALUES (1, 1); CREATE FUNCTION set_price() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN NEW.price := (SELECT max(price) FROM prices WHERE item = NEW.id); RETURN NEW; END';
		CREATE TRIGGER priced BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION set_price(); ANALYZE`)
	load(t, dsn, repeatedly("UPDATE orders SET price = 0 WHERE id = 1"))
	d, f := named(t, within(dsn), hiddenWork.name)
	if f.Level != Problem || !strings.Contains(strings.Join(f.Evidence, "\n"), "trigger priced") {
		t.Errorf("%+v, want the trigger, as a problem", f)
	}
	l := d.Statements[0]
	if l.Calls == nil || *l.Calls < 1 || len(l.Triggers) == 0 || l.ProcessorS == nil || *l.ProcessorS <= 0 {
		t.Errorf("%+v, want calls, the trigger, and processor time though each call is short", l)
	}
	var b strings.Builder
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"INSIDE THE STATEMENTS", "runs the trigger priced", "PLANS of these", "THE " +
		"CLIENT'S HALF"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Inside the statements", "runs the trigger priced", ">Plans<", "The client's half"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestRun_NamesCompilation(t *testing.T) {
	dsn := counted(t, map[string]string{"jit": "on", "jit_above_cost": "0", "jit_inline_above_cost": "0",
		"jit_optimize_above_cost": "0"})
	if clustertest.Value(t, dsn, "SELECT pg_jit_available()::text") != "true" {
		t.Skip("this engine is built without LLVM: nothing is compiled")
	}
	load(t, dsn, repeatedly("SELECT sum(n * 2 + 1), max(n) FROM generate_series(1, 50) n WHERE n % 3 = 1"))
	_, f := named(t, within(dsn), jitCompiles.name)
	if f.Level != Problem || *f.Price < 0.3 {
		t.Errorf("%+v, want most of the time", f)
	}
}

const itemsSQL = `CREATE TABLE items (id int PRIMARY KEY, name text, n int);
	INSERT INTO items SELECT n, 'Name ' || n, n % 7 FROM generate_series(1, 50000) n;
	CREATE INDEX items_name ON items (name); ANALYZE items`

// By its plan; and with pg_monitor alone, which may not plan, by its text and the catalogs.
func TestRun_NamesAnIndexThatIsNotUsed(t *testing.T) {
	dsn := clustertest.Database(t)
	execute(t, clustertest.Connect(t, dsn.Secret(), "test"), itemsSQL)
	monitor := as(t, dsn, "diagnose_reader", "pg_monitor")
	load(t, dsn.Secret(), repeatedly("SELECT * FROM items WHERE lower(name) = 'name 7'"))
	for name, at := range map[string]string{"ByItsPlan": dsn.Secret(), "ByItsText": monitor,
		"ThroughAPooler": clustertest.Pooler(t, dsn.Secret())} {
		t.Run(name, func(t *testing.T) {
			d, f := named(t, within(at), plan.IndexNotUsed)
			if f.Level != Problem || !strings.Contains(f.Evidence[0], "lower(name)") || d.Findings[0].Name != f.Name {
				t.Errorf("%+v, want the function on the column, first", f)
			}
			for _, other := range d.Findings {
				if other.Name == wholeTables.name && other.Level == Problem {
					t.Errorf("it also misses an index: %+v", other)
				}
			}
			if byText := name == "ByItsText"; byText != (len(d.Plans) == 0) {
				t.Errorf("plans %+v, unavailable %+v", d.Plans, d.Unavailable)
			}
			for _, p := range d.Plans {
				if text := strings.Join(append(p.Lines, p.Statement), "\n"); strings.Contains(text, "name 7") {
					t.Errorf("a value is shown: %s", text)
				}
			}
		})
	}
}

// The plan of a statement changes between the two looks of one diagnosis.
func TestRun_NamesAPlanThatChanged(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	changer := clustertest.Connect(t, dsn, "test")
	execute(t, changer, itemsSQL)
	load(t, dsn, repeatedly("SELECT count(*) FROM items WHERE name = 'Name 7'"))
	o := within(dsn)
	o.Duration = 5 * time.Second
	seen := func() bool {
		execute(t, changer, "CREATE INDEX IF NOT EXISTS items_name ON items (name)")
		dropped := false
		o.Progress = func(elapsed time.Duration, _ int) {
			if !dropped && elapsed > o.Duration*7/10 {
				dropped = true
				_, _ = changer.Exec(t.Context(), "DROP INDEX items_name")
			}
		}
		d, err := Run(patience.Context(t), o)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Name == planChanged.name })
		if i < 0 || len(d.PlanChanges) == 0 {
			t.Logf("plans %+v, unavailable %+v", d.Plans, d.Unavailable)
			return false
		}
		text := strings.Join(d.Findings[i].Evidence, "\n")
		return strings.Contains(text, "items_name") && strings.Contains(text, "Seq Scan")
	}
	for turns := 0; !seen(); turns++ {
		if turns == 4 {
			t.Fatal("no change was seen")
		}
	}
}

func TestRun_NamesAStatementThatIsSentAgain(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	execute(t, clustertest.Connect(t, dsn, "test"), itemsSQL)
	load(t, dsn, func(ctx context.Context, conn *pgx.Conn, _ int) error {
		if _, err := conn.Exec(ctx, "BEGIN; SELECT id FROM items LIMIT "+
			"200", pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		for i := range 200 {
			if _, err := conn.Exec(ctx, "SELECT name FROM items WHERE id = $1", i); err != nil {
				return err
			}
			time.Sleep(3 * time.Millisecond) // the program's own work
		}
		_, err := conn.Exec(ctx, "COMMIT")
		return err
	})
	d, f := named(t, within(dsn), sentAgain.name)
	if f.Level != Problem || !strings.Contains(strings.Join(f.Evidence, "\n"), "SELECT name FROM items") {
		t.Errorf("%+v, want the statement, as a problem", f)
	}
	for _, other := range d.Findings {
		if other.Name == clientGaps.name && other.Level == Problem {
			t.Errorf("its gaps are named twice: %+v", other)
		}
	}
}

func TestRun_NamesTheLockOfNotify(t *testing.T) {
	dsn := clustertest.Alone(t, map[string]string{"synchronous_standby_names": "nobody", "wal_level": "replica",
		"max_wal_senders": "4"}).DSN()
	execute(t, clustertest.Connect(t, dsn, "test"), "SET synchronous_commit = off; CREATE TABLE news (n int)")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	const sessions = 4
	for range sessions { // the first waits for its standby and keeps the lock
		conn := clustertest.Connect(t, dsn, "shop")
		go func() {
			_, _ = conn.Exec(ctx, "SET synchronous_commit = on; BEGIN; INSERT INTO news VALUES (1); "+
				"NOTIFY news; COMMIT", pgx.QueryExecModeSimpleProtocol)
			ended <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		stop()
		for range sessions {
			<-ended
		}
	})
	d, f := named(t, within(dsn), lockOfNotify.name)
	if f.Level != Problem || *f.Price < 0.5 {
		t.Errorf("%+v, want three of four sessions", f)
	}
	for _, other := range d.Findings {
		if other.Name == lockContention.name {
			t.Errorf("it is a lock of tables, too: %+v", other)
		}
	}
}

func TestRun_NamesTransactionsThatFailAgainstEachOther(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	other := clustertest.Connect(t, dsn, "shop")
	execute(t, other, "CREATE TABLE counts (id int PRIMARY KEY, n int); INSERT INTO counts SELECT n, 0 FROM "+
		"generate_series(1, 10) n")
	execute(t, other, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM counts")
	second := clustertest.Connect(t, dsn, "shop")
	load(t, dsn, func(ctx context.Context, conn *pgx.Conn, turn int) error {
		id := turn%10 + 1
		for _, step := range []struct {
			conn *pgx.Conn
			sql  string
		}{{conn, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT n FROM counts WHERE id = %d"},
			{second, "UPDATE counts SET n = n + 1 WHERE id = %d"}} {
			if _, err := step.conn.Exec(ctx, fmt.Sprintf(step.sql, id), pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		_, failed := conn.Exec(ctx, fmt.Sprintf("UPDATE counts SET n = 0 WHERE id = "+
			"%d", id), pgx.QueryExecModeSimpleProtocol)
		if failed == nil {
			failed = errors.New("nothing failed")
		} else {
			failed = nil
		}
		_, err := conn.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			err = failed
		}
		return err
	})
	_, f := named(t, within(dsn), rolledBack.name)
	if f.Price == nil || !strings.Contains(strings.Join(f.Evidence, "\n"), "predicate locks") {
		t.Errorf("%+v, want the predicate locks", f)
	}
}
