package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/condition"
	"plimsoll/lab/diagnose/statement"
)

// beyondScans is the excess of a statement whose text says what it computes: rows that are scanned take what a scan
// takes, not what a row takes that is joined and added up.
func (m *measured) beyondScans(l *statement.Account) *excess {
	e := m.excessOf(l)
	if e == nil || 1000*e.seconds/e.calls < computedMS.Value {
		return nil
	}
	usual := e.calls * secondsPerCall.Value
	for _, table := range l.Tables {
		scanned := valueOr(m.delta.Grew(counters.Tables, table, "seq_tup_read"), 0)
		_, all := m.rowsOf([]string{table})
		usual += all - scanned*(secondsPerFetch.Value-secondsPerRow.Value)
	}
	e.beyond = max(0, 1-usual/e.seconds)
	e.price = e.use.share * e.beyond
	return e
}

// ofShape is a finding of the statement with most excess of a shape; says is what its text tells, empty: nothing.
func (m *measured) ofShape(price func(*statement.Account) *excess, says func(l *statement.Account, text string) string,
	f Finding) *Finding {
	var best *Finding
	for i := range m.statements {
		l := &m.statements[i]
		said := says(l, m.textOf(l))
		if said == "" || len(l.Tables) == 0 {
			continue
		}
		e := price(l)
		if e == nil || best != nil && *best.Price >= e.price {
			continue
		}
		one := f
		one.Price, one.explains, one.Statements = &e.price, e.use.statements, m.book.full(e.use.statements)
		one.Title, one.there, one.partial = fmt.Sprintf(f.Title, said), true, true
		one.Evidence = append([]string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(e.use.share),
			e.use.largest), e.says()}, m.within(e.use.largest)...)
		best = &one
	}
	return best
}

// computed in a condition, for each row that it is asked of.
var computed = []struct {
	is         *regexp.Regexp
	says, next string
}{
	{regexp.MustCompile(`(?i)\bto_tsvector\s*\(`), "text search takes each text apart (to_tsvector)",
		"keep the tsvector in a generated column, or in an index on this expression (USING gin (to_tsvector('…', …)) " +
			"with the configuration named)"},
	{regexp.MustCompile(`(?i)[\w")\s]!?~\*?(?:\s|\?|\$|\(|')|\bsimilar\s+to\b|\bregexp_\w+\s*\(`),
		"a regular expression is matched with each text",
		"an index of trigrams serves LIKE, ILIKE and regular expressions (CREATE EXTENSION pg_trgm; USING gin (… " +
			"gin_trgm_ops)); equality needs lower(…) and an index on it"},
	{regexp.MustCompile(`(?i)->>?|#>>?|\bjsonb?_\w+\s*\(|\bxpath\w*\s*\(`), "each document (JSON, XML) is taken apart",
		"an index on the expression, or a generated column with the field that is searched"},
	{regexp.MustCompile(`(?i)\b(?:similarity|word_similarity|levenshtein\w*|soundex|metaphone|dmetaphone\w*|unaccent)` +
		`\s*\(`), "the likeness of each text is computed",
		"the operator that an index serves (% and <-> of pg_trgm) instead of the function"},
}

// computedConditions take far longer for each row than the row.
var computedConditions = cause{
	name: "condition-computed-for-each-row",
	find: func(m *measured) (*Finding, string) {
		next := ""
		f := m.ofShape(m.beyondScans, func(_ *statement.Account, text string) string {
			_, where, _ := condition.CutFold(text, "where")
			for _, c := range computed {
				if c.is.MatchString(where) {
					next = c.next
					return c.says
				}
			}
			return ""
		}, Finding{Title: "A condition is computed for each row: %s",
			Mechanism: "No index has what the condition compares, so that the server computes it for each row of " +
				"each call. That takes many times what reading the row takes.",
			Excluded: []string{"not the reading of the rows: a scan of as many takes less"}})
		if f != nil {
			f.Next = []string{next, "EXPLAIN (ANALYZE) it: how many rows does the filter remove?"}
		}
		return f, ""
	},
}

// tablesUnjoined: a condition of a join is missing.
var tablesUnjoined = cause{
	name: "tables-without-a-join-condition",
	find: func(m *measured) (*Finding, string) {
		return m.ofShape(m.beyondScans, func(_ *statement.Account, text string) string {
			one, other := condition.Unjoined(text)
			if one == "" {
				return ""
			}
			return one + " and " + other
		}, Finding{Title: "No condition joins %s: each row of one meets each row of the other (a product of tables)",
			Mechanism: "Without a condition between two tables their join is the product of what each has. DISTINCT, " +
				"GROUP BY or an aggregate hides the copies, and takes long to do so.",
			Excluded: []string{"not the reading of the rows: they are few, the pairs are many"},
			Next: []string{"which columns belong together? add the condition, and take DISTINCT away to see the copies",
				"is the second table only asked whether it has a row? EXISTS (SELECT …) reads one"}}), ""
	},
}

// walkedFromTheRoot: a condition outside of a recursive query comes when everything is read.
var walkedFromTheRoot = cause{
	name: "recursion-filtered-outside",
	find: func(m *measured) (*Finding, string) {
		walks := func(l *statement.Account) *excess { // its rows are read because it walks
			e := m.excessOf(l)
			if e == nil || 1000*e.seconds/e.calls < computedMS.Value {
				return nil
			}
			e.price = e.use.share * max(0, 1-e.calls*secondsPerCall.Value/e.seconds)
			return e
		}
		return m.ofShape(walks, func(_ *statement.Account, text string) string {
			if !condition.FilteredRecursion(text) {
				return ""
			}
			return "WITH RECURSIVE"
		}, Finding{Title: "A recursive query (%s) walks the whole tree, and a condition outside takes a part of it",
			Mechanism: "A condition outside of WITH RECURSIVE does not reach into it: the query goes through all " +
				"rows " +
				"first.", Excluded: []string{"an index for that condition would not help: the query asks for all rows"},
			Next: []string{"begin at the wanted row: put the condition into the first SELECT of the recursion",
				"a condition on the depth belongs into the second SELECT"}}), ""
	},
}

// subqueryOfEachRow: a value is computed by a subquery of its own for each row, and reads many rows each time.
var subqueryOfEachRow = cause{
	name: "subquery-for-each-row",
	find: func(m *measured) (*Finding, string) {
		loops := func(l *statement.Account) *excess {
			e := m.excessOf(l)
			if e == nil {
				return nil
			}
			entries := m.loopedEntries(l, e.calls)
			e.price = min(e.use.share, entries*secondsPerFetch.Value/max(m.ledger.TotalS*m.gotProcessor(), 1e-9))
			if entries == 0 {
				return nil
			}
			return e
		}
		return m.ofShape(loops, func(l *statement.Account, text string) string {
			if !condition.Correlated(text) {
				return ""
			}
			return strings.Join(l.Tables[:min(2, len(l.Tables))], ", ")
		}, Finding{Title: "A correlated subquery runs for each row of a statement, and reads many rows of %s each time",
			Mechanism: "A subquery that names a column of the statement around it is no join: the server runs it " +
				"once for each row. Its work is the product of both.",
			Excluded: []string{"one run is cheap: their number is the reason"},
			Next: []string{"a running total or a rank: a window function (sum(…) OVER (ORDER BY …)) reads them once",
				"a value of another table: LEFT JOIN it, or a subquery with GROUP BY"}}), ""
	},
}

// loopedEntries of an index of a statement's tables that each of its calls scans many times, with many entries each.
func (m *measured) loopedEntries(l *statement.Account, calls float64) (most float64) {
	for _, key := range m.delta.Keys(counters.Indexes) {
		table := key[:strings.LastIndex(key, ".")]
		scans := valueOr(m.delta.Grew(counters.Indexes, key, "idx_scan"), 0)
		entries := valueOr(m.delta.Grew(counters.Indexes, key, "tup_read"), 0)
		if slices.Contains(l.Tables, table) && scans >= loopsLeast.Value*calls && entries >= loopsLeast.Value*scans {
			most = max(most, entries)
		}
	}
	return most
}

// viewAddsUp: a condition on a view that adds up a table comes when all is added up.
var viewAddsUp = cause{
	name: "view-adds-up-all-rows",
	find: func(m *measured) (*Finding, string) {
		adds := func(l *statement.Account) *excess {
			e := m.excessOf(l)
			if e == nil {
				return nil
			}
			rows := 0.0
			for _, v := range l.Views {
				if m.readWhole(v.Table) && m.touchesAll(l, v.Table) {
					rows = max(rows, valueOr(m.delta.Grew(counters.Tables, v.Table, "seq_tup_read"), 0))
				}
			}
			if rows < rowsPerScan.Value || l.PerCall.Rows != nil && *l.PerCall.Rows*droppedEach.Value > rows/e.calls {
				return nil
			}
			e.price = min(e.use.share, rows*secondsPerFetch.Value/max(m.ledger.TotalS*m.gotProcessor(), 1e-9))
			return e
		}
		return m.ofShape(adds, func(l *statement.Account, text string) string {
			_, where, filters := condition.CutFold(text, "where")
			if !filters || where == "" || len(l.Views) == 0 {
				return ""
			}
			return l.Views[0].Name + " adds up all rows of " + l.Views[0].Table
		}, Finding{Title: "The view %s before the condition of a statement takes a few",
			Mechanism: "A condition reaches into a view with GROUP BY or a window only by the columns that it groups " +
				"by, and not through a join within. Otherwise the view is computed as a whole, for each statement.",
			Excluded: []string{"an index for that condition would not help: the view asks for all rows"},
			Next: []string{"ask the tables themselves: join first, and add up what is left; or a LATERAL subquery",
				"a materialized view, or totals that are kept as rows are written, where it is asked often"}}), ""
	},
}

// foreignRows: rows of another server are fetched, and worked on here.
var foreignRows = cause{
	name: "rows-of-a-foreign-table",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			if len(l.Foreign) == 0 {
				continue
			}
			own := m.sampledAs(l.Text)
			is := func(sql string) bool { return slices.Contains(own, sql) }
			u := m.uses(append(slices.Clone(work), waits.Extension), is)
			waited := m.uses([]waits.Class{waits.Extension}, is)
			if u.share == 0 || best != nil && *best.Price >= u.share {
				continue
			}
			best = &Finding{Price: new(u.share), explains: u.statements, Statements: m.book.full(u.statements),
				there: true, partial: true,
				Title: "A statement fetches rows of the foreign table " + strings.Join(l.Foreign, ", "),
				Mechanism: "Conditions, joins and aggregates are sent to the other server only where it knows their " +
					"functions and operators and they are immutable. Otherwise all rows come over the network, some " +
					"at a time, and are dropped here.",
				Evidence: append([]string{fmt.Sprintf("%s of the time is spent on: %s; %s of the time it waits for "+
					"the other server", human.Percent(u.share), u.largest, human.Percent(waited.share))},
					m.within(u.largest)...),
				Excluded: []string{"neither a lock nor a disk of this server"},
				Next: []string{"EXPLAIN (VERBOSE) it: does Remote SQL have the condition?",
					"write the condition with built-in functions, or name the extension that has them in the " +
						"server's option extensions",
					"ALTER SERVER … OPTIONS (ADD fetch_size '10000')    fewer round trips for what must come"}}
		}
		return best, ""
	},
}

// valuesRewritten: a large value is written anew for a small change.
var valuesRewritten = cause{
	name: "large-values-rewritten",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			if !begins("UPDATE", "INSERT", "MERGE", "WITH")(l.Text) || l.Nested != nil && *l.Nested ||
				!slices.ContainsFunc(l.Tables, func(table string) bool { return m.inside.Toast[table] > 0 }) {
				continue
			}
			bytes := m.logOfRow(l)
			own := m.sampledAs(l.Text)
			u := m.uses(withLog, func(sql string) bool { return slices.Contains(own, sql) })
			price := u.share * max(0, 1-largeValue.Value/max(bytes, 1))
			if bytes < 2*largeValue.Value || !rewrites(m.textOf(l)) || best != nil && *best.Price >= price {
				continue
			}
			best = &Finding{Price: &price, explains: u.statements, toLog: true, Statements: m.book.full(u.statements),
				there: true, partial: true,
				Title: "Each change writes a large value (TOAST, a document) of " + strings.Join(l.Tables, ", ") +
					" anew",
				Mechanism: "A value of more than 2 kB is stored apart from its row. An update of a part of it, as " +
					"one " +
					"field of a jsonb document, unpacks it, writes all of it again, and puts it into the log; the " +
					"old one is left for vacuum.",
				Evidence: append([]string{fmt.Sprintf("%.0f kB of log for each row, without full-page images; %s of "+
					"the "+
					"time is spent on: %s", bytes/1024, human.Percent(u.share), u.largest)}, m.within(u.largest)...),
				Excluded: []string{"not full-page images: they are taken off"},
				Next: []string{"what changes often in a column of its own, beside the document",
					"one update for many changes of the same document"}}
		}
		return best, ""
	},
}

var (
	assigns = regexp.MustCompile(`(?is)\bset\b(.*?)(?:\bwhere\b|$)`)
	pieces  = regexp.MustCompile(`(?i)\bjsonb?_\w+\s*\(|\|\||\boverlay\s*\(|\bconcat\w*\s*\(|\breplace\s*\(|` +
		`\barray_(?:append|prepend|remove|replace|cat)\s*\(|\[[?$]`)
)

// rewrites says that an update makes a value of its old one.
func rewrites(sql string) bool {
	set := assigns.FindStringSubmatch(sql)
	return set != nil && pieces.MatchString(set[1])
}

// logOfRow are the bytes of log of each row that a statement writes, without full-page images; where statements are not
// counted, those of all rows of all tables.
func (m *measured) logOfRow(l *statement.Account) float64 {
	if l.PerCall.LogBytes != nil {
		images := valueOr(l.PerCall.Images, 0) * blockBytes
		return max(0, *l.PerCall.LogBytes-images) / max(1, valueOr(l.PerCall.Rows, 1))
	}
	rows := 0.0
	for _, column := range []string{"n_tup_ins", "n_tup_upd", "n_tup_del"} {
		rows += valueOr(m.delta.Sum(counters.Tables, "", column), 0)
	}
	bytes := valueOr(m.delta.Sum(counters.WAL, "", "wal_bytes"), 0) -
		valueOr(m.delta.Sum(counters.WAL, "", "wal_fpi"), 0)*blockBytes
	return max(0, bytes) / max(1, rows)
}
