package statement

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// counted is a server whose statements, planning and functions are counted.
func counted(t *testing.T) (dsn string, conn *pgx.Conn) {
	t.Helper()
	own := clustertest.Alone(t, map[string]string{"shared_preload_libraries": "pg_stat_statements",
		"pg_stat_statements.track": "all", "pg_stat_statements.track_planning": "on", "track_functions": "all"})
	conn = clustertest.Connect(t, own.DSN(), "shop")
	execute(t, conn, "CREATE SCHEMA extra; CREATE EXTENSION pg_stat_statements SCHEMA extra")
	return own.DSN(), conn
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(patience.Context(t), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func reader(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := postgres.Connect(patience.Context(t), dsn, "reader", postgres.Reading("20s")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// during the work of a client.
func during(t *testing.T, dsn string, work func()) *Inside {
	t.Helper()
	conn, ctx := reader(t, dsn), patience.Context(t)
	before, err := Read(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	work()
	after, err := Read(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	in := Between(before, after)
	if err := in.Describe(ctx, conn); err != nil {
		t.Fatal(err)
	}
	if err := in.FindHidden(ctx, conn, nil); err != nil {
		t.Fatal(err)
	}
	if len(in.Missing) > 0 {
		t.Errorf("missing: %+v", in.Missing)
	}
	return in
}

// of a statement that begins so.
func of(t *testing.T, in *Inside, begin string) Account {
	t.Helper()
	i := slices.IndexFunc(in.Accounts, func(l Account) bool { return strings.HasPrefix(l.Text, begin) })
	if i < 0 {
		t.Fatalf("no ledger of %q: %+v", begin, in.Accounts)
	}
	return in.Accounts[i]
}

// sameRuns, in whatever order.
func sameRuns(a, b []Runs) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(r Runs) bool { return !slices.Contains(b, r) })
}

const shopSQL = `CREATE TABLE prices (item int, price int);
	INSERT INTO prices SELECT n, n FROM generate_series(1, 20000) n;
	CREATE TABLE orders (id int PRIMARY KEY, item int, price int, note text);
	INSERT INTO orders SELECT n, n, n FROM generate_series(1, 100) n;
	CREATE FUNCTION set_price() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN NEW.price := (SELECT max(price) FROM prices WHERE item = NEW.item); RETURN NEW; END';
	CREATE TRIGGER priced BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION set_price();
	CREATE FUNCTION may(x int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN FOR n IN 1..1 LOOP BEGIN RETURN true; EXCEPTION WHEN others THEN NULL; END; END LOOP; RETURN false; END';
	ALTER TABLE orders ADD CONSTRAINT allowed CHECK (may(item)); CREATE INDEX by_may ON orders (may(id));
	CREATE TABLE customers (id int PRIMARY KEY);
	CREATE TABLE visits (customer int REFERENCES customers ON DELETE CASCADE, at int);
	INSERT INTO customers SELECT n FROM generate_series(1, 100) n;
	INSERT INTO visits SELECT 100, n FROM generate_series(1, 10000) n; ANALYZE`

func TestBetween_AnAccountAddsUpAndNamesWhatRunsWithin(t *testing.T) {
	dsn, conn := counted(t)
	execute(t, conn, shopSQL)
	const updates, deletes = 30, 20
	in := during(t, dsn, func() {
		for n := range updates {
			execute(t, conn, fmt.Sprintf("UPDATE orders SET note = 'x' WHERE id = %d", n+1))
		}
		for n := range deletes {
			execute(t, conn, fmt.Sprintf("DELETE FROM customers WHERE id = %d", n+1))
		}
		execute(t, conn, "SELECT may(price) FROM orders")
		execute(t, conn, "SELECT pg_stat_force_next_flush()")
	})
	update := of(t, in, "UPDATE orders")
	if update.Calls == nil || *update.Calls != updates || *update.PerCall.Rows != 1 || update.Nested == nil ||
		*update.Nested {
		t.Errorf("%+v, want %d calls of a client, each of one row", update, updates)
	}
	sum := 0.0
	for _, p := range update.Parts {
		sum += p.S
	}
	if diff := sum - update.S; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("its parts add up to %v of %v s: %+v", sum, update.S, update.Parts)
	}
	if want := []Runs{{"trigger", "priced", "public.orders", "public.set_price"},
		{"check constraint", "allowed", "public.orders", "public.may"},
		{"index on an expression", "by_may", "public.orders", "public.may"}}; !sameRuns(update.EachRow, want) {
		t.Errorf("for each row: %+v, want %+v", update.EachRow, want)
	}
	if own := of(t, in, "SELECT may").Own; len(own) != 1 || own[0] != (Own{Name: "public.may", Catches: true,
		Language: "plpgsql", Loops: true, Guards: true, Cost: 100}) {
		t.Errorf("its own functions: %+v", own)
	}
	if len(update.Triggers) != 1 || !strings.Contains(update.Triggers[0], "for each row: public.set_price") {
		t.Errorf("triggers %q", update.Triggers)
	}
	if i := slices.IndexFunc(update.Functions, func(f Function) bool { return f.Name == "public.set_price" }); i < 0 ||
		update.Functions[i].Calls != updates ||
		update.PartOf("function public.set_price") < 0.5 {
		t.Errorf("functions %+v, parts %+v, want most of its time in set_price", update.Functions, update.Parts)
	}
	if update.PartOf("planning") == 0 || in.Totals.PlanS == nil {
		t.Error("planning is not timed")
	}
	if in.Totals.NestedS == nil || *in.Totals.NestedS <= 0 {
		t.Errorf("totals %+v, want work within statements", in.Totals)
	}
	by := map[string]string{}
	for _, h := range in.Hidden {
		for _, one := range h.By {
			by[h.Table] += one.Name + " of " + one.Of + " " + one.Unindexed + "; "
		}
	}
	if !strings.Contains(by["public.prices"], "trigger priced (public.set_price) of public.orders") {
		t.Errorf("hidden %v, want prices read by the trigger", by)
	}
	if !strings.Contains(by["public.visits"], "foreign key visits_customer_fkey of public.customers customer") {
		t.Errorf("hidden %v, want visits read by a foreign key without an index", by)
	}
}

// Row security is work that no text shows.
func TestBetween_NamesThePolicyOfARoleThatItConcerns(t *testing.T) {
	dsn, conn := counted(t)
	execute(t, conn, `CREATE TABLE secrets (id int, owner text); INSERT INTO secrets SELECT n, 'shop' FROM
		generate_series(1, 2000) n; ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
		CREATE FUNCTION may(text) RETURNS bool LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 = ''shop''; END';
		CREATE POLICY own ON secrets FOR SELECT USING (may(owner)); CREATE ROLE teller;
		CREATE ROLE auditor; CREATE POLICY theirs ON secrets FOR SELECT TO auditor USING (may(owner || id));
		GRANT SELECT ON secrets TO teller; CREATE VIEW shown AS SELECT * FROM secrets;
		GRANT SELECT ON shown TO teller; ALTER VIEW shown SET (security_invoker = on)`)
	in := during(t, dsn, func() {
		execute(t, conn, "SET ROLE teller")
		for range 5 {
			execute(t, conn, "SELECT count(*) FROM shown")
		}
		execute(t, conn, "RESET ROLE")
		execute(t, conn, "SELECT count(id) FROM secrets")
		execute(t, conn, "SELECT pg_stat_force_next_flush()")
	})
	if teller := of(t, in, "SELECT count(*) FROM shown"); len(teller.Policies) != 1 || teller.Role != "teller" ||
		len(teller.Functions) != 1 || teller.Functions[0].By != "policy own" {
		t.Errorf("%+v, want the policy behind the view, and its function", teller)
	}
	if own := of(t, in, "SELECT count(id)"); len(own.Policies) != 0 {
		t.Errorf("%q, of a superuser, whom none concerns", own.Policies)
	}
}

// What the catalogs know of the names in a text is read with the rights of pg_monitor alone.
func TestDescribe_TellsHowNamesAreDeclared(t *testing.T) {
	dsn := clustertest.Database(t)
	conn := clustertest.Connect(t, dsn.Secret(), "shop")
	execute(t, conn, `CREATE TABLE leases (id int PRIMARY KEY, body text, rate numeric, price numeric(9, 2),
			words tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED);
		CREATE INDEX by_hash ON leases (md5(body));
		CREATE FUNCTION known() RETURNS SETOF leases LANGUAGE sql STABLE SET search_path = public AS
			'SELECT * FROM leases';
		CREATE FUNCTION "Долг"(who int) RETURNS SETOF int LANGUAGE plpgsql ROWS 9000 COST 7 AS
			'BEGIN RETURN QUERY EXECUTE ''SELECT 1''; END';
		CREATE VIEW wide AS SELECT a.id,
			b.rate FROM leases a LEFT JOIN leases b USING (id) LEFT JOIN leases c USING (id)
			JOIN leases d USING (id);
		CREATE VIEW sums AS SELECT DISTINCT body, count(*) OVER () FROM leases GROUP BY body UNION SELECT '', 1;
		DROP ROLE IF EXISTS facts_reader; CREATE ROLE facts_reader IN ROLE pg_monitor; SET ROLE facts_reader`)
	in := &Inside{Accounts: []Account{Sampled("INSERT INTO leases (body, rate, price) VALUES (?, ?, ?)", 1, 0.5),
		Sampled("SELECT rate FROM known(), \"Долг\"(?)", 1, 0.5), Sampled("SELECT body FROM wide, sums", 1, 0.5)}}
	if err := in.Describe(patience.Context(t), conn); err != nil || len(in.Missing) > 0 {
		t.Fatal(err, in.Missing)
	}
	insert, call, views := in.Accounts[0], in.Accounts[1], in.Accounts[2]
	if want := []Computed{{"generated column", "words", "public.leases", "to_tsvector(?::regconfig, body)"},
		{"expression of an index", "by_hash", "public.leases", "md5(body)"}}; !slices.Equal(insert.Computed, want) {
		t.Errorf("computed %+v, want %+v", insert.Computed, want)
	}
	if want := []Unlimited{{"public.leases", "rate"}}; !slices.Equal(insert.Unlimited, want) {
		t.Errorf("unlimited %+v, want %+v", insert.Unlimited, want)
	}
	slices.SortFunc(call.Own, func(a, b Own) int { return strings.Compare(a.Name, b.Name) })
	if want := []Own{{Name: "public.known", Language: "sql", Sets: true, Rows: 1000, Cost: 100}, {Name: "public.Долг",
		Language: "plpgsql", Volatile: true, Dynamic: true, Rows: 9000, Cost: 7}}; !slices.Equal(call.Own, want) {
		t.Errorf("functions %+v, want %+v", call.Own, want)
	}
	slices.SortFunc(views.Shapes, func(a, b Shape) int { return strings.Compare(a.Name, b.Name) })
	if want := []Shape{{Name: "public.sums", Distinct: true, Adds: true, Windows: true, Sets: true},
		{Name: "public.wide", Joins: 3, Outer: 2}}; !slices.Equal(views.Shapes, want) {
		t.Errorf("views %+v, want %+v", views.Shapes, want)
	}
}

// A view is named where it adds up the rows of its tables, and a table that another server has.
func TestDescribe_NamesViewsThatAddUpAndForeignTables(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	execute(t, clustertest.Connect(t, dsn, "shop"), `CREATE TABLE bought (who int, n int);
		CREATE VIEW listed AS SELECT * FROM bought; CREATE VIEW spending AS SELECT who, sum(n) FROM listed GROUP BY who;
		CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER office FOREIGN DATA WRAPPER nothing;
		CREATE FOREIGN TABLE far (n int) SERVER office`)
	in := &Inside{}
	for _, text := range []string{"SELECT 1 FROM spending", "SELECT 1 FROM listed", "SELECT 1 FROM far"} {
		in.Accounts = append(in.Accounts, Sampled(text, 1, 0.3))
	}
	if err := in.Describe(patience.Context(t), reader(t, dsn)); err != nil || len(in.Missing) > 0 {
		t.Fatal(err, in.Missing)
	}
	if sums := in.Accounts[0]; len(sums.Foreign) > 0 || !slices.Equal(sums.Views,
		[]View{{"spending", "public.bought"}}) {
		t.Errorf("%+v, want the view of public.bought", sums)
	}
	if listed := in.Accounts[1]; len(listed.Views) > 0 || !slices.Equal(listed.Tables, []string{"public.bought"}) {
		t.Errorf("%+v, want the table and no view", listed)
	}
	if far := in.Accounts[2]; !slices.Equal(far.Foreign, []string{"public.far"}) {
		t.Errorf("%+v, want the foreign table", far)
	}
}

// What a materialized view was made of is read by its refresh alone; a trigger for replicas does not fire; views can be
// below each other in a circle.
func TestDescribe_LeavesOutWhatDoesNotRun(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	execute(t, clustertest.Connect(t, dsn, "shop"), `CREATE TABLE bought (who int, n int);
		CREATE MATERIALIZED VIEW spending AS SELECT who, sum(n) AS n FROM bought GROUP BY who;
		CREATE VIEW shown AS SELECT * FROM spending;
		CREATE FUNCTION copied() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER at_replicas AFTER INSERT ON bought FOR EACH ROW EXECUTE FUNCTION copied();
		ALTER TABLE bought ENABLE REPLICA TRIGGER at_replicas;
		CREATE VIEW one AS SELECT 1 AS n; CREATE VIEW two AS SELECT n FROM one;
		CREATE OR REPLACE VIEW one AS SELECT n FROM two`)
	in := &Inside{}
	for _, text := range []string{"SELECT n FROM shown", "REFRESH MATERIALIZED VIEW spending", "SELECT n FROM one",
		"INSERT INTO bought VALUES (?, ?)"} {
		in.Accounts = append(in.Accounts, Sampled(text, 1, 0.25))
	}
	if err := in.Describe(patience.Context(t), reader(t, dsn)); err != nil || len(in.Missing) > 0 {
		t.Fatal(err, in.Missing)
	}
	for i, want := range []string{"public.spending", "public.bought public.spending", "", "public.bought"} {
		if l := in.Accounts[i]; strings.Join(l.Tables, " ") != want || len(l.EachRow) > 0 {
			t.Errorf("%s: tables %q, want %s; for each row %+v", l.Text, l.Tables, want, l.EachRow)
		}
	}
}

// A name that many schemas have, and a table of many partitions, stand for the busiest of them.
func TestDescribe_BoundsWhatOneNameStandsFor(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "shop")
	execute(t, conn, fmt.Sprintf(`CREATE TABLE parts (n int) PARTITION BY RANGE (n);
		DO $$ BEGIN FOR i IN 1..%d LOOP EXECUTE format('CREATE SCHEMA s%%s', i);
			EXECUTE format('CREATE TABLE s%%s.orders (n int)', i); END LOOP; END $$;
		DO $$ BEGIN FOR i IN 1..%d LOOP
			EXECUTE format('CREATE TABLE p%%s PARTITION OF parts FOR VALUES FROM (%%s) TO (%%s)', i, i, i + 1);
		END LOOP; END $$`, 2*namesakesMost, belowMost+50))
	execute(t, conn, fmt.Sprintf("INSERT INTO s%d.orders VALUES (1), (2)", 2*namesakesMost-3))
	execute(t, conn, fmt.Sprintf("INSERT INTO parts VALUES (%d), (%[1]d)", belowMost+40))
	execute(t, conn, "SELECT pg_stat_force_next_flush()")
	execute(t, conn, "SELECT 1")
	in := &Inside{Accounts: []Account{Sampled("SELECT n FROM orders", 1, 0.5), Sampled("SELECT n FROM parts", 1, 0.5)}}
	if err := in.Describe(patience.Context(t), reader(t, dsn)); err != nil || len(in.Missing) > 0 {
		t.Fatal(err, in.Missing)
	}
	for i, want := range []struct {
		tables int
		busy   string
	}{{namesakesMost, fmt.Sprintf("s%d.orders", 2*namesakesMost-3)}, {belowMost, fmt.Sprintf("public.p%d",
		belowMost+40)}} {
		if l := in.Accounts[i]; len(l.Tables) != want.tables || !slices.Contains(l.Tables, want.busy) {
			t.Errorf("%s: %d tables, want %d, with %s", l.Text, len(l.Tables), want.tables, want.busy)
		}
	}
}

// What is not counted is said, and is not zero.
func TestRead_SaysWhatIsNotCounted(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn, ctx := reader(t, dsn), patience.Context(t)
	r, err := Read(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	in := Between(r, r)
	in.Accounts = []Account{Sampled("SELECT FROM nothing", 1, 1)}
	if err := in.Describe(ctx, conn); err != nil {
		t.Fatal(err)
	}
	if in.Totals != nil || !slices.ContainsFunc(in.Missing, func(m Missing) bool { return m.Name == Counters }) {
		t.Errorf("totals %+v, missing %+v", in.Totals, in.Missing)
	}
	if l := in.Accounts[0]; l.Calls != nil || l.JIT != nil || len(l.Unavailable) == 0 {
		t.Errorf("%+v", l)
	}
}
