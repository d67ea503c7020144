package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Names of remarks, which are names of findings where they are strong.
const (
	IndexNotUsed  = "index-not-used"
	FilterRemoves = "filter-removes-nearly-everything"
	AllPartitions = "partitions-not-pruned"
	DeepOffset    = "deep-offset"
	Spills        = "would-spill"
	Compiles      = "would-be-compiled"
	RowsWrong     = "estimates-are-wrong"
	ScanInLoop    = "scan-in-a-loop"
)

// rowsLeast of a table: the scan of fewer costs nothing.
const rowsLeast = 5000

// partMost of a table: an index on a condition that keeps more than this is not expected to be used.
const partMost = 0.05

// unused looks for an index of the table that begins with a column of the condition and cannot serve it. Expected is
// the part of the rows that the planner expects the condition to keep; below 0: not known. Text is the statement.
func (t *Table) unused(condition, text string, settings map[string]string, expected float64) *Remark {
	for _, index := range t.indexes {
		column := t.column(index.First)
		if column == nil {
			continue
		}
		u, found := usesOf(condition, column.Name)
		if !found {
			continue
		}
		if m := collated.FindStringSubmatch(text); m != nil { // a plan does not show that of a parameter
			u.collate = m[1]
		}
		if !column.converts(u.cast) {
			u.cast = ""
		}
		if why, next := index.reason(t, *column, u, condition, settings, expected); why != "" {
			return &Remark{Name: IndexNotUsed, Table: t.Name, Index: index.Name, Strong: true,
				Text: fmt.Sprintf("index %s of %s begins with %s, and is not used: "+
					"%s", index.Name, t.Name, column.Name, why),
				Next: next}
		}
	}
	return nil
}

func (t *Table) column(name string) *tableColumn {
	for i := range t.columns {
		if t.columns[i].Name == name && name != "" {
			return &t.columns[i]
		}
	}
	return nil
}

// served: another index of the table has this function, or this one's own words.
func (t *Table) served(function string) bool {
	for _, index := range t.indexes {
		if strings.Contains(index.Expressions, function+"(") {
			return true
		}
	}
	return false
}

// reason why an index cannot serve a condition on its first column, and what to do.
func (i tableIndex) reason(t *Table, c tableColumn, u use, condition string, settings map[string]string,
	expected float64) (why string, next []string) {
	again := "EXPLAIN the statement again: does it use " + i.Name + " then?"
	like := strings.HasPrefix(u.operator, "~~") || strings.HasSuffix(u.operator, "like")
	switch {
	case !i.Valid:
		return "it is invalid, as CREATE INDEX CONCURRENTLY leaves one that failed",
			[]string{"REINDEX INDEX CONCURRENTLY " + i.Name, again}
	case u.function != "" && !t.served(u.function):
		return fmt.Sprintf("the condition is on %s(%s), not on the column", u.function, c.Name),
			[]string{"compare the column itself, with a range or with what the function makes of the value",
				fmt.Sprintf("or CREATE INDEX CONCURRENTLY ON %s (%s(%s))    if the function is "+
					"immutable", t.Name, u.function,
					c.Name), again}
	case u.cast != "" && u.function == "":
		return fmt.Sprintf("the column, of type %s, is converted to %s for each row", c.Type, u.cast),
			[]string{fmt.Sprintf("give the value the type of the column: = $1::%s; drivers that send numbers as "+
				"numeric "+
				"or text need it", c.Type), again}
	case u.sum != "" && !u.bare():
		return fmt.Sprintf("the condition computes with %s (%s …)", c.Name, u.sum),
			[]string{"compute with the value, not with the column", again}
	case !u.bare():
		return "", nil
	case switchedOff(settings) != "":
		return "the planner may not use one: " + switchedOff(settings) + " is off for this role and database",
			[]string{"find who set it: SELECT * FROM pg_db_role_setting; SHOW " + switchedOff(settings),
				"ALTER ROLE … RESET " + switchedOff(settings) + "    or in the database or file that has it", again}
	case u.operator == "ilike" || u.operator == "~~*":
		return "ILIKE is not served by " + i.Method, []string{
			fmt.Sprintf("CREATE EXTENSION pg_trgm; CREATE INDEX CONCURRENTLY ON %s USING gin (%s gin_trgm_ops)", t.Name,
				c.Name), again}
	case like && i.Method == "btree" && !strings.Contains(i.Ops, "pattern_ops") && !plainLocale(i.Locale):
		return fmt.Sprintf("its operator class %s under the collation %s serves no LIKE", i.Ops, i.Locale), []string{
			fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s text_pattern_ops)", t.Name, c.Name), again}
	case like && (strings.Contains(condition, "'%") || strings.Contains(condition, "'_")):
		return "the pattern begins with a wildcard", []string{
			fmt.Sprintf("CREATE EXTENSION pg_trgm; CREATE INDEX CONCURRENTLY ON %s USING gin (%s gin_trgm_ops)", t.Name,
				c.Name), again}
	case u.collate != "" && c.Plain && !strings.EqualFold(u.collate, i.Collation):
		return fmt.Sprintf("the condition compares under the collation %s, the index is under %s", u.collate,
				cmp.Or(i.Collation, "that of the database")), []string{
				fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s COLLATE \"%s\")", t.Name, c.Name, u.collate), again}
	case i.Method == "hash" && u.operator != "=":
		return "a hash index serves equality alone", []string{
			fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s)", t.Name, c.Name), again}
	case i.Partial != "":
		return "it is partial, and the condition does not imply " + i.Partial, []string{
			"repeat the predicate in the statement's condition, with the same constants", again}
	case expected >= 0 && expected < partMost && u.operator == "=" && dear(settings):
		return "random_page_cost is " + settings["random_page_cost"] + ", so that a scan seems cheaper", []string{
			"SET random_page_cost = 1.1    on an SSD, or where the table is in memory", again}
	}
	return "", nil
}

// switchedOff is a setting of the planner without which an index is not used; empty: none is off.
func switchedOff(settings map[string]string) string {
	for _, name := range []string{"enable_indexscan", "enable_bitmapscan", "enable_indexonlyscan"} {
		if settings[name] == "off" {
			return name
		}
	}
	return ""
}

// dear: an index seems dear to the planner.
func dear(settings map[string]string) bool {
	const usual = 4
	cost, err := strconv.ParseFloat(settings["random_page_cost"], 64)
	return err == nil && cost > usual
}

// plainLocale sorts by bytes, so that a prefix is a range.
func plainLocale(name string) bool {
	return name == "C" || name == "POSIX" || strings.HasPrefix(name, "C.")
}
