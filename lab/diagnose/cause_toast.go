package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
)

// largeValues: values that are stored apart from their rows, in pieces, are put together and unpacked for each row.
var largeValues = cause{
	name: "large-values",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for _, table := range slices.Sorted(maps.Keys(m.inside.Toast)) {
			blocks := m.inside.Toast[table]
			u := m.uses(work, statementsOn(table, queries))
			price := min(u.share, blocks*secondsPerToast.Value/max(m.ledger.TotalS, 1e-9))
			if best != nil && *best.Price >= price || price == 0 || !m.searches(table, u.largest) {
				continue
			}
			best = &Finding{Price: &price, explains: u.statements, Statements: m.book.full(u.statements), partial: true,
				Title: "Statements read large values of " + table + ", which are stored apart (TOAST)",
				Mechanism: "A value of more than 2 kB is cut into pieces in a table of its own, and compressed. " +
					"Whoever " +
					"looks into it, at one field of a document for instance, fetches all pieces and unpacks them, " +
					"for each row again.",
				Evidence: append([]string{fmt.Sprintf("%.0f blocks of values stored apart were touched; %s of the "+
					"time is "+
					"spent on: %s", blocks, human.Percent(u.share), u.largest)}, m.within(u.largest)...),
				Excluded: []string{"not the table's own pages: they are counted by themselves"},
				Next: []string{"a condition inside a document: an index on the expression, or a generated column of " +
					"its " +
					"own", "do not select the large column where it is not shown (SELECT *)",
					"ALTER TABLE … ALTER … SET COMPRESSION lz4    unpacks faster, for rows that are written from " +
						"then on"}}
		}
		return best, ""
	},
}

// searches says that a statement reads many rows of a table to return few: who asks for a document by its key wants all
// of its pieces.
func (m *measured) searches(table, sampled string) bool {
	const many = 10
	if l := m.accountOf(sampled); l != nil && l.PerCall.RowsRead != nil && l.PerCall.Rows != nil {
		return *l.PerCall.RowsRead >= many*max(1, *l.PerCall.Rows)
	}
	scans := valueOr(m.delta.Grew(counters.Tables, table, "seq_scan"), 0)
	scanned := valueOr(m.delta.Grew(counters.Tables, table, "seq_tup_read"), 0)
	found := valueOr(m.delta.Grew(counters.Tables, table, "idx_tup_fetch"), 0)
	return scans > 0 && scanned >= many*scans && scanned > found
}
