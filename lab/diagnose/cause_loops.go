package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/condition"
	"plimsoll/lab/diagnose/plan"
)

// scanInLoop: a small table is read as a whole again and again within one call.
var scanInLoop = cause{
	name: plan.ScanInLoop,
	find: func(m *measured) (*Finding, string) {
		f, _ := m.ofTables(func(table string) *Finding {
			scans := m.delta.Grew(counters.Tables, table, "seq_scan")
			rows := m.delta.Grew(counters.Tables, table, "seq_tup_read")
			if scans == nil || rows == nil || *scans < 1 || *rows >= rowsPerScan.Value**scans {
				return nil // a large table has a finding of its own
			}
			u := m.uses(work, statementsOn(table, queries))
			calls := m.callsOf(u.statements)
			if calls == nil || *calls <= 0 || *scans < scansPerCall.Value**calls {
				return nil
			}
			return &Finding{
				Price: new(min(u.share, *rows*secondsPerRow.Value/max(m.ledger.TotalS, 1e-9))), there: true,
				partial:  true,
				explains: u.statements, Statements: m.book.full(u.statements),
				Title: fmt.Sprintf("%s is read as a whole %.0f times in each call: %s", table, *scans / *calls,
					loopReason(u.largest)),
				Mechanism: "A nested loop reads its inner side once for each row of the outer one. The planner " +
					"chooses it " +
					"for a few rows. It expects too few where columns that say the same are in one condition, for it " +
					"takes them for independent.",
				Evidence: append([]string{fmt.Sprintf("%.0f scans of %.0f rows in %.0f calls at most; %s of the time "+
					"is "+
					"spent on: %s", *scans, *rows / *scans, *calls, human.Percent(u.share), u.largest)},
					m.within(u.largest)...),
				Excluded: []string{"one scan is cheap: the number of scans is the reason"},
				Next: append(m.dependent(u.largest), "EXPLAIN (ANALYZE) it: where are the rows that come many times "+
					"those "+
					"that are expected?", "an index on the joined column of "+table+" makes each turn cheap"),
			}
		})
		return f, ""
	},
}

// loopReason as far as the text tells it.
func loopReason(sql string) string {
	if strings.Contains(strings.ToUpper(sql), "(SELECT") {
		return "a subquery runs for each row"
	}
	return "the planner's estimate of rows is too low"
}

// callsOf statements of the samples; where one is not counted, all transactions are the most; nil: not known.
func (m *measured) callsOf(sampled []string) *float64 {
	sum := 0.0
	for _, text := range sampled {
		l := m.accountOf(text)
		if l == nil || l.Calls == nil {
			if perS := m.transactions(); perS != nil {
				return new(*perS * m.ledger.ObservedS)
			}
			return nil
		}
		sum += *l.Calls
	}
	return &sum
}

// dependent columns: several of one table that a statement compares with values, whose estimates are multiplied.
func (m *measured) dependent(sampled string) (next []string) {
	text := nonEmpty(m.book.fullTexts[sampled], sampled)
	for _, name := range slices.Sorted(maps.Keys(m.tables)) {
		t := m.tables[name]
		var all []string
		for _, c := range t.Columns {
			all = append(all, c.Name)
		}
		if compared := condition.Columns(text, t.Plain, all, condition.Equals); len(compared) > 1 {
			next = append(next, fmt.Sprintf("CREATE STATISTICS … (dependencies, mcv) ON %s FROM %s; ANALYZE %[2]s    "+
				"extended statistics, if these columns depend on each other", strings.Join(compared, ", "), name))
		}
	}
	return next
}
