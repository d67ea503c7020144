package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/lab/diagnose/condition"
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
	AllRows       = "all-rows-aggregated"
	FineStats     = "statistics-too-fine"
	ReadToJoin    = "read-whole-to-join"
)

// rowsLeast of a table: the scan of fewer costs nothing.
const rowsLeast = 5000

// partMost of a table: an index on a condition that keeps more than this is not expected to be used.
const partMost = 0.05

// asked of a table: a condition, and what is known beside it.
type asked struct {
	condition, text string
	settings        map[string]string
	// expected is the part of the rows that the planner expects the condition to keep; below 0: not known.
	expected float64
	generic  bool // the plan is for any values
	volatile map[string]bool
	given    *float64 // rows that a call has; nil: not known
	rows     float64  // of the table
}

// unused looks for an index of the table that begins with a column of the condition and does not serve it.
func (t *Table) unused(q asked) *Remark {
	for _, index := range t.Indexes {
		column := t.Column(index.First)
		if column == nil {
			continue
		}
		if why, next := index.besides(*column, q); why != "" {
			return t.notUsed(index, why, next)
		}
		u, found := condition.Of(q.condition, column.Name)
		if !found {
			continue
		}
		if asks := condition.Collation(q.text); asks != "" { // a plan does not show that of a parameter
			u.Collate = asks
		}
		if !column.converts(u.Cast) {
			u.Cast = ""
		}
		if why, next := index.reason(t, *column, u, q); why != "" {
			return t.notUsed(index, why, next)
		}
	}
	return nil
}

var (
	sortsFew = regexp.MustCompile(`(?is)\border\s+by\s+(?:"?\w+"?\.)?"?(\w+)"?[^()]*\b(?:limit|fetch)\b`)
	differs  = regexp.MustCompile(`(?:"?\w+"?\.)?"?(\w+)"?(?:::[\w ]+)?\)?\s*(?:<>|!=|\bnot\s+in\b)`)
)

// besides a condition on the index's first column: why the index does not serve what the statement asks for.
func (i Index) besides(c Column, q asked) (why string, next []string) {
	if i.Method == "gin" && regexp.MustCompile(`(?i)=\s*any\s*\(\s*(?:"?\w+"?\.)?"?`+regexp.QuoteMeta(c.Name)+
		`"?\s*\)`).MatchString(q.condition) {
		return "value = ANY (" + c.Name + ") is no operator of GIN", []string{
			c.Name + " @> ARRAY[value]    is one, and finds the same rows"}
	}
	if i.Partial == "" {
		return "", nil
	}
	key, kept := sortsFew.FindStringSubmatch(q.text), differs.FindStringSubmatch(q.condition)
	if key != nil && key[1] == c.Name && kept != nil && names(i.Partial, kept[1]) {
		return "it is partial, and the condition does not imply " + i.Partial, []string{
			"ask for the rows of the predicate with the same words and constants; or an index whose predicate is " +
				"this condition"}
	}
	return "", nil
}

// names says that a column is in an expression.
func names(expression, column string) bool {
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(column) + `\b`).MatchString(expression)
}

var (
	qualified = regexp.MustCompile(`(?i)"?(\w+)"?\.("?[a-z_]\w*"?)\b`)
	orWord    = regexp.MustCompile(`(?i)\bor\b`)
)

// overTables says that a condition joins by OR what it asks of one table with what it asks of another.
func overTables(where string) bool {
	_, of, found := condition.CutFold(where, "where")
	if !found {
		of = where
	}
	var all []string // the one table of each part
	for _, part := range orWord.Split(of, -1) {
		var tables []string
		for _, m := range qualified.FindAllStringSubmatch(part, -1) {
			tables = append(tables, strings.ToLower(m[1]))
		}
		slices.Sort(tables)
		if tables = slices.Compact(tables); len(tables) != 1 {
			return false
		}
		all = append(all, tables[0])
	}
	slices.Sort(all)
	return len(slices.Compact(all)) > 1
}

func (t *Table) notUsed(i Index, why string, next []string) *Remark {
	return &Remark{Name: IndexNotUsed, Table: t.Name, Index: i.Name, Strong: true, Why: why,
		Text: fmt.Sprintf("index %s of %s begins with %s, and is not used: %s", i.Name, t.Name, i.First, why),
		Next: append(next, "EXPLAIN the statement again: does it use "+i.Name+" then?")}
}

// WhyUnused looks in the text of a statement that reads the whole table, and says so, too, where an index begins with a
// column that it compares with a value and no reason is found; nil: there is no such index.
func (t *Table) WhyUnused(text string, settings map[string]string, volatile map[string]bool) *Remark {
	where, found := conditionsOf(text)
	if !found {
		return nil
	}
	if r := t.unused(asked{condition: where, text: text, settings: settings, volatile: volatile,
		expected: -1}); r != nil {
		return r
	}
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	compared := slices.Concat(condition.Columns(text, t.Plain, names, condition.Equals),
		condition.Columns(text, t.Plain, names, condition.Among))
	planner := "the planner thinks that too many rows fit (statistics, costs), or keeps a generic plan of a prepared " +
		"statement"
	if own := ownCosts(settings); own != "" {
		planner = "its role or database has planner costs of its own, by which a scan seems cheaper: " + own
	}
	for _, i := range t.Indexes {
		finds := condition.Index{Name: i.Name, First: i.First, Valid: i.Valid, Partial: i.Partial != ""}
		if finds.Serves(compared) {
			return t.notUsed(i, planner, []string{"EXPLAIN the statement with its values, as its role: SET " +
				"enable_seqscan = off shows whether the index can be used at all", "ANALYZE " + t.Name + "    if the " +
				"rows that EXPLAIN expects are far from those that come"})
		}
	}
	return nil
}

// served: another index of the table has this function, or this one's own words.
func (t *Table) served(function string) bool {
	for _, index := range t.Indexes {
		if strings.Contains(index.Expressions, function+"(") {
			return true
		}
	}
	return false
}

// trigrams find any part of a text.
func trigrams(t *Table, c Column) string {
	return fmt.Sprintf("CREATE EXTENSION pg_trgm; CREATE INDEX CONCURRENTLY ON %s USING gin (%s gin_trgm_ops)    "+
		"finds "+
		"any part of it", t.Name, c.Name)
}

// reason why an index does not serve a condition on its first column, and what to do.
func (i Index) reason(t *Table, c Column, u condition.Use, q asked) (why string, next []string) {
	switch {
	case !i.Valid:
		return "it is invalid, as CREATE INDEX CONCURRENTLY leaves one that failed",
			[]string{"REINDEX INDEX CONCURRENTLY " + i.Name}
	case u.Bare() && overTables(q.condition):
		return "OR joins its condition with one on another table, so that all rows are joined before any is left out",
			[]string{"two SELECTs with UNION, one for each condition: each then finds its rows by its own index"}
	case u.Function != "" && !t.served(u.Function):
		return fmt.Sprintf("the condition is on %s(%s), not on the column", u.Function, c.Name),
			[]string{"compare the column itself, with a range or with what the function makes of the value",
				fmt.Sprintf("or CREATE INDEX CONCURRENTLY ON %s (%s(%s))    if the function is immutable", t.Name,
					u.Function, c.Name)}
	case u.Cast != "" && u.Function == "":
		return fmt.Sprintf("the column, of type %s, is converted to %s for each row", c.Type, u.Cast),
			[]string{fmt.Sprintf("give the value the type of the column: = $1::%s; drivers that send numbers as "+
				"numeric or text need it", c.Type)}
	case u.Sum != "" && !u.Bare():
		return fmt.Sprintf("the condition computes with %s (%s …)", c.Name, u.Sum),
			[]string{"compute with the value, not with the column"}
	case !u.Bare():
		return "", nil
	case keptApart(q.text, t.Plain):
		return "the WITH query that reads the table is MATERIALIZED, so that the condition outside it comes too late",
			[]string{"write NOT MATERIALIZED, or put the condition into the WITH query"}
	case q.volatile[u.Against]:
		return fmt.Sprintf("the condition compares with %s(), which is VOLATILE: it is called again for each "+
				"row", u.Against),
			[]string{"ALTER FUNCTION " + u.Against + " … STABLE    if it gives the same within one statement; " +
				"functions " +
				"are VOLATILE unless they say otherwise", "or compute it first: WHERE … = (SELECT " +
				u.Against + "(…))"}
	case switchedOff(q.settings) != "":
		off := switchedOff(q.settings)
		return "the planner may not use one: " + off + " is off for this role and database",
			[]string{"find who set it: SELECT * FROM pg_db_role_setting; SHOW " + off,
				"ALTER ROLE … RESET " + off + "    or in the database or file that has it"}
	case u.Like():
		return i.unlike(t, c, u, q.condition)
	case u.Collate != "" && c.Plain && !strings.EqualFold(u.Collate, i.Collation):
		return fmt.Sprintf("the condition compares under the collation %s, the index is under %s", u.Collate,
				cmp.Or(i.Collation, "that of the database")), []string{
				fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s COLLATE \"%s\")", t.Name, c.Name, u.Collate)}
	case u.Collate == "" && i.Other && c.Plain:
		return fmt.Sprintf("it is under the collation %s, and the column is compared under its own",
				cmp.Or(i.Collation, "of the database")), []string{fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s)  "+
				"  "+
				"under the collation of the column", t.Name, c.Name)}
	case i.Method == "hash" && u.Operator != "=":
		return "a hash index serves equality alone", []string{
			fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s)", t.Name, c.Name)}
	case i.Partial != "":
		return "it is partial, and the condition does not imply " + i.Partial, []string{
			"repeat the predicate in the statement's condition, with the same constants"}
	case q.anyValue(u):
		return "a generic plan of a prepared statement is for a value of mean frequency, not for the rare ones that " +
				"are looked for", []string{"SET plan_cache_mode = force_custom_plan    for the role of that program: " +
				"each call is then planned for its value",
				"or a partial index on the rare values, whose predicate is in the statement as a constant"}
	case q.expected >= 0 && q.expected < partMost && u.Operator == "=" && dear(q.settings):
		return "random_page_cost is " + q.settings["random_page_cost"] + ", so that a scan seems cheaper", []string{
			"SET random_page_cost = 1.1    on an SSD, or where the table is in memory"}
	}
	return "", nil
}

// anyValue: the plan is for any value, and most of the rows that it expects do not come.
func (q asked) anyValue(u condition.Use) bool {
	if u.Operator != "=" || !strings.Contains(q.text, "$") && !strings.Contains(q.condition, "$") {
		return false
	}
	if q.settings["plan_cache_mode"] == "force_generic_plan" {
		return true
	}
	const fewer = 20
	return q.generic && q.given != nil && q.expected >= partMost && *q.given*fewer <= q.expected*q.rows
}

// unlike says why an index serves no LIKE, or not this one.
func (i Index) unlike(t *Table, c Column, u condition.Use, where string) (why string, next []string) {
	switch {
	case u.Operator == "ilike" || u.Operator == "~~*":
		return "ILIKE is not served by " + i.Method, []string{trigrams(t, c)}
	case i.Method != "btree":
		return "", nil
	case !strings.Contains(i.Ops, "pattern_ops") && !plainLocale(i.Locale):
		return fmt.Sprintf("its operator class %s under the collation %s serves no LIKE", i.Ops, i.Locale), []string{
			fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s text_pattern_ops)    finds beginnings", t.Name, c.Name),
			trigrams(t, c)}
	case strings.Contains(where, "'%") || strings.Contains(where, "'_"):
		return "the pattern begins with a wildcard", []string{trigrams(t, c)}
	}
	return "a LIKE finds rows by it only where the pattern begins with letters that are known when it is planned: " +
			"this " +
			"one begins with a wildcard, or is a parameter of a generic plan", []string{trigrams(t, c),
			"SET plan_cache_mode = force_custom_plan    where the patterns begin with letters"}
}

var materialized = regexp.MustCompile(`(?is)(not\s+)?\bmaterialized\s*\(`)

// keptApart says that a table is read within a WITH query that is MATERIALIZED.
func keptApart(text, table string) bool {
	for _, at := range materialized.FindAllStringSubmatchIndex(text, -1) {
		if at[2] >= 0 {
			continue // NOT MATERIALIZED
		}
		body, depth := text[at[1]:], 1
		for i := range len(body) {
			switch body[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				body = body[:i]
				break
			}
		}
		if regexp.MustCompile(`(?i)[\s".]` + regexp.QuoteMeta(table) + `(?:[^\pL\pN_$]|$)`).MatchString(body) {
			return true
		}
	}
	return false
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

// ownCosts are costs of the planner that a role or database has set; empty: none.
func ownCosts(settings map[string]string) string {
	var all []string
	for _, name := range []string{"random_page_cost", "seq_page_cost", "cpu_index_tuple_cost", "cpu_operator_cost",
		"cpu_tuple_cost", "effective_cache_size"} {
		if value, set := settings[name]; set {
			all = append(all, name+" = "+value)
		}
	}
	return strings.Join(all, ", ")
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
