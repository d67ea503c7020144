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
	explained := map[*Finding]bool{}
	for _, key := range m.delta.Keys(counters.Tables) {
		if f := one(key); f != nil {
			all = append(all, f)
			explained[f] = m.explains(key)
		}
	}
	if len(all) == 0 {
		return nil, ""
	}
	best := slices.MaxFunc(all, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(priceOf(*a), priceOf(*b)), cmp.Compare(b.Title, a.Title))
	})
	switch {
	case best.Price == nil || *best.Price > 0:
	case explained[best]: // what its statements take has a reason already
		best.partial = true
	default: // it is so, and nobody knows what it takes
		return nil, best.Title + "; no statement that was seen reads the table, so that what it takes is not known"
	}
	return best, ""
}

// explains says whether a problem explains statements on a table.
func (m *measured) explains(table string) bool {
	on := statementsOn(table, queries)
	for sql := range m.explained {
		if on(sql) {
			return true
		}
	}
	return false
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
				there: true, partial: true,
				Price: new(u.share), Title: "The planner's statistics of " + table + " are stale",
				explains: u.statements,
				Mechanism: "The planner plans for the table as it was at its last ANALYZE. A join that is right for " +
					"ten rows is wrong for a hundred thousand.",
				Evidence: append([]string{fmt.Sprintf("%.0f of %.0f rows changed since the last ANALYZE, which "+
					"counted "+
					"%.0f; %s of the time is spent on: %s", *changed, *live, max(0, *planned), human.Percent(u.share),
					nonEmpty(u.largest, "no statement that was seen"))}, m.ofTableText(table)...),
				Excluded: []string{"its dead rows are not the reason"},
				Next: []string{"psql -c 'ANALYZE " + table + "', then diagnose again: what remains had another reason",
					"find out why autovacuum did not analyze it: " +
						"autovacuum_analyze_scale_factor, the table's own settings"},
			}
		})
	},
}

// unusedIndexes are written with every row and never read.
var unusedIndexes = cause{
	name:    "unused-indexes",
	healthy: "no table that is written has many unused indexes",
	waste:   true,
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
			log := m.uses(inLog, statementsOn(table, writes)).share * m.logWait().beyond()
			slices.Sort(unused[table])
			return &Finding{
				there: true, partial: true,
				Price:    new((u.share + log) * n / (n + float64(used[table]) + 1)),
				explains: u.statements, toLog: true,
				Title: fmt.Sprintf("%.0f indexes of %s are written and never read", n, table),
				Mechanism: "Each new row is entered into each index of its table, and each entry goes into the log, " +
					"too.",
				Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s; and %s waits for its log beyond a "+
					"usual commit's", human.Percent(u.share), u.largest, human.Percent(log)),
					"not read since the statistics began: " + strings.Join(unused[table][:min(5, len(unused[table]))],
						", ")},
				Excluded: []string{"unique indexes are not counted: they enforce uniqueness"},
				Next: []string{"ask who needs them (replicas count their own reads), then DROP INDEX CONCURRENTLY " +
					"one by one and diagnose again"},
			}
		})
	},
}
