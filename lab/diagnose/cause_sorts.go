package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/condition"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

var (
	sortedBy = regexp.MustCompile(`(?is)\border\s+by\s+(.+?)\s+(?:limit|fetch|offset)\b`)
	windowed = regexp.MustCompile(`(?i)\bover\s*\(`)
	ofEach   = regexp.MustCompile(`(?i)\bselect\s+distinct\s+on\b`)
	bareKey  = regexp.MustCompile(
		`(?i)^(?:"?\w+"?\.)?"?(\w+)"?(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?$`)
)

// firstOfEach group, which is looked for among all rows.
const firstOfEach = "DISTINCT ON"

// sortsAll is what a statement sorts all rows of a table by, without a condition; empty: it does not.
func (m *measured) sortsAll(text, table string) string {
	_, plain, _ := strings.Cut(table, ".")
	for _, level := range condition.Levels(text) {
		if !names(level, plain) || condition.Narrows(level) {
			continue
		}
		if by := sortedBy.FindStringSubmatch(level); by != nil && !m.inOrder(by[1], table) {
			return "ORDER BY " + by[1]
		}
		if windowed.MatchString(level) {
			return "a window function"
		}
		if ofEach.MatchString(level) {
			return firstOfEach
		}
	}
	return ""
}

// liveRows of a table: as they are counted, or, on a standby, as they were estimated.
func (m *measured) liveRows(table string) float64 {
	return max(valueOr(m.delta.Now(counters.Tables, table, "n_live_tup"), 0),
		valueOr(m.delta.Now(counters.Tables, table, "reltuples"), 0))
}

// inOrder says that an index of a table has the order of a sort's keys, by the first of them.
func (m *measured) inOrder(keys, table string) bool {
	key, t := firstKey(keys), m.tables[table]
	if key == nil {
		return false
	}
	apart := nullsApart(key)
	return t == nil || slices.ContainsFunc(t.Indexes, func(i plan.Index) bool {
		return i.Valid && i.First == key[1] && i.NullsApart == apart
	})
}

// firstKey of a sort: its column, direction and place of nulls; nil: it is an expression.
func firstKey(keys string) []string {
	first, _, _ := strings.Cut(keys, ",")
	return bareKey.FindStringSubmatch(strings.TrimSpace(first))
}

// nullsApart says of a key of a sort that its nulls are not where they are by themselves: last, or first where it is
// descending.
func nullsApart(key []string) bool {
	descending, nulls := strings.EqualFold(key[2], "desc"), strings.ToLower(key[3])
	return nulls != "" && (nulls == "first") != descending
}

// sortsForFew: all rows of a table are sorted or ranked, for a few that are wanted.
var sortsForFew = cause{
	name: "all-rows-sorted",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			for _, table := range l.Tables {
				by := m.sortsAll(m.textOf(l), table)
				if by == "" || l.Nested != nil && *l.Nested || l.PerCall.Rows != nil &&
					*l.PerCall.Rows*droppedEach.Value > m.liveRows(table) {
					continue
				}
				if f := m.sortOf(l, table, by); f != nil && (best == nil || *f.Price > *best.Price) {
					best = f
				}
			}
		}
		return best, ""
	},
}

// sortOf all rows of a table by a statement; nil: they are few, or it was not seen.
func (m *measured) sortOf(l *statement.Account, table, by string) *Finding {
	own, rows, calls := m.sampledAs(l.Text), m.liveRows(table), m.callsAtMost(l)
	if rows < rowsDropped.Value || calls == nil {
		return nil
	}
	u := m.uses(work, func(sql string) bool { return slices.Contains(own, sql) })
	price := min(u.share, *calls*rows*secondsPerSorted.Value/
		max(m.ledger.TotalS*m.gotProcessor(), 1e-9)) // with the queue for a processor
	f := &Finding{Price: &price, explains: u.statements, Statements: m.book.full(u.statements), there: true,
		partial: true, Title: fmt.Sprintf("All rows of %s are sorted for a few: %s", table, by),
		Mechanism: "To know the first rows, or the place of one, the server reads, computes and compares all of " +
			"them, in " +
			"each call again. LIMIT does not make that less, and a condition outside of a window does not either.",
		Evidence: append([]string{fmt.Sprintf("%.0f rows in each call; %s of the time is spent on: %s", rows,
			human.Percent(u.share), nonEmpty(u.largest, "no statement that was seen"))}, m.within(u.largest)...),
		Excluded: []string{"not a condition without an index: it has none"},
		Next: []string{"an index in this order, on the same expression: it gives the first rows without a sort",
			"the place of one: count those before it, by an index"}}
	if by == firstOfEach {
		f.Mechanism = "DISTINCT ON reads all rows in their order, and drops all but the first of each group. There " +
			"is no step from one group to the next."
		f.Next = []string{"with a table of the groups: CROSS JOIN LATERAL (SELECT … WHERE group = … ORDER BY … LIMIT " +
			"1), and an index on the group and the order: one look for each group",
			"or keep the newest row of each group in a table of its own"}
	}
	if key := firstKey(strings.TrimPrefix(by, "ORDER BY ")); key != nil && nullsApart(key) {
		f.Next = append([]string{"CREATE INDEX CONCURRENTLY with the same NULLS FIRST or NULLS LAST; or leave it " +
			"out of the statement where the column has no nulls"}, f.Next...)
	}
	if strings.Contains(strings.ToLower(by), "random(") {
		f.Next = []string{"one by chance: WHERE key >= a random number ORDER BY key LIMIT 1, or TABLESAMPLE SYSTEM"}
	}
	return f
}
