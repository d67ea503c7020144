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
			"n_tup_del": 5000}}}, active(1, "", create), active(2, "", "COMMIT"), active(9, "", "SELECT 1")))
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

// A list of values is one statement, however many they are and however the server shortens it.
func TestMatched_Lists(t *testing.T) {
	sample := matched("SELECT n FROM t WHERE id IN (3, 17, 27, 37, 47, 57, 67…")
	for text, want := range map[string]bool{"SELECT n FROM t WHERE id IN ($1, $2, $3, $4, $5, $6)": true,
		"SELECT n FROM t WHERE id IN ($1, …)": true, "SELECT n FROM t WHERE id IN ($1, $2)": false,
		"SELECT n FROM t WHERE id IN ($1)": false} {
		if got := matched(text) == sample; got != want {
			t.Errorf("%s: %q and %q", text, matched(text), sample)
		}
	}
}
