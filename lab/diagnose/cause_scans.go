package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/condition"
)

// scanned is a table that was read whole.
type scanned struct {
	scans, rows float64
	use         use
	// can is what its scans can take of the time, at most.
	can float64
	// index that begins with a column which the statement compares; nil: none. wrapped: within a function or a cast.
	index   *condition.Index
	column  string
	wrapped bool
}

// wholeScan says how a table was read whole for a few rows; nil: it was not.
func (m *measured) wholeScan(table string) *scanned {
	scans := m.delta.Grew(counters.Tables, table, "seq_scan")
	rows := m.delta.Grew(counters.Tables, table, "seq_tup_read")
	if scans == nil || rows == nil || *scans < 1 || *rows < rowsPerScan.Value**scans {
		return nil
	}
	s := &scanned{scans: *scans, rows: *rows, use: m.uses(work, statementsOn(table, queries)),
		can: *rows * secondsPerRow.Value / max(m.ledger.TotalS, 1e-9)}
	s.coveredBy(m.indexed[table], table, m.book.full(s.use.statements))
	return s
}

// coveredBy the index that serves the condition of the largest of the statements, or would without its cast.
func (s *scanned) coveredBy(known indexes, table string, statements []string) {
	if len(statements) == 0 {
		return
	}
	sql, name := statements[0], table[strings.LastIndex(table, ".")+1:]
	compared := slices.Concat(condition.Columns(sql, name, known.columns, condition.Equals),
		condition.Columns(sql, name, known.columns, condition.Among))
	if s.index = condition.Covering(compared, known.all); s.index == nil {
		wrapped := condition.Columns(sql, name, known.columns, condition.Wrapped)
		s.index = condition.Covering(wrapped, known.all)
		s.wrapped = s.index != nil
	}
	if s.index != nil {
		s.column = s.index.First
	}
}

func (s *scanned) evidence() string {
	return fmt.Sprintf("%.0f scans read %.0f rows each; %s of the time is spent on: %s", s.scans, s.rows/s.scans,
		human.Percent(s.use.share), nonEmpty(s.use.largest, "no statement that was seen"))
}

// wholeTables are read for a few rows.
var wholeTables = cause{
	name:    "missing-index",
	healthy: "no table of more than a few thousand rows is read whole",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			s := m.wholeScan(table)
			if s == nil || s.index != nil {
				return nil
			}
			return &Finding{
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
		})
	},
}

func (m *measured) knownOfIndexes(table string) string {
	if _, known := m.indexed[table]; !known {
		return "an index that is there and not used: its indexes could not be read, so look at them first"
	}
	return "an index that is there and not used: none begins with a column that the statement compares with a value"
}

// unusedIndex: a table is read whole though an index begins with the column of the condition.
var unusedIndex = cause{
	name:    "index-not-used",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			s := m.wholeScan(table)
			if s == nil || s.index == nil {
				return nil
			}
			why := "the planner thinks that too many rows fit (statistics, costs), may not use it (enable_indexscan " +
				"of the " +
				"role), or types, collation or operator class do not fit"
			if s.wrapped {
				why = "the condition wraps the column in a function or a cast, which the index does not hold"
			}
			return &Finding{
				Price: new(min(s.use.share, s.can)), explains: s.use.statements, there: true,
				partial: s.can > s.use.share,
				Title: fmt.Sprintf("Statements read all of %s, though index %s begins with %s", table, s.index.Name,
					s.column),
				Statements: m.book.full(s.use.statements),
				Mechanism:  "An index finds a few rows only where the planner can and wants to use it: " + why + ".",
				Evidence:   append([]string{s.evidence()}, m.narrowing()...),
				Excluded:   []string{"a missing index: another one on the same column would not be used either"},
				Next: []string{"EXPLAIN the statement with its values, as its role: SET enable_seqscan = off shows " +
					"whether the " +
					"index can be used at all", "ANALYZE " + table + "    if the rows that EXPLAIN expects are far " +
					"from those " +
					"that come", "write the condition without the cast or function, or make an index on the same " +
					"expression"},
			}
		})
	},
}
