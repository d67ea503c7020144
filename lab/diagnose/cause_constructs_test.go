package diagnose

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// What a statement has is named where figures show that it works beyond its rows, and where nothing else explains a
// tenth of the time; ordinary statements are silent, whatever they take.
func TestClasses_ByWhatAStatementHas(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	tables := []string{"public.stock"}
	runs := func(text string, calls, ms, rows float64, more func(*statement.Account),
		changes ...func(*measured)) *measured {
		return plant(together(append(changes, counts(nil, called(text, calls, ms, func(l *statement.Account) {
			if l.Tables = tables; more != nil {
				more(l)
			}
		})))...), figures{counters.Tables: {"public.stock": {"idx_tup_fetch": rows}}}, active(1, "",
			normalizedText(text)),
			work)
	}
	const few, many = 9000, 9_000_000 // rows that explain nothing, and those that explain all
	report := "SELECT region, sum(total) FROM orders o JOIN stock s ON s.id = o.customer WHERE o.day BETWEEN $1 " +
		"AND $2 + $3 GROUP BY 1 ORDER BY 2 DESC LIMIT 10"
	copies := "INSERT INTO stock SELECT nextval($1), n, $2 || n FROM generate_series($3, $4) n"
	ranges := "SELECT count(*) FROM stock s JOIN nets n ON s.address BETWEEN n.low AND n.high WHERE s.day = $1"
	sliding := "SELECT max(moving) FROM (SELECT max(n) OVER (ORDER BY at ROWS BETWEEN 200 PRECEDING AND CURRENT " +
		"ROW) AS moving FROM stock WHERE kind = $1) made"
	different := "SELECT count(DISTINCT note) FROM stock WHERE kind = $1"
	chance := "SELECT id FROM stock WHERE kind = $1 ORDER BY random() LIMIT 1"
	balance := "SELECT sum(balance_of(id)) FROM stock WHERE kind = $1"
	wide, rates := "SELECT id FROM wide_stock WHERE kind = $1", "SELECT sum(n * rate * rate) FROM stock WHERE kind = $1"
	period := "SELECT sum(n) FROM stock WHERE day > $1 AND kind = $2"
	insert := "INSERT INTO stock (id, body) SELECT id, body FROM news WHERE day = $1"
	view := func(outer int) func(*statement.Account) {
		return func(l *statement.Account) {
			l.Shapes = []statement.Shape{{Name: "public.wide_stock", Joins: 5, Outer: outer}}
		}
	}
	stored := func(expression string) func(*statement.Account) {
		return func(l *statement.Account) {
			l.Computed = []statement.Computed{{Kind: "generated column", Name: "words", Table: "public.stock",
				Expression: expression}}
		}
	}
	unlimited := func(l *statement.Account) {
		l.Unlimited = []statement.Unlimited{{Table: "public.stock",
			Name: "rate"}}
	}
	application := func(l *statement.Account) {
		l.Own, l.Tables = []statement.Own{{Name: "public.new_order", Language: "plpgsql", Dynamic: true,
			Guards: true}}, nil
	}
	index := func(columns ...string) func(*measured) {
		return knows(&plan.Table{Name: "public.stock", Plain: "stock", Indexes: []plan.Index{{Name: "by_both",
			First: columns[0], Columns: columns, Method: "btree", Valid: true}}})
	}
	for _, c := range []judged{
		{"JoinByRanges", beyondItsRows.name, "a join by ranges", Problem, runs(ranges, 100, 90, few, nil)},
		{"JoinByRangesWhoseRowsAreMany", costlyOperations.name, "a join by ranges", Problem, runs(ranges, 100, 90, many,
			nil)},
		{"SlidingMaximum", costlyOperations.name, "a sliding frame and max", Problem, runs(sliding, 1000, 9, many,
			nil)},
		{"SlidingSum", costlyOperations.name, "sliding frame (sum OVER", Problem, runs(strings.Replace(sliding,
			"max(n)", "sum(n)", 1), 1000, 9, many, nil)},
		{"DifferentValues", costlyOperations.name, "count(DISTINCT", Problem, runs(different, 1000, 9, many, nil)},
		{"Values", costlyOperations.name, "", "", runs(strings.Replace(different, "DISTINCT ", "", 1), 1000, 9,
			many, nil)},
		{"ByChance", costlyOperations.name, "ORDER BY random()", Problem, runs(chance, 1000, 9, many, nil)},
		{"ByChanceInAMoment", costlyOperations.name, "", "", runs(chance, 50_000, 0.2, many, nil)},
		{"OrdinaryReport", costlyOperations.name, "", "", runs(report, 1000, 9, many, nil)},
		{"OrdinaryReportBeyondItsRows", beyondItsRows.name, "", "", runs(report, 1000, 9, many, nil)},
		{"ReportBeyondItsRows", beyondItsRows.name, "it has GROUP BY, a sort (ORDER BY) and a join", Problem,
			runs(report, 1000, 9, few, nil)},
		{"OrdinaryCopy", costlyOperations.name, "", "", runs(copies, 1000, 9, many, nil)},
		{"FunctionOfDynamicSQL", functionsWithin.name, "public.balance_of, which puts its SQL together (EXECUTE)",
			Problem,
			runs(balance, 1000, 9, few, func(l *statement.Account) {
				l.Own = []statement.Own{{Name: "public.balance_of", Language: "plpgsql", Dynamic: true}}
			})},
		{"FunctionThatIsNotInlined", functionsWithin.name, "never inlined for its SET clause", Problem,
			runs("SELECT id FROM known() WHERE id = $1", 1000, 9, 0, func(l *statement.Account) {
				l.Own, l.Tables = []statement.Own{{Name: "public.known", Language: "sql", Sets: true}}, nil
			})},
		{"FunctionOfManyRows", functionsWithin.name, "declared to return 15000 rows", Problem,
			runs("SELECT id FROM known() k JOIN stock USING (id)", 1000, 9, few, func(l *statement.Account) {
				l.Own = []statement.Own{{Name: "public.known", Language: "plpgsql", Rows: 15_000}}
			})},
		{"FunctionOfAnApplication", functionsWithin.name, "", "", runs("SELECT new_order($1)", 1000, 9, 0,
			application)},
		{"FunctionOfAnApplicationByItsText", costlyOperations.name, "", "", runs("SELECT new_order($1)", 1000, 9, 0,
			application)},
		{"ViewOfOuterJoins", costlyOperations.name, "the view public.wide_stock, which joins 6 tables (4 outer joins)",
			Problem, runs(wide, 1000, 9, many, view(4))},
		{"ViewOfJoins", costlyOperations.name, "", "", runs(wide, 1000, 9, many, view(0))},
		{"ThousandsOfDigits", beyondItsRows.name, "products of public.stock.rate", Problem, runs(rates, 1000, 9, few,
			unlimited)},
		{"Digits", costlyOperations.name, "", "", runs(rates, 1000, 9, many, unlimited)},
		{"RangeBeforeEquality", costlyOperations.name, "the index by_both of public.stock (day, kind)", Problem,
			runs(period, 1000, 9, many, nil, index("day", "kind"))},
		{"EqualityBeforeRange", costlyOperations.name, "", "", runs(period, 1000, 9, many, nil, index("kind", "day"))},
		{"StoredWords", costlyOperations.name, "the generated column words of public.stock", Problem, runs(insert,
			1000, 9,
			many, stored("to_tsvector(?::regconfig, body)"))},
		{"StoredSum", costlyOperations.name, "", "", runs(insert, 1000, 9, many, stored("id + n"))},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// What explains a statement is not said again.
func TestCostlyOperations_AreTheLastReason(t *testing.T) {
	sql := "SELECT count(DISTINCT n) FROM stock WHERE body ~* $1"
	_, _, findings := said(plant(counts(nil, called(sql, 1000, 9, func(l *statement.Account) {
		l.Tables = []string{"public.stock"}
	})), figures{counters.Tables: {"public.stock": {"seq_scan": 1000, "seq_tup_read": 3_000_000}}},
		active(1, "", normalizedText(sql)), active(9, "", "SELECT * FROM t WHERE id = 1")))
	if len(findings) == 0 || findings[0].Name != computedConditions.name {
		t.Errorf("found %+v, want the regular expression", findings)
	}
	for _, f := range findings {
		if f.Name == costlyOperations.name {
			t.Errorf("it is named again: %+v", f)
		}
	}
}

// The statement of a table that is read whole, of rows that are written in bulk, and of time without a reason is told
// with what its text has.
func TestText_IsToldBesideTheFigures(t *testing.T) {
	work := active(9, "", "SELECT * FROM other WHERE id = 1")
	bulk := grown(map[string]float64{"n_tup_upd": 1_000_000})
	for _, c := range []judged{
		{"WrittenInBulk", bulkWriting.name, "UPDATE of all rows, without WHERE", Problem, plant(nil, bulk,
			active(1, "IO:WalWrite", "UPDATE t SET valid = (id = 7)"), work)},
		{"ReadWhole", wholeTables.name, "NOT IN (SELECT", Problem, plant(nil, grown(map[string]float64{"seq_scan": 500,
			"seq_tup_read": 100_000_000}), active(1, "", "SELECT 1 FROM t WHERE id NOT IN (SELECT id FROM u)"), work)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
	_, _, findings := said(plant(nil, nil, active(1, "", "SELECT kind, sum(n) FROM t GROUP BY kind ORDER BY 2")))
	for _, f := range findings {
		if f.Name == NoReason && !strings.Contains(strings.Join(f.Evidence, "\n"), "its text has: GROUP BY and a "+
			"sort") {
			t.Errorf("%q, want what the text has", f.Evidence)
		}
	}
	if len(findings) == 0 || findings[len(findings)-1].Name != NoReason {
		t.Errorf("found %+v, want no reason", findings)
	}
}

// A real server, and the rights of pg_monitor alone: what takes the time is named, and an ordinary report is not.
func TestRun_NamesWhatAStatementHas(t *testing.T) {
	dsn := clustertest.Database(t)
	execute(t, clustertest.Connect(t, dsn.Secret(), "test"),
		`CREATE TABLE soundings (id int PRIMARY KEY, probe int, depth int);
		INSERT INTO soundings SELECT n, n / 2000, (n * 7919) % 977 FROM generate_series(1, 40000) n;
		CREATE INDEX ON soundings (probe, id); ANALYZE`)
	monitor := as(t, dsn, "diagnose_anatomist", "pg_monitor")
	load(t, dsn.Secret(), repeatedly("SELECT max(moving) FROM (SELECT max(depth) OVER (ORDER BY id ROWS BETWEEN 900 "+
		"PRECEDING AND CURRENT ROW) AS moving FROM soundings WHERE probe = 7) made"))
	_, f := named(t, within(monitor), beyondItsRows.name)
	if f.Level != Problem || !strings.Contains(f.Title, "a sliding frame and max") {
		t.Errorf("found %+v, want the frame, as a problem", f)
	}
}
