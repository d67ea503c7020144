package plan

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

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(patience.Context(t), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func asker(t *testing.T, dsn string, trusted ...string) (*Asker, string) {
	t.Helper()
	ctx := patience.Context(t)
	conn, err := postgres.Connect(ctx, dsn, "asker", postgres.Reading("20s")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(ctx)) })
	a, why, err := NewAsker(ctx, conn, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return a, why
}

// remarks on a statement's plan.
func remarks(t *testing.T, a *Asker, q Question) (*Plan, []Remark) {
	t.Helper()
	ctx := patience.Context(t)
	p, err := a.Ask(ctx, q)
	if err != nil {
		t.Fatalf("%s: %v", q.Text, err)
	}
	names := p.Names()
	tables, err := Tables(ctx, a.conn, names)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range tables {
		if one.Parent != "" {
			names = append(names, one.Parent)
		}
	}
	if tables, err = Tables(ctx, a.conn, names); err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(q.Text, func(r rune) bool { return r == ' ' || r == '(' })
	volatile, err := Volatile(ctx, a.conn, words)
	if err != nil {
		t.Fatal(err)
	}
	p.Read(Context{Tables: tables, Text: q.Text, Volatile: volatile, WorkMem: 4 << 20, HashMem: 2})
	return p, p.Remarks
}

const stockSQL = `CREATE TABLE stock (id int PRIMARY KEY, code text COLLATE "en-x-icu", name text,
		at timestamptz, n int, bin text, part text, tags int[], kind text, rank int, owner int);
	INSERT INTO stock SELECT n, 'c' || n, 'Name ' || n, '2026-01-01'::timestamptz + n * '1 minute'::interval, n % 7,
		'b' || n, 'p' || n, ARRAY[n % 1999, n % 1979], CASE WHEN n % 100 > 0 THEN 'closed' ELSE 'open' END, n,
		1 + n % 9000 FROM generate_series(1, 20000) n;
	CREATE TABLE owners (id int PRIMARY KEY, mail text UNIQUE);
	INSERT INTO owners SELECT n, 'm' || n FROM generate_series(1, 9000) n;
	CREATE INDEX stock_tags ON stock USING gin (tags); CREATE INDEX stock_open ON stock (rank) WHERE kind = 'open';
	CREATE INDEX stock_code ON stock (code); CREATE INDEX stock_name ON stock (name);
	CREATE INDEX stock_at ON stock (at); CREATE INDEX stock_bin ON stock (bin COLLATE "C");
	CREATE FUNCTION one_of() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
	CREATE INDEX stock_part ON stock (part text_pattern_ops);
	CREATE TABLE days (day date, n int) PARTITION BY RANGE (day);
	DO $$ BEGIN FOR i IN 1..12 LOOP EXECUTE format(
		'CREATE TABLE days_%s PARTITION OF days FOR VALUES FROM (%L) TO (%L)',
		i, date '2026-01-01' + 30 * (i - 1), date '2026-01-01' + 30 * i); END LOOP; END $$;
	INSERT INTO days SELECT date '2026-01-01' + n % 360, n FROM generate_series(1, 20000) n; ANALYZE`

func TestRead_NamesWhyAnIndexIsNotUsed(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	execute(t, clustertest.Connect(t, dsn, "shop"), stockSQL)
	a, why := asker(t, dsn)
	if why != "" {
		t.Fatal(why)
	}
	for _, c := range []struct{ name, sql, remark, text string }{
		{"Function", "SELECT * FROM stock WHERE lower(name) = $1", IndexNotUsed, "the condition is on lower(name)"},
		{"Cast", "SELECT * FROM stock WHERE id::text = $1", IndexNotUsed, "of type integer, is converted to text"},
		{"NumberOfAnotherType", "SELECT * FROM stock WHERE id = $1::numeric", IndexNotUsed, "is converted to numeric"},
		{"Day", "SELECT * FROM stock WHERE at::date = $1", IndexNotUsed, "is converted to date"},
		{"Sum", "SELECT * FROM stock WHERE id + 1 = $1", IndexNotUsed, "the condition computes with id"},
		{"Operators", "SELECT * FROM stock WHERE code LIKE 'c12%'", IndexNotUsed, "serves no LIKE"},
		{"Collation", `SELECT * FROM stock WHERE name = $1 COLLATE "de-x-icu"`, IndexNotUsed, "the collation de-x-icu"},
		{"Partitions", "SELECT * FROM days WHERE date_trunc('month', day) = $1", AllPartitions,
			"the condition is on date_trunc(day)"},
		{"PartitionsWithoutKey", "SELECT * FROM days WHERE n = $1", AllPartitions, "has no condition on day"},
		{"Offset", "SELECT * FROM stock ORDER BY id LIMIT 10 OFFSET 15000", DeepOffset, "a call skips 15000 rows"},
		{"OffsetThatKeepsAPlan", "SELECT count(*) FROM (SELECT * FROM stock WHERE id < $1 OFFSET 0) AS kept",
			"", ""},
		{"CollationOfTheIndex", "SELECT * FROM stock WHERE bin = $1", IndexNotUsed, "under the collation C"},
		{"Wildcard", "SELECT * FROM stock WHERE part LIKE '%12%'", IndexNotUsed, "begins with a wildcard"},
		{"KeptApart", "WITH own AS MATERIALIZED (SELECT * FROM stock) SELECT * FROM own WHERE id = $1", IndexNotUsed,
			"is MATERIALIZED"},
		{"NotKeptApart", "WITH own AS NOT MATERIALIZED (SELECT * FROM stock) SELECT * FROM own WHERE id = $1", "", ""},
		{"Volatile", "SELECT * FROM stock WHERE id = one_of()", IndexNotUsed, "one_of(), which is VOLATILE"},
		{"AnyOfAnArray", "SELECT * FROM stock WHERE $1::int = ANY (tags)", IndexNotUsed, "is no operator of GIN"},
		{"ElementOfAnArray", "SELECT * FROM stock WHERE tags @> ARRAY[$1::int]", "", ""},
		{"PredicateNotImplied", "SELECT * FROM stock WHERE kind <> 'closed' ORDER BY rank DESC LIMIT 10", IndexNotUsed,
			"it is partial"},
		{"PredicateImplied", "SELECT * FROM stock WHERE kind = 'open' ORDER BY rank DESC LIMIT 10", "", ""},
		{"OrOverTwoTables", "SELECT s.id FROM stock s JOIN owners o ON o.id = s.owner WHERE s.id = $1 OR o.mail = $2",
			IndexNotUsed, "OR joins its condition with one on another table"},
		{"OrOverOneTable", "SELECT s.id FROM stock s JOIN owners o ON o.id = s.owner WHERE s.id = $1 OR s.id = $2", "",
			""},
		{"ReadToJoin", "SELECT s.n, o.mail FROM stock s JOIN owners o ON o.id = s.owner", ReadToJoin,
			"reads all 9000 rows of public.owners to join them"},
		{"JoinWithoutIndex", "SELECT a.n FROM stock a JOIN stock b ON b.owner = a.rank", "", ""},
		{"AllRows", "SELECT count(*) FROM stock", AllRows, "reads all 20000 rows"},
		{"Extreme", "SELECT max(id) FROM stock", "", ""},
		{"NoIndex", "SELECT * FROM stock WHERE n * 2 = $1", FilterRemoves, "reads all 20000 rows"},
		{"Spill", "SELECT * FROM stock a, stock b ORDER BY a.n", Spills, "temporary files"},
		{"IndexUsed", "SELECT * FROM stock WHERE name = $1", "", ""},
		{"PartitionByKey", "SELECT * FROM days WHERE day = $1", "", ""},
		{"KeyOfText", "UPDATE stock SET n = 1 WHERE id = $1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, found := remarks(t, a, Question{Text: c.sql})
			i := slices.IndexFunc(found, func(r Remark) bool { return r.Name == c.remark })
			switch {
			case c.remark == "" && len(found) > 0:
				t.Errorf("%+v, want none\n%s", found, strings.Join(p.Lines, "\n"))
			case c.remark != "" && (i < 0 || !strings.Contains(found[i].Text, c.text)):
				t.Errorf("%+v, want %s with %q\n%s", found, c.remark, c.text, strings.Join(p.Lines, "\n"))
			}
		})
	}
}

// The plan is that of the role which runs the statement: its settings, its search_path, and its rows.
func TestAsk_AsTheRoleThatRunsIt(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "shop")
	execute(t, conn, `CREATE SCHEMA own; CREATE TABLE own.stock (id int PRIMARY KEY, n int);
		INSERT INTO own.stock SELECT n, n FROM generate_series(1, 20000) n; ANALYZE own.stock;
		CREATE INDEX stock_n ON own.stock (n); CREATE ROLE plan_teller;
		GRANT USAGE ON SCHEMA own TO plan_teller; GRANT SELECT ON own.stock TO plan_teller;
		ALTER ROLE plan_teller SET search_path = own; ALTER ROLE plan_teller SET enable_indexscan = off;
		ALTER ROLE plan_teller SET enable_bitmapscan = off; ALTER TABLE own.stock ENABLE ROW LEVEL SECURITY;
		CREATE POLICY few ON own.stock USING (id < 500)`)
	a, why := asker(t, dsn)
	if why != "" {
		t.Fatal(why)
	}
	p, found := remarks(t, a, Question{Text: "SELECT * FROM stock WHERE n = $1", Role: "plan_teller"})
	if p.Role != "plan_teller" || p.How != Generic || !strings.Contains(strings.Join(p.Lines, "\n"), "id <") {
		t.Errorf("%+v, want the policy's condition in a generic plan of the role", p)
	}
	if len(found) == 0 || !strings.Contains(found[0].Text, "enable_indexscan is off") {
		t.Errorf("%+v, want the planner's switch", found)
	}
	if _, err := a.Ask(patience.Context(t), Question{Text: "SELECT * FROM own.stock WHERE n = 1",
		Role: "plan_teller"}); err != nil {
		t.Error(err)
	}
	for _, setting := range []string{"search_path", "role"} { // nothing stays
		var value string
		if err := a.conn.QueryRow(t.Context(), "SHOW "+setting).Scan(&value); err != nil ||
			strings.Contains(value, "own") || strings.Contains(value, "teller") {
			t.Errorf("%s is %q afterwards (%v)", setting, value, err)
		}
	}
}

// What is asked is one statement that can be planned, and it is not run.
func TestAsk_RunsNothing(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "shop")
	execute(t, conn, "CREATE TABLE t (n int); INSERT INTO t VALUES (1); CREATE SEQUENCE s")
	a, why := asker(t, dsn)
	if why != "" {
		t.Fatal(why)
	}
	for _, sql := range []string{"SELECT 1; DROP TABLE t", "DROP TABLE t", "DO $$BEGIN DELETE FROM t; END$$",
		"/* x */ TRUNCATE t", "SELECT 'a;b'", "EXECUTE p", "ANALYZE SELECT nextval('s')", "SELECT 1\x00; DELETE FROM t",
		"SELECT 1) ; DELETE FROM t --", "(ANALYZE) DELETE FROM t"} {
		if p, err := a.Ask(patience.Context(t), Question{Text: sql}); err == nil {
			t.Errorf("%s has the plan %v", sql, p.Lines)
		}
	}
	for _, sql := range []string{"DELETE FROM t", "DELETE FROM t WHERE n = $1", "INSERT INTO t VALUES ($1)",
		"SELECT nextval('s') FROM t", "WITH gone AS (DELETE FROM t RETURNING n) SELECT * FROM gone"} {
		if _, err := a.Ask(patience.Context(t), Question{Text: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	var rows, last int
	if err := conn.QueryRow(t.Context(), "SELECT count(*), (SELECT last_value FROM s WHERE NOT is_called) FROM t").Scan(
		&rows, &last); err != nil || rows != 1 {
		t.Errorf("%d rows, %v: want that nothing was run", rows, err)
	}
}

// A superuser's session plans nothing where somebody else may have made what planning runs.
func TestNewAsker_LeavesADatabaseWhoseOwnerMayPlant(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "shop")
	execute(t, conn, `CREATE ROLE planter; DO $$ BEGIN EXECUTE format(
		'GRANT CREATE ON DATABASE %I TO planter', current_database()); END $$; SET ROLE planter;
		CREATE SCHEMA garden; CREATE TABLE garden.t (n int);
		CREATE FUNCTION garden.trap() RETURNS int LANGUAGE plpgsql IMMUTABLE AS
			'BEGIN RAISE EXCEPTION ''sprung''; END'; RESET ROLE`)
	if _, why := asker(t, dsn); !strings.Contains(why, "planter") {
		t.Errorf("%q, want that planter may have planted functions", why)
	}
	a, why := asker(t, dsn, "planter")
	if why != "" {
		t.Fatal(why)
	}
	const sql = "SELECT * FROM garden.t WHERE n = garden.trap()"
	if _, err := a.Ask(patience.Context(t), Question{Text: sql}); err == nil ||
		!strings.Contains(err.Error(), "sprung") {
		t.Errorf("%v: planning runs no such function, so that nothing is tested here", err)
	}
}

func TestChanges(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "shop")
	execute(t, conn, stockSQL)
	a, _ := asker(t, dsn)
	ask := func() *Plan {
		p, err := a.Ask(patience.Context(t), Question{Text: "SELECT * FROM stock WHERE name = $1"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	key := strings.TrimSpace
	before, same := ask(), ask()
	execute(t, conn, "DROP INDEX stock_name")
	after := ask()
	if all := Changes(TwoLooks, []*Plan{before}, []*Plan{same}, key, Generic); len(all) != 0 {
		t.Errorf("%+v, want no change", all)
	}
	all := Changes(TwoLooks, []*Plan{before}, []*Plan{after}, key, Generic)
	if len(all) != 1 || !strings.Contains(strings.Join(all[0].Before.Lines, " "), "stock_name") ||
		!strings.Contains(strings.Join(all[0].After.Lines, " "), "Seq Scan") {
		t.Errorf("%+v, want both plans", all)
	}
	kept := *before // as a file has it
	kept.root = node{}
	if Differs(&kept, same) || !Differs(&kept, after) {
		t.Error("a plan that was kept in a file is compared wrongly")
	}
}

func TestFromLog(t *testing.T) {
	const text = "duration: 12.500 ms  plan:\nQuery Text: SELECT *\nFROM a JOIN b USING (n)\n" +
		"Hash Join  (cost=1.00..20.50 rows=7 width=8)\n  Hash Cond: (a.n = b.n)\n  ->  Seq Scan on a  " +
		"(cost=0.00..9.00 " +
		"rows=70 width=4)\n        Filter: (x = 1)\n  ->  Hash  (cost=1.00..2.00 rows=3 width=4)\n        ->  Index " +
		"Scan " +
		"using b_n on b  (cost=0.00..2.00 rows=3 width=4)\n"
	p := FromLog(text)
	if p == nil || *p.MS != 12.5 || p.How != Logged || len(p.root.Plans) != 2 ||
		p.root.Plans[1].Plans[0].Index != "b_n" || p.root.Plans[0].Filter != "(x = 1)" ||
		!strings.HasPrefix(p.Statement, "SELECT * FROM a") {
		t.Fatalf("%+v", p)
	}
	const inJSON = `duration: 99.000 ms  plan:
{ "Query Text": "SELECT * FROM a JOIN b USING (n)", "Plan": { "Node Type": "Nested Loop", "Plans": [
	{ "Node Type": "Seq Scan", "Relation Name": "a" }] } }`
	q := FromLog(inJSON)
	if q == nil || *q.MS != 99 || q.root.Type != "Nested Loop" {
		t.Fatalf("%+v", q)
	}
	if FromLog("duration: 1.0 ms  statement: SELECT 1") != nil {
		t.Error("a statement is taken for a plan")
	}
	if all := LoggedChanges([]*Plan{p, q}, strings.TrimSpace); len(all) != 1 ||
		all[0].Before != p || all[0].After != q {
		t.Errorf("%+v, want the change from the fast to the slow one", all)
	}
}

// TestOffsetOf: a number that is not known may be 0, and of a subquery the rows that a statement gives do not tell.
func TestOffsetOf(t *testing.T) {
	const sorted = "SELECT count(*) FROM (SELECT note FROM orders ORDER BY note OFFSET %s) AS sorted"
	for text, want := range map[string]bool{
		fmt.Sprintf(sorted, "?"):                             false,
		fmt.Sprintf(sorted, "0"):                             false,
		fmt.Sprintf(sorted, "5000"):                          true,
		"SELECT id FROM orders ORDER BY id LIMIT ? OFFSET ?": true,
		"SELECT id FROM orders ORDER BY id OFFSET 0":         false,
	} {
		if got := OffsetOf(Context{Text: text, RowsRead: new(4000.0)}); (got != nil) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
