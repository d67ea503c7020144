package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/sqltext"
	"plimsoll/lab/diagnose/condition"
	"plimsoll/lab/diagnose/plan"
)

// scanned is a table that was read whole.
type scanned struct {
	scans, rows float64
	use         use
	// can is what its scans can take of the time, at most.
	can float64
	// unused is an index that begins with a column which the largest of the statements compares; nil: none.
	unused *plan.Remark
	// all: that statement asks for all rows, or joins them by a column that has an index: none is missing.
	all bool
}

// wholeScan says how a table was read whole for a few rows; nil: it was not.
func (m *measured) wholeScan(table string) *scanned {
	scans := m.delta.Grew(counters.Tables, table, "seq_scan")
	rows := m.delta.Grew(counters.Tables, table, "seq_tup_read")
	if scans == nil || rows == nil || *scans < 1 || *rows < rowsPerScan.Value**scans {
		return nil
	}
	on := statementsOn(table, queries)
	use := m.uses(work, func(sql string) bool { return on(sql) && m.touchesAll(m.accountOf(sql), table) })
	s := &scanned{scans: *scans, rows: *rows, use: use,
		can: *rows * secondsPerRow.Value / max(m.ledger.TotalS, 1e-9)}
	if largest := m.book.full(s.use.statements); len(largest) > 0 {
		s.unused = m.unusedBy(table, s.use.statements[0], largest[0])
		_, _, filters := condition.CutFold(largest[0], "where")
		_, _, joins := condition.CutFold(largest[0], "join")
		s.all = !filters && !joins && !strings.HasSuffix(largest[0], sqltext.CutMark) &&
			m.remarkOn(plan.AllRows, table, s.use.statements[0]) != nil ||
			m.remarkOn(plan.ReadToJoin, table, s.use.statements[0]) != nil || m.joinsByIndex(largest[0], table)
	}
	return s
}

// joinsByIndex says that a statement asks for nothing of a table but the rows that it joins, by a column that an index
// begins with: reading all of them is the planner's choice. It needs no plan, which pg_monitor alone may not ask for.
func (m *measured) joinsByIndex(text, table string) bool {
	t := m.tables[table]
	if t == nil || strings.HasSuffix(text, sqltext.CutMark) {
		return false
	}
	column := condition.JoinedBy(text, t.Plain)
	return slices.ContainsFunc(t.Indexes, func(i plan.Index) bool { return i.FindsAny() && i.First == column })
}

// remarkOn a table by a statement of the samples; nil: there is none.
func (m *measured) remarkOn(name, table, sampled string) *plan.Remark {
	for i := range m.remarks {
		if r := &m.remarks[i]; r.Name == name && r.Table == table && slices.Contains(r.texts, sampled) {
			return &r.Remark
		}
	}
	return nil
}

// unusedBy a statement: an index of the table that it should use, by its plan or else by its text.
func (m *measured) unusedBy(table, sampled, text string) *plan.Remark {
	if r := m.remarkOn(plan.IndexNotUsed, table, sampled); r != nil {
		return r
	}
	if t := m.tables[table]; t != nil {
		return t.WhyUnused(text, m.settingsOf(m.roleOf(sampled)), m.volatile)
	}
	return nil
}

func (s *scanned) evidence() string {
	return fmt.Sprintf("%.0f scans read %.0f rows each; %s of the time is spent on: %s", s.scans, s.rows/s.scans,
		human.Percent(s.use.share), nonEmpty(s.use.largest, "no statement that was seen"))
}

// wholeTables are read for a few rows.
var wholeTables = cause{
	name:    "missing-index",
	text:    true,
	healthy: "no table of more than a few thousand rows is read whole",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			s := m.wholeScan(table)
			if s == nil || s.unused != nil || s.all {
				return nil
			}
			f := &Finding{
				Price: new(min(s.use.share, s.can)), explains: s.use.statements,
				Title: "Statements read all of " + table,
				there: true, partial: s.can > s.use.share,
				Statements: m.book.full(s.use.statements),
				Mechanism:  "Without an index that fits the condition, every row of the table is read to find a few.",
				Evidence:   append([]string{s.evidence()}, m.within(s.use.largest)...),
				Excluded: []string{m.knownOfIndexes(table), "the table has few dead rows, and its statistics are " +
					"fresh"},
				Next: []string{"EXPLAIN (ANALYZE, BUFFERS) the statement: a Seq Scan that removes most rows by its " +
					"filter needs an index on the filter's columns",
					"plimsoll advise --for 1m    names the index, if a condition on the columns tells which"},
			}
			if anyPart(s.use.largest) {
				f.Next = append(f.Next, "LIKE or a regular expression: an index of trigrams finds any part of a text "+
					"(CREATE EXTENSION pg_trgm; USING gin (… gin_trgm_ops)), a usual one beginnings alone")
			}
			return f
		})
	},
}

// anyPart says that a statement looks for a part of a text.
func anyPart(sql string) bool {
	return names(sql, "like") || names(sql, "ilike") || names(sql, "similar")
}

func (m *measured) knownOfIndexes(table string) string {
	if m.tables[table] == nil {
		return "an index that is there and not used: its indexes could not be read, so look at them first"
	}
	return "an index that is there and not used: none begins with a column that the statement compares with a value"
}

// indexNotUsed: a table is read whole though an index begins with a column of the condition.
var indexNotUsed = cause{
	name: plan.IndexNotUsed,
	find: func(m *measured) (*Finding, string) {
		const mechanism = "An index finds values of its column as they are, under its own rules of comparison, and " +
			"where the planner may and wants to use it. Otherwise every row is read."
		found := m.ofRemarks(plan.IndexNotUsed, mechanism)
		byScan, why := m.ofTables(func(table string) *Finding {
			s := m.wholeScan(table)
			if s == nil || s.unused == nil {
				return nil
			}
			return &Finding{
				Price: new(min(s.use.share, s.can)), explains: s.use.statements, there: true,
				partial: s.can > s.use.share, Title: table, Statements: m.book.full(s.use.statements),
				Mechanism: mechanism, remarked: s.unused,
				Evidence: append([]string{s.unused.Text, s.evidence()}, m.narrowing()...), Next: s.unused.Next,
			}
		})
		if found == nil || byScan != nil && priceOf(*byScan) > priceOf(*found) {
			found = byScan
		}
		if found == nil {
			return nil, why
		}
		r := found.remarked
		found.Title = fmt.Sprintf("Index %s of %s is not used: %s", r.Index, r.Table, r.Why)
		found.Excluded = []string{"another index on the same column: it would not be used either"}
		return found, ""
	},
}
