package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// judged is what a finding must be: its name, a part of its title and its level; without a level it is no problem.
type judged struct {
	name, finding, says string
	level               Level
	m                   *measured
}

// check returns what is said to be healthy. Judging the same measurement again would say something else.
func (c judged) check(t *testing.T) (healthy string) {
	t.Helper()
	healthy, missing, findings := said(c.m)
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == c.finding })
	switch {
	case c.level == "" && i >= 0 && findings[i].Level == Problem:
		t.Errorf("found %+v", findings[i])
	case c.level == "":
	case i < 0:
		t.Errorf("found %+v, missing %s, want %s", findings, missing, c.finding)
	case findings[i].Level != c.level || !strings.Contains(findings[i].Title, c.says):
		t.Errorf("found %+v, want a %s that says %q", findings[i], c.level, c.says)
	case len(findings[i].Evidence) == 0 || len(findings[i].Next) == 0 || findings[i].Mechanism == "":
		t.Errorf("it does not describe itself: %+v", findings[i])
	}
	for _, f := range findings {
		if c.level == Problem && f.Level == Problem && f.Name != c.finding {
			t.Errorf("it also names %s: %s", f.Name, f.Title)
		}
	}
	return healthy
}

// Where the processor time of a statement goes: each class by its figures, and not where they are usual ones.
func TestClasses_InsideAStatement(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	stock := func(columns map[string]float64) figures { return figures{counters.Tables: {"public.stock": columns}} }
	of := func(tables []string, own ...statement.Own) func(*statement.Account) {
		return func(l *statement.Account) { l.Tables, l.Own = tables, own }
	}
	runs := func(text string, calls, ms float64, more func(*statement.Account), grown figures,
		changes ...func(*measured)) *measured {
		return plant(together(append(changes, counts(nil, called(text, calls, ms, more)))...), grown,
			active(1, "", normalizedText(text)), work)
	}
	tables := []string{"public.stock"}
	balance := statement.Own{Name: "public.balance_of"}
	catches := statement.Own{Name: "public.sync", Catches: true}
	query := "SELECT id FROM stock WHERE kind = $1"
	each, alone := "SELECT sum(balance_of(id)) FROM stock WHERE id > $1", "SELECT sync($1)"
	insert := "INSERT INTO stock VALUES ($1)"
	checked := func(l *statement.Account) {
		l.EachRow = []statement.Runs{{Kind: "check constraint", Name: "may", Table: "public.stock"}}
	}
	numbers := func(perS float64) figures {
		return figures{counters.Numbers: {"all": {"next": 10 * perS}},
			counters.Databases: {"shop": {"xact_commit": 1000, "xact_rollback": 0}}}
	}
	tags := &plan.Table{Name: "public.stock", Plain: "stock", Columns: []plan.Column{{Name: "tags"}},
		Indexes: []plan.Index{{Name: "by_tags", First: "tags", Method: "gin", Valid: true, Pending: true}}}
	pending := func(written float64) figures {
		return figures{counters.Tables: {"public.stock": {"n_ins_since_vacuum": written, "n_live_tup": 20_000,
			"idx_tup_fetch": 9000}}, counters.Indexes: {"public.stock.by_tags": {"idx_scan": 1000, "unique": 0}}}
	}
	search := "SELECT count(*) FROM stock WHERE tags @> $1"
	random, first := "SELECT id FROM stock ORDER BY random() LIMIT 1", "SELECT id FROM stock ORDER BY id LIMIT 1"
	newest := "SELECT DISTINCT ON (kind) kind, n FROM stock ORDER BY kind, n DESC"
	nullsLast := "SELECT id FROM stock ORDER BY n DESC NULLS LAST LIMIT 10"
	nullsFirst := "SELECT id FROM stock ORDER BY n DESC NULLS FIRST LIMIT 10"
	some := "SELECT id FROM stock WHERE kind = $1 ORDER BY random() LIMIT 1"
	rank := "SELECT place FROM (SELECT id AS who, rank() OVER (ORDER BY n) AS place FROM stock) r WHERE who = $1"
	live := stock(map[string]float64{"n_live_tup": 20_000, "reltuples": 20_000})
	ors := func(n int) string {
		return "SELECT count(*) FROM stock WHERE false" + strings.Repeat(" OR (kind = ? AND n = ?)", n)
	}
	notIn := "SELECT count(*) FROM stock WHERE kind = $1 AND id NOT IN (SELECT id FROM blocked)"
	for _, c := range []judged{
		{"FunctionOnEachRow", functionsWithin.name, "public.balance_of", Problem,
			runs(each, 1000, 9, of(tables, balance),
				stock(map[string]float64{"idx_tup_fetch": 100_000}))},
		{"FunctionThatTakesLittle", functionsWithin.name, "", "", runs(each, 1000, 9, of(tables, balance),
			stock(map[string]float64{"idx_tup_fetch": 9_500_000}))},
		{"FunctionOfAnApplication", functionsWithin.name, "", "", runs("SELECT new_order($1)", 1000, 9,
			of(nil, balance), nil)},
		{"CheckForEachRow", functionsWithin.name, "check constraint may of public.stock", Problem, runs(insert, 100, 90,
			checked, stock(map[string]float64{"n_tup_ins": 20_000}))},
		{"ErrorsCaughtInALoop", savepoints.name, "public.sync catches errors", Problem, runs(alone, 1000, 9,
			of(nil, catches), numbers(20_000))},
		{"ErrorsThatDoNotCome", savepoints.name, "", "", runs(alone, 1000, 9, of(nil, catches), numbers(90))},
		{"SavepointsOfClients", savepoints.name, "clients set savepoints", Problem, plant(nil, numbers(20_000),
			active(1, "", "SAVEPOINT s"), work)},
		{"LogOfAFunction", reading.name, "", "", plant(counts(nil, called(alone, 1000, 9, of(nil, balance))), nil,
			active(1, "IO:WalSync", normalizedText(alone)), work)},
		{"LogOfPagesThatAQueryEvicts", reading.name, "read and write data", Problem,
			plant(counts(nil, called(query, 1000, 9, of(tables))), nil, active(1, "IO:WalSync", query), work)},
		{"SavepointsThatNobodyWasSeenAt", savepoints.name, "many subtransactions", Note,
			plant(nil, numbers(20_000), work)},
		{"PendingList", pendingEntries.name, "by_tags of public.stock", Problem, runs(search, 1000, 9, of(tables),
			pending(40_000), knows(tags))},
		{"PendingListThatIsEmpty", pendingEntries.name, "", "", runs(search, 1000, 9, of(tables), pending(10),
			knows(tags))},
		{"SortedByChance", sortsForFew.name, "ORDER BY random()", Problem, runs(random, 500, 19, of(tables), live,
			knows(stockTable))},
		{"RankOfOne", sortsForFew.name, "a window function", Problem, runs(rank, 500, 19, of(tables), live,
			knows(stockTable))},
		{"InOrderOfAnIndex", sortsForFew.name, "", "", runs(first, 500, 19, of(tables), live, knows(stockTable))},
		{"NewestOfEach", sortsForFew.name, "DISTINCT ON", Problem, runs(newest, 500, 19, of(tables), live,
			knows(stockTable))},
		{"NullsWhereNoIndexHasThem", sortsForFew.name, "NULLS LAST", Problem, runs(nullsLast, 500, 19, of(tables), live,
			knows(stockTable))},
		{"NullsWhereTheIndexHasThem", sortsForFew.name, "", "", runs(nullsFirst, 500, 19, of(tables), live,
			knows(stockTable))},
		{"SortOfAFew", sortsForFew.name, "", "", runs(some, 500, 19, of(tables), live, knows(stockTable))},
		{"ConditionsJoinedByOr", longLists.name, "30 conditions joined by OR", Problem,
			runs(ors(30), 1000, 9, of(tables),
				nil)},
		{"AFewConditions", longLists.name, "", "", runs(ors(3), 1000, 9, of(tables), nil)},
		{"NotInRowByRow", beyondItsRows.name, "NOT IN", Problem, runs(notIn, 100, 90, of(tables),
			stock(map[string]float64{"idx_tup_fetch": 40_000}))},
		{"RowsThatExplainIt", beyondItsRows.name, "", "", runs(notIn, 100, 90, of(tables),
			stock(map[string]float64{"idx_tup_fetch": 9_000_000}))},
		{"RowsOfAFunction", beyondItsRows.name, "", "",
			runs("SELECT sum(length(md5(g::text))) FROM generate_series($1, $2) g",
				100, 90, nil, nil)},
		{"ShortCalls", beyondItsRows.name, "", "", runs(notIn, 10_000, 0.9, of(tables), nil)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

func TestListed(t *testing.T) {
	for text, want := range map[string]int{
		"SELECT 1 FROM t WHERE a = ? OR b = ? OR c = ?":                              2,
		"SELECT 1 FROM t WHERE id IN (?" + strings.Repeat(", ?", 499) + ")":          500,
		"SELECT 1 FROM t WHERE id = ANY (ARRAY[?" + strings.Repeat(", ?", 199) + "]": 200,
		"SELECT 1 FROM t WHERE id IN (?, ?, ?)":                                      0,
	} {
		if got, _ := listed(text); got != want {
			t.Errorf("%.60s: %d, want %d", text, got, want)
		}
	}
}

func TestMaintains_NamesTheCommandAndWhatLocksNobodyOut(t *testing.T) {
	for sql, want := range map[string][2]string{
		"REFRESH MATERIALIZED VIEW totals":              {"REFRESH MATERIALIZED VIEW", "CONCURRENTLY"},
		"REFRESH MATERIALIZED VIEW CONCURRENTLY totals": {"REFRESH MATERIALIZED VIEW", ""},
		"VACUUM (FULL, VERBOSE) t":                      {"VACUUM FULL", "pg_repack"},
		"VACUUM (VERBOSE) t":                            {"", ""},
		"CREATE UNIQUE INDEX i ON t (a)":                {"CREATE INDEX", "CONCURRENTLY"},
	} {
		title, next := lockingOut(sql)
		text := strings.Join(next, "\n")
		if !strings.HasSuffix(title, want[0]) || !strings.Contains(text, want[1]) || want[1] == "" && text != "" {
			t.Errorf("%s: %q, %q, want %q", sql, title, text, want)
		}
	}
}

// Causes that the server's counters tell by themselves.
func TestClasses_OfCounters(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	query, tables := "SELECT id FROM stock WHERE kind = $1", []string{"public.stock"}
	pages := func(live float64) figures {
		return figures{counters.Tables: {"public.stock": {"relpages": 5000, "n_live_tup": live, "reltuples": live,
			"seq_scan": 400, "seq_tup_read": 400 * live}}}
	}
	drops := func(read, given float64) *measured {
		return plant(counts(nil, called(query, 1000, 9, func(l *statement.Account) {
			l.Tables, l.PerCall.RowsRead, l.PerCall.Rows = tables, &read, &given
		})), nil, active(1, "", query), work)
	}
	rolledBackBy := func(log *ServerLog) *measured {
		return plant(func(m *measured) {
			m.half.RolledBack, m.half.TransactionsPerS, m.log = new(0.5), new(200.0), log
		}, figures{counters.Databases: {"shop": {"xact_commit": 1000, "xact_rollback": 1000}}}, work)
	}
	logged := func(mb float64) *measured {
		return plant(func(m *measured) { m.settings.LogMost = 32 << 20 }, figures{
			counters.Checkpoints: {"all": {"num_requested": 3, "num_timed": 0}},
			counters.WAL:         {"all": {"wal_bytes": mb * (1 << 20), "wal_fpi": mb * 64}}}, work)
	}
	for _, c := range []judged{
		{"EmptyPages", emptyPages.name, "nearly empty", Problem, plant(nil, pages(10), active(1, "", query), work)},
		{"FullPages", emptyPages.name, "", "", plant(nil, pages(200_000), active(1, "", query), work)},
		{"RowsDropped", filtered.name, "reads 5000 rows through indexes", Problem, drops(5000, 1)},
		{"RowsReturned", filtered.name, "", "", drops(5000, 500)},
		{"RollbacksByErrors", rolledBack.name, "fail with errors", Problem,
			rolledBackBy(&ServerLog{Errors: map[string]int{
				"23505": 900}})},
		{"RollbacksAgainstEachOther", rolledBack.name, "against each other", Problem, rolledBackBy(&ServerLog{
			Errors: map[string]int{"40001": 900}})},
		{"RollbacksWithoutAReason", rolledBack.name, "are rolled back", Note, rolledBackBy(nil)},
		{"CheckpointsBySize", checkpoints.name, "max_wal_size is small", Problem, logged(60)},
		{"CheckpointsThatSomebodyAskedFor", checkpoints.name, "", "", logged(3)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// A statement that has not ended is counted by the samples alone: it must not look as if they were wrong.
func TestLittlesLaw_LeavesOutWhatIsUnderWay(t *testing.T) {
	other := active(9, "", "SELECT * FROM t WHERE id = 1")
	for began, want := range map[time.Duration]Verdict{3 * time.Second: Agrees, 0: Contradicts} {
		m := plant(nil, figures{counters.Databases: {"shop": {"active_time": 10_000}}}, other)
		m.book = newBook()
		for i := range 200 {
			long := active(1, "", "SELECT count(*) FROM a, b")
			if began > 0 {
				long.InState = began + time.Duration(i)*tick
			}
			m.book.take(look{at: time.Unix(0, 0).Add(time.Duration(i) * tick), covers: tick,
				sessions: []waits.Session{long, other}})
		}
		m.book.end()
		m.ledger = m.book.ledger(nil, "split")
		if c := littlesLaw(m); c.Verdict != want {
			t.Errorf("a statement of %s before the first sample: %s, want %s: %+v", began, c.Verdict, want, c.Figures)
		}
	}
}
