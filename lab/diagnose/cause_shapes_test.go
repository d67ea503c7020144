package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/client"
	"plimsoll/lab/diagnose/statement"
)

// What the text of a statement tells is named where the figures show that it takes the time, and not where they do not.
func TestClasses_ByTheShapeOfAStatement(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	stock := func(columns map[string]float64) figures { return figures{counters.Tables: {"public.stock": columns}} }
	runs := func(text string, calls, ms float64, more func(*statement.Account), grown figures) *measured {
		return plant(together(counts(nil, called(text, calls, ms, func(l *statement.Account) {
			l.Tables = []string{"public.stock"}
			if more != nil {
				more(l)
			}
		})), func(m *measured) { m.inside.Toast = map[string]float64{"public.stock": 5000} }), grown,
			active(1, "", text), work)
	}
	scanned := func(rows float64) figures {
		return stock(map[string]float64{"seq_scan": 1000, "seq_tup_read": 1000 * rows})
	}
	search := "SELECT count(*) FROM stock WHERE to_tsvector('simple', body) @@ to_tsquery('simple', $1)"
	expression, like := "SELECT id FROM stock WHERE name ~* $1", "SELECT id FROM stock WHERE name ~~ $1"
	product := "SELECT DISTINCT o.state FROM public.orders o, stock s WHERE o.day = $1 AND s.kind = $2"
	tree := "WITH RECURSIVE tree AS (SELECT id FROM stock WHERE parent IS NULL UNION ALL SELECT p.id FROM stock p " +
		"JOIN tree ON p.parent = tree.id) SELECT count(*) FROM tree"
	total := "SELECT max(made) FROM (SELECT (SELECT sum(p.n) FROM stock p WHERE p.day = o.day) AS made FROM stock o " +
		"WHERE o.day = $1) x"
	loops := func(scans, entries float64) figures {
		return figures{counters.Tables: {"public.stock": {"seq_scan": 0}}, counters.Indexes: {"public.stock.by_day": {
			"idx_scan": scans, "tup_read": scans * entries, "unique": 1}}}
	}
	view := func(returned float64) func(*statement.Account) {
		return func(l *statement.Account) {
			l.Views, l.PerCall.Rows = []statement.View{{Name: "spending", Table: "public.stock"}}, &returned
		}
	}
	writes := func(bytes, images float64) func(*statement.Account) {
		return func(l *statement.Account) {
			l.PerCall.LogBytes, l.PerCall.Images, l.PerCall.Rows = &bytes, &images, new(1.0)
		}
	}
	spending := "SELECT total FROM spending WHERE "
	piece := "UPDATE stock SET doc = jsonb_set(doc, $1, $2) WHERE id = $3"
	whole := "UPDATE stock SET doc = $1 WHERE id = $2"
	for _, c := range []judged{
		{"TextThatIsTakenApart", computedConditions.name, "text search", Problem, runs(search, 1000, 9, nil,
			scanned(3000))},
		{"RegularExpression", computedConditions.name, "a regular expression", Problem, runs(expression, 1000, 9, nil,
			scanned(20_000))},
		{"RegularExpressionOfOneRow", computedConditions.name, "", "", runs(expression, 50_000, 0.2, nil,
			stock(map[string]float64{"idx_tup_fetch": 50_000}))},
		{"ScanThatExplainsIt", computedConditions.name, "", "", runs(expression, 1000, 9, nil, scanned(48_000))},
		{"Beginnings", computedConditions.name, "", "", runs(like, 1000, 9, nil, scanned(3000))},
		{"ProductOfTables", tablesUnjoined.name, "orders and stock", Problem, runs(product, 500, 19, nil,
			stock(map[string]float64{"idx_tup_fetch": 200_000}))},
		{"JoinedTables", tablesUnjoined.name, "", "", runs(product+" AND s.id = o.item", 500, 19, nil,
			stock(map[string]float64{"idx_tup_fetch": 200_000}))},
		{"TwoRowsOfTwoTables", tablesUnjoined.name, "", "", runs(product, 50_000, 0.2, nil, nil)},
		{"TreeFromItsRoot", walkedFromTheRoot.name, "WITH RECURSIVE", Problem, runs(tree+" WHERE root = $1", 500, 19,
			nil, scanned(4000))},
		{"TreeThatIsWanted", walkedFromTheRoot.name, "", "", runs(tree, 500, 19, nil, scanned(4000))},
		{"SubqueryOfEachRow", subqueryOfEachRow.name, "correlated subquery", Problem, runs(total, 1000, 9, nil,
			loops(100_000, 75))},
		{"SubqueryOfAFewRows", subqueryOfEachRow.name, "", "", runs(total, 1000, 9, nil, loops(5000, 75))},
		{"SubqueryThatFindsOne", subqueryOfEachRow.name, "", "", runs(total, 1000, 9, nil, loops(100_000, 1))},
		{"ViewThatAddsUp", viewAddsUp.name, "The view spending", Problem, runs(spending+"mail = $1",
			1000, 9, view(1), scanned(20_000))},
		{"ViewThatIsWantedAsAWhole", viewAddsUp.name, "", "", runs(spending+"total > $1", 1000, 9,
			view(15_000), scanned(20_000))},
		{"DocumentWrittenForAField", valuesRewritten.name, "public.stock", Problem, runs(piece, 1000, 9,
			writes(30_000, 0), nil)},
		{"DocumentAfterACheckpoint", valuesRewritten.name, "", "", runs(piece, 1000, 9, writes(30_000, 3), nil)},
		{"DocumentThatIsNew", valuesRewritten.name, "", "", runs(whole, 1000, 9, writes(30_000, 0), nil)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// A statement on a foreign table is named by it, though a function of its condition runs here; who serves it on the
// other server is no program that asks row by row.
func TestForeignTables(t *testing.T) {
	text := "SELECT count(*) FROM far WHERE branch_of(branch) = $1"
	far := func(l *statement.Account) {
		l.Tables, l.Foreign = []string{"public.far"}, []string{"public.far"}
		l.Own = []statement.Own{{Name: "public.branch_of"}}
	}
	judged{"Foreign", foreignRows.name, "public.far", Problem, plant(counts(nil, called(text, 100, 90, far)), nil,
		active(1, "Extension:Extension", text), active(2, "", text))}.check(t)
	for application, want := range map[string]bool{"postgres_fdw": false, "shop": true} {
		s := active(1, "", "FETCH 100 FROM c1")
		s.Application = application
		_, _, findings := said(plant(func(m *measured) {
			m.half.Repeated = []client.Repeated{{Statement: "FETCH ? FROM c1", Most: 30, Transactions: 9}}
		}, nil, s))
		if got := slices.ContainsFunc(findings, func(f Finding) bool { return f.Name == sentAgain.name }); got != want {
			t.Errorf("%s: %v, want %v: %+v", application, got, want, findings)
		}
	}
}

func TestCatalogChurn_CountsCommitsThatDrop(t *testing.T) {
	for create, want := range map[string]bool{"CREATE TEMPORARY TABLE picked (n int) ON COMMIT DROP": true,
		"CREATE TEMPORARY TABLE picked (n int)": false} {
		_, _, findings := said(plant(nil, figures{counters.Catalogs: {"pg_catalog.pg_class": {"n_tup_ins": 5000,
			"n_tup_del": 5000}}}, active(1, "", create), active(2, "", "COMMIT"), active(9, "", "SELECT n FROM t")))
		if len(findings) == 0 || findings[0].Name != catalogChurn.name ||
			strings.Contains(findings[0].Title, "ON COMMIT DROP") != want || (*findings[0].Price > 0.5) != want {
			t.Errorf("%s: %+v", create, findings)
		}
	}
}

// No look at the locks met the holder, and the samples tell it all the same: it rests behind the same statement.
func TestLocksBetweenStatements_ThatNoLookMet(t *testing.T) {
	hot, other := "UPDATE hot SET n = 1", "UPDATE cold SET n = 1"
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	judged{"Same", lockBetween.name, "holders wait for their clients", Problem, plant(nil, nil,
		idleFor(10*time.Millisecond), active(2, lockWait, hot), active(3, lockWait, hot), work)}.check(t)
	judged{"Other", lockBetween.name, "", "", plant(nil, nil, idleFor(10*time.Millisecond), active(2, lockWait, other),
		active(3, lockWait, other), work)}.check(t)
}

// A list of two values or more is one list, however many they are, and however the server or a sample shortens it. What
// stands behind it tells statements apart, as far as it is there.
func TestMatched_Lists(t *testing.T) {
	const begin = "SELECT n FROM t WHERE id IN "
	for _, sample := range []string{begin + "(3, 17, 27, 37, 47, 57, 67…", begin + "(3, 17, 27,", begin + "(-3, 17",
		begin + "( 3 , 17 , …"} {
		for text, want := range map[string]bool{begin + "($1, $2, $3, $4, $5, $6)": true, begin + "($1, …)": true,
			begin + "($1, $2)": true, begin + "($1)": false, begin + "($1, …) ORDER BY n": true,
			begin + "(SELECT 1)": false, "SELECT n FROM t": false} {
			if got := sameStatement(matched(sample), matched(text)); got != want {
				t.Errorf("%s and %s: %q and %q", sample, text, matched(text), matched(sample))
			}
		}
	}
	for _, texts := range [][2]string{
		{begin + "(1, 2, 3, 4, 5) AND lower(name) = 'x'", begin + "(1, 2, 3, 4, 5) AND name = 'x'"},
		{begin + "(1, 2, 3, 4, 5)", begin + "(1, 2, 3, 4, 5) ORDER BY n LIMIT 1"},
		{"SELECT ARRAY[1, 2, 3, 4, 5] FROM a", "SELECT ARRAY[1, 2, 3, 4, 5] FROM b"},
	} {
		if sameStatement(matched(texts[0]), matched(texts[1])) {
			t.Errorf("%s and %s are one", texts[0], texts[1])
		}
	}
	if got, want := normalizedText(begin+"(1, 2, -3) AND ARRAY[$1, $2] && tags"),
		begin+"(?, …) AND ARRAY[$?, …] && tags"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Samples of statements that differ behind a list are each one's own; those of one that was cut within its list are of
// the costliest that begins so.
func TestSampledAs_BehindALongList(t *testing.T) {
	const begin = "SELECT n FROM t WHERE id IN "
	values := "(1" + strings.Repeat(", 22", 60)
	m := plant(func(m *measured) {
		m.statements = []statement.Account{{Text: begin + "($1, …) AND a = $2", S: 5, Calls: new(10.0)},
			{Text: begin + "($1, …) AND b = $2", S: 1, Calls: new(20.0)}}
	}, nil, active(1, "", begin+values+") AND a = 7"), active(2, "", begin+values+") AND b = 7"),
		active(3, "", begin+values))
	for text, want := range map[string][]string{
		begin + "($1, …) AND a = $2": {begin + "(?, …", begin + "(?, …) AND a = ?"},
		begin + "($1, …) AND b = $2": {begin + "(?, …) AND b = ?"},
	} {
		if got := slices.Sorted(slices.Values(m.sampledAs(text))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if l := m.accountOf(begin + "(?, …"); l == nil || l.S != 5 {
		t.Errorf("the cut one has the ledger %+v", l)
	}
}

// What the samples cannot tell apart - lists of other lengths, other roles - is counted together: neither planning nor
// work beyond the rows is what the calls of one of them leave over.
func TestAlike_AreCountedTogether(t *testing.T) {
	list := func(n int) string { return "SELECT n FROM t WHERE id IN ($1" + strings.Repeat(", $2", n-1) + ")" }
	m := plant(func(m *measured) {
		m.inside.Totals = &statement.Totals{LastedS: 10}
		for n := 2; n < 12; n++ {
			m.statements = append(m.statements, statement.Account{Text: list(n), Calls: new(400.0), S: 1.5,
				MeanMS: new(3.75), Tables: []string{"public.t"}})
		}
	}, nil, active(1, "", list(3)), active(2, "", list(7)))
	var f Finding
	if m.plannedOutside(&f) {
		t.Errorf("planning is %q", f.Evidence)
	}
	if e := m.excessOf(&m.statements[0]); e == nil || e.calls != 4000 {
		t.Errorf("excess %+v, want that of all 4,000 calls", e)
	}
	m.byAlike = nil
	for i := range m.statements {
		m.statements[i].S, m.statements[i].MeanMS = 0.1, new(0.25)
	}
	m.statements = m.statements[:2]
	if !m.plannedOutside(&f) || priceOf(f) > 1 || len(f.Evidence) != 1 {
		t.Errorf("of calls that take far longer than their execution: %+v", f)
	}
}
