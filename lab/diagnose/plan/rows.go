package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/lab/diagnose/condition"
)

var (
	aggregates = regexp.MustCompile(`(?is)^\s*SELECT\s+(?:count|sum|min|max|avg)\s*\(.*?\)` +
		`(?:\s*,\s*(?:count|sum|min|max|avg)\s*\(.*?\))*(?:\s+(?:AS\s+)?"?\w+"?)?\s+FROM\s+(.*)$`)
	narrowed = regexp.MustCompile(`(?i)\b(where|limit|join|tablesample|fetch)\b|,`)
	extremes = regexp.MustCompile(`(?is)^\s*SELECT\s+(?:min|max)\s*\(\s*[\w".]+\s*\)[^,]*\s+FROM\b`)
)

// allRowsOf a table are counted or added up, without a condition: no index makes that quick.
func allRowsOf(c Context) *Remark {
	m := aggregates.FindStringSubmatch(c.Text)
	if m == nil || narrowed.MatchString(m[1]) || extremes.MatchString(c.Text) {
		return nil
	}
	for _, t := range c.Tables {
		named := regexp.MustCompile(`(?i)^(?:only\s+)?(?:"?[\w$]+"?\.)?"?` + regexp.QuoteMeta(t.Plain) + `"?(?:\s|;|$)`)
		if rows := max(t.Estimated, t.Counted); rows < rowsLeast || !named.MatchString(m[1]) {
			continue
		}
		return &Remark{Name: AllRows, Table: t.Name, Strong: true, Text: fmt.Sprintf("it reads all %.0f rows of %s "+
			"for "+
			"one row: an aggregate without a condition", max(t.Estimated, t.Counted), t.Name),
			Next: []string{"does anybody need the exact number? SELECT reltuples FROM pg_class is an estimate, and " +
				"LIMIT tells whether there is a next page", "or keep the sum in a table that is changed with the rows"}}
	}
	return nil
}

// targetMost of statistics: a million comparisons for each plan of a join.
const targetMost = 1000

// fineStatistics of columns that a statement joins: each plan compares all values of the one with all of the other.
func fineStatistics(c Context) *Remark {
	var columns []string
	table := ""
	for _, name := range sortedNames(c.Tables) {
		t := c.Tables[name]
		for _, column := range t.Columns {
			if column.Target >= targetMost && joins(c.Text, column.Name) {
				columns, table = append(columns, fmt.Sprintf("%s.%s: %d", t.Name, column.Name, column.Target)), t.Name
			}
		}
	}
	if len(columns) == 0 {
		return nil
	}
	return &Remark{Name: FineStats, Table: table, Text: "statistics target of columns that it joins by: " +
		strings.Join(columns, ", "), Next: []string{"ALTER TABLE " + table + " ALTER … SET STATISTICS 100; ANALYZE " +
		table + "    each plan compares fewer values then"}}
}

// joins says that a text compares a column with another one.
func joins(text, column string) bool {
	if u, _ := condition.Of(text, column); u.Operator == "=" && !u.Equal {
		return true
	}
	return regexp.MustCompile(`(?i)\busing\s*\([^)]*\b` + regexp.QuoteMeta(column) + `\b`).MatchString(text)
}

func sortedNames(tables map[string]*Table) (names []string) {
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
