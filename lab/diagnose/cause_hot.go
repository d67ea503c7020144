package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/condition"
)

// notHOT: updates write into every index of their table, for a column that changes all the time is indexed.
var notHOT = cause{
	name: "updates-into-every-index",
	find: func(m *measured) (*Finding, string) {
		if why := m.delta.Why(counters.Indexes); why != "" {
			return nil, why
		}
		return m.ofTables(func(table string) *Finding {
			updated := valueOr(m.delta.Grew(counters.Tables, table, "n_tup_upd"), 0)
			within := valueOr(m.delta.Grew(counters.Tables, table, "n_tup_hot_upd"), 0)
			perS := m.delta.PerSecond(&updated)
			if perS == nil || *perS < updatesLeast.Value || within > updated/2 || m.tables[table] == nil {
				return nil
			}
			u := m.uses(withLog, statementsOn(table, begins("UPDATE", "INSERT", "WITH", "MERGE")))
			changed, unread := m.indexedChanges(table, u.statements)
			if len(changed) == 0 {
				return nil // the pages are full, or the statement was not seen
			}
			n := float64(len(m.tables[table].Indexes))
			f := &Finding{there: true, partial: true, explains: u.statements, toLog: true,
				Title:      "Updates of " + table + " write into every index, and none is heap-only (HOT)",
				Statements: m.book.full(u.statements),
				Mechanism: "An update that changes no indexed column, and finds room in its page, enters no index. " +
					"One " +
					"index on a column that changes makes each update write into all indexes of the table, and into " +
					"the " +
					"log.",
				Evidence: []string{fmt.Sprintf("%.0f updates a second, %s of them heap-only; the table has %.0f "+
					"indexes", *perS,
					human.Percent(within/max(updated, 1)), n), "columns that change are in: " +
					strings.Join(changed, ", "),
					fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share), u.largest)},
				Excluded: []string{"not a lack of room in the pages alone: the changed columns are indexed"},
				Next: []string{"who needs these indexes? SELECT idx_scan FROM pg_stat_user_indexes, also on " +
					"replicas; then " +
					"DROP INDEX CONCURRENTLY", "a column that changes all the time belongs into a table of its own"}}
			if len(unread) > 0 {
				f.Evidence = append(f.Evidence, "not read meanwhile: "+strings.Join(unread, ", "))
				f.Price = new(u.share * (1 - within/max(updated, 1)) * n / (n + 1))
			}
			return f // its price is unknown where all of them are read, too
		})
	},
}

// indexedChanges are the indexes with a column that these statements set, and those of them that nobody read meanwhile.
func (m *measured) indexedChanges(table string, statements []string) (changed, unread []string) {
	t := m.tables[table]
	set := map[string]bool{}
	for _, sql := range m.book.full(statements) {
		for _, c := range t.Columns {
			if setsColumn(sql, c.Name) {
				set[c.Name] = true
			}
		}
	}
	for _, i := range t.Indexes {
		if !slices.ContainsFunc(i.Columns, func(c string) bool { return set[c] }) {
			continue
		}
		changed = append(changed, fmt.Sprintf("%s (%s)", i.Name, strings.Join(i.Columns, ", ")))
		if scans := m.delta.Grew(counters.Indexes, table+"."+i.Name, "idx_scan"); scans != nil && *scans == 0 {
			unread = append(unread, i.Name)
		}
	}
	return changed, unread
}

// setsColumn says that an UPDATE, or the update of a conflict, assigns to a column.
func setsColumn(sql, column string) bool {
	_, assignments, is := condition.CutFold(sql, "set ")
	if !is {
		return false
	}
	assignments, _, _ = condition.CutFold(assignments, " where ")
	return regexp.MustCompile(`(?i)(?:^|[\s(,.])"?` + regexp.QuoteMeta(column) + `"?\s*[=,)]`).MatchString(assignments)
}
