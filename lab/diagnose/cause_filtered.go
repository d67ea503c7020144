package diagnose

import (
	"fmt"
	"regexp"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/statement"
)

// addsUp: what a statement returns says nothing of how many rows it needed.
var addsUp = regexp.MustCompile(`(?i)\b(count|sum|avg|min|max|string_agg|array_agg|jsonb?_agg|bool_or|bool_and|` +
	`group\s+by|distinct|exists|having|over|offset)\b`)

// filtered: an index leads to many rows, and nearly all of them are dropped. A whole scan has findings of its own.
var filtered = cause{
	name: "rows-read-and-dropped",
	text: true,
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			read, given := l.PerCall.RowsRead, l.PerCall.Rows
			if read == nil || given == nil || l.Calls == nil || l.Nested != nil && *l.Nested ||
				*read < rowsDropped.Value || *read < droppedEach.Value*max(1, *given) || addsUp.MatchString(l.Text) ||
				slices.ContainsFunc(l.Tables, m.readWhole) {
				continue
			}
			own := m.sampledAs(l.Text)
			u := m.uses(work, func(sql string) bool { return slices.Contains(own, sql) })
			price := min(u.share, *read**l.Calls*secondsPerFetch.Value/max(m.ledger.TotalS, 1e-9))
			if best != nil && *best.Price >= price {
				continue
			}
			best = m.droppedBy(l, u, price)
		}
		return best, ""
	},
}

func (m *measured) droppedBy(l *statement.Account, u use, price float64) *Finding {
	return &Finding{Price: &price, explains: u.statements, Statements: m.book.full(u.statements), partial: true,
		Title: fmt.Sprintf("A statement reads %.0f rows through indexes and returns %s", *l.PerCall.RowsRead,
			human.Figure(*l.PerCall.Rows, 3)),
		Mechanism: "The index that the planner chose finds rows by one part of the condition, or in the wanted " +
			"order, and " +
			"the rest is dropped row by row. With ORDER BY … LIMIT the planner hopes to meet the first rows soon; " +
			"where they are rare or far away, it walks through most of the index.",
		Evidence: append([]string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share),
			normalizedText(l.Text))}, m.within(u.largest)...),
		Excluded: []string{"no table is read as a whole for it"},
		Next: []string{"EXPLAIN (ANALYZE, BUFFERS) it: which line has many rows removed by its filter?",
			"an index on all columns of the condition, then those of ORDER BY",
			"CREATE STATISTICS on the columns, where the planner expects the rows to be common"}}
}

// emptyPages: a table whose rows were deleted keeps its pages, and every scan reads them.
var emptyPages = cause{
	name: "empty-pages",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			pages := m.delta.Now(counters.Tables, table, "relpages")
			live := m.delta.Now(counters.Tables, table, "n_live_tup")
			planned := m.delta.Now(counters.Tables, table, "reltuples")
			scans := m.delta.Grew(counters.Tables, table, "seq_scan")
			if pages == nil || live == nil || planned == nil || scans == nil || *scans < 1 ||
				*pages < pagesLeast.Value || max(*live, *planned) > rowsOfPage.Value**pages {
				return nil
			}
			u := m.uses(work, statementsOn(table, queries))
			can := *scans * *pages * secondsPerPage.Value / max(m.ledger.TotalS, 1e-9)
			return &Finding{there: true, partial: true, explains: u.statements, Price: new(min(u.share, can)),
				Title:      "The pages of " + table + " are nearly empty, and every scan reads them",
				Statements: m.book.full(u.statements),
				Mechanism: "Vacuum makes the room of deleted rows free for new ones, in the same pages. It gives " +
					"pages back " +
					"only at the end of the file. Rows that are long are stored apart, so that a full page has " +
					"several.",
				Evidence: []string{fmt.Sprintf("%.0f rows in %.0f pages, which %.0f scans read; %s of the time is "+
					"spent on: "+
					"%s", max(*live, *planned), *pages, *scans, human.Percent(u.share), u.largest)},
				Excluded: []string{"dead rows: vacuum has removed them"},
				Next: []string{"VACUUM FULL " + table + "    writes it anew and locks it meanwhile; pg_repack does " +
					"so without",
					"an index for the statement reads the pages alone that have its rows"}}
		})
	},
}
