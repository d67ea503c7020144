package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
)

// ofTables makes a finding of the table with the highest price.
func (m *measured) ofTables(one func(table string) *Finding) (*Finding, string) {
	if why := m.delta.Why(counters.Tables); why != "" {
		return nil, why
	}
	var all []*Finding
	for _, key := range m.delta.Keys(counters.Tables) {
		if f := one(key); f != nil {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, ""
	}
	return slices.MaxFunc(all, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(priceOf(*a), priceOf(*b)), cmp.Compare(b.Title, a.Title))
	}), ""
}

// staleStatistics: the planner relies on figures that are no longer true.
var staleStatistics = cause{
	name:    "stale-statistics",
	healthy: "no table that is used changed much since its last ANALYZE",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			changed := m.delta.Now(counters.Tables, table, "n_mod_since_analyze")
			live := m.delta.Now(counters.Tables, table, "n_live_tup")
			planned := m.delta.Now(counters.Tables, table, "reltuples")
			if changed == nil || live == nil || planned == nil || *changed < deadRowsLeast.Value ||
				*changed < staleRows.Value**live || math.Abs(*live-*planned) < staleRows.Value**live {
				return nil
			}
			u := m.uses(work, statementsOn(table, queries))
			return &Finding{
				Price: new(u.share), Title: "The planner's statistics of " + table + " are stale",
				explains: u.statements,
				Mechanism: "The planner plans for the table as it was at its last ANALYZE. A join that is right for " +
					"ten rows is wrong for a hundred thousand.",
				Evidence: []string{fmt.Sprintf("%.0f of %.0f rows changed since the last ANALYZE, which counted "+
					"%.0f; %s of the time is spent on: %s", *changed, *live, max(0, *planned), human.Percent(u.share),
					nonEmpty(u.largest, "no statement that was seen"))},
				Excluded: []string{"its dead rows are not the reason"},
				Next: []string{"psql -c 'ANALYZE " + table + "', then diagnose again: what remains had another reason",
					"find out why autovacuum did not analyze it: " +
						"autovacuum_analyze_scale_factor, the table's own settings"},
			}
		})
	},
}

// wholeTables are read for a few rows.
var wholeTables = cause{
	name:    "missing-index",
	healthy: "statements do not read whole tables",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			scans := m.delta.Grew(counters.Tables, table, "seq_scan")
			rows := m.delta.Grew(counters.Tables, table, "seq_tup_read")
			if scans == nil || rows == nil || *scans < 1 || *rows < rowsPerScan.Value**scans {
				return nil
			}
			u := m.uses(work, statementsOn(table, queries))
			can := *rows * secondsPerRow.Value / max(m.ledger.TotalS, 1e-9)
			f := &Finding{
				Price: new(min(u.share, can)), Title: "Statements read all of " + table, explains: u.statements,
				Statements: m.book.full(u.statements),
				Mechanism:  "Without an index that fits the condition, every row of the table is read to find a few.",
				Evidence: []string{fmt.Sprintf("%.0f scans read %.0f rows each; %s of the time is spent on: %s", *scans,
					*rows / *scans, human.Percent(u.share), nonEmpty(u.largest, "no statement that was seen"))},
				Excluded: []string{"the table has few dead rows, and its statistics are fresh"},
				Next: []string{"EXPLAIN (ANALYZE, BUFFERS) the statement: a Seq Scan that removes most rows by its " +
					"filter needs an index on the filter's columns",
					"plimsoll advise --for 1m    names the index, if a condition on the columns tells which"},
			}
			f.Evidence = append(f.Evidence, m.within(u.largest)...)
			return f
		})
	},
}

// unusedIndexes are written with every row and never read.
var unusedIndexes = cause{
	name:    "unused-indexes",
	healthy: "no table that is written has many unused indexes",
	find: func(m *measured) (*Finding, string) {
		if why := m.delta.Why(counters.Indexes); why != "" {
			return nil, why
		}
		unused, used := map[string][]string{}, map[string]int{}
		for _, key := range m.delta.Keys(counters.Indexes) {
			scans := m.delta.Now(counters.Indexes, key, "idx_scan")
			unique := m.delta.Now(counters.Indexes, key, "unique")
			table, index := key[:strings.LastIndex(key, ".")], key[strings.LastIndex(key, ".")+1:]
			if scans == nil || unique == nil || *scans > 0 || *unique > 0 {
				used[table]++
				continue
			}
			unused[table] = append(unused[table], index)
		}
		return m.ofTables(func(table string) *Finding {
			n := float64(len(unused[table]))
			if n < unusedMost.Value {
				return nil
			}
			u := m.uses(work, statementsOn(table, writes))
			slices.Sort(unused[table])
			return &Finding{
				Price: new(u.share * n / (n + float64(used[table]) + 1)), explains: u.statements, toLog: true,
				Title: fmt.Sprintf("%.0f indexes of %s are written and never read", n, table),
				Mechanism: "Each new row is entered into each index of its table, and each entry goes into the log, " +
					"too.",
				Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share), u.largest),
					"not read since the statistics began: " + strings.Join(unused[table][:min(5, len(unused[table]))],
						", ")},
				Excluded: []string{"unique indexes are not counted: they enforce uniqueness"},
				Next: []string{"ask who needs them (replicas count their own reads), then DROP INDEX CONCURRENTLY " +
					"one by one and diagnose again"},
			}
		})
	},
}
