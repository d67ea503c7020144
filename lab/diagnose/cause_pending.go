package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
)

// pendingEntries: a GIN index keeps what was written in a list that every search reads from its begin to its end, until
// vacuum, or a full list, moves it into the index.
var pendingEntries = cause{
	name: "gin-pending-list",
	find: func(m *measured) (*Finding, string) {
		return m.ofTables(func(table string) *Finding {
			t := m.tables[table]
			const twice = 2
			written := valueOr(m.delta.Now(counters.Tables, table, "n_ins_since_vacuum"), 0) +
				valueOr(m.delta.Now(counters.Tables, table, "n_dead_tup"), 0)
			if t == nil || written < pendingLeast.Value {
				return nil
			}
			for _, i := range t.Indexes {
				scans := m.delta.Grew(counters.Indexes, table+"."+i.Name, "idx_scan")
				if !i.Pending || scans == nil || *scans < 1 {
					continue
				}
				u := m.uses(work, statementsOn(table, queries))
				_, usual := m.rowsOf([]string{table})
				usual += *scans * secondsPerCall.Value
				seconds := u.share * m.ledger.TotalS * m.gotProcessor()
				if seconds < twice*usual {
					return nil
				}
				next := []string{fmt.Sprintf("SELECT gin_clean_pending_list('%s')    empties it now; VACUUM %s "+
					"does, too: "+
					"why does autovacuum not come?", i.Name, table), fmt.Sprintf("ALTER INDEX %s SET (fastupdate = "+
					"off), "+
					"or a smaller gin_pending_list_limit: who writes pays then", i.Name)}
				return &Finding{Price: new(u.share * (1 - usual/seconds)), explains: u.statements, there: true,
					partial: true, Statements: m.book.full(u.statements),
					Title: "Each search by the GIN index " + i.Name + " of " + table + " reads its pending list",
					Mechanism: "With fastupdate a GIN index collects what is written in a list, for entering it " +
						"costs " +
						"much. Whoever searches reads all of the list, in no order.",
					Evidence: []string{fmt.Sprintf("%.0f rows were written since the table was vacuumed; %.3g ms "+
						"in each of "+
						"%.0f scans of the index, of which its rows take %.3g at most; %s of the time is spent on: "+
						"%s", written,
						1000*seconds / *scans, *scans, 1000*usual / *scans, human.Percent(u.share), u.largest)},
					Excluded: []string{"not the rows that it finds: they are few"}, Next: next}
			}
			return nil
		})
	},
}
