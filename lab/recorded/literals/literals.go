// Package literals finds the values in a statement - literals, numbers, parameters - with the column that each stands
// for, as far as the text says it, and puts others in their place.
package literals

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/ground/postgres/sqltext"
)

// Value in a statement.
type Value struct {
	Column string // "table.column", or a column alone; "" where the text does not say it
	Text   string
	Number bool // a bare number
	// Comment: it is one, which may hold what no column has.
	Comment bool
	// Others are columns that are named beside that one, so that it may stand for them as well: name IN (other, 'x').
	Others []string
	// Function that it is an argument of, in lower case; "": none.
	Function string
	// Cast: it is cast to bytes, times, a number or the like.
	Cast bool
	// Unseen parameter: the statement, which may be cut off, does not have it.
	Unseen bool
}

// Finder finds the values of statements.
type Finder struct {
	// Escapes says that backslashes escape within plain literals, as they do in the sessions of a 1C server.
	Escapes bool
	// Columns of a table in their order, for INSERT without a list; nil: they are not known.
	Columns func(table string) []string
	// Casts: literals that are cast to bytes or times are given, too; else they are left alone.
	Casts bool
}

// Replace values by what do gives for them. Parameters, of which values are those of $1, $2, …, are changed in place.
// One that stands for several columns gets what do gives for the first of them that changes it.
func (f Finder) Replace(text string, values []*string, do func(Value) string) string {
	s := &scan{Finder: f, do: do, text: text, values: values, done: make([]bool, len(values)), aliases: aliasesIn(text),
		seen: make([]bool, len(values)), given: append([]*string(nil), values...), code: code.MatchString(text)}
	out := s.all()
	for i := range values {
		if !s.done[i] {
			s.parameter(i, Value{Unseen: !s.seen[i]}) // that no column is known for
		}
	}
	return out
}

// Names in a statement: the tables that it speaks of, and what may be columns, as Value has them.
func Names(text string, escapes bool) (tables, columns []string) {
	s := &scan{aliases: aliasesIn(text)}
	for p := range sqltext.Parts(text, escapes) {
		if p.Kind == sqltext.Name {
			columns = append(columns, s.qualified(p.Text))
		}
	}
	return tablesIn(text), columns
}

// code matches statements whose dollar quotes hold code.
var code = regexp.MustCompile(`(?i)^\s*(?:DO\b|CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\b)`)

// scan goes through a statement, and knows which column a literal stands for.
type scan struct {
	Finder
	do      func(Value) string
	text    string
	values  []*string
	given   []*string // values as they were
	done    []bool
	seen    []bool
	code    bool              // dollar quotes hold code
	aliases map[string]string // tables by alias
	out     strings.Builder

	subject string // the column named last
	between bool   // the next AND does not end what is bound
	last    string // the word before this one
	depth   int
	insert  insert
	comparison
}

// insert is INSERT INTO t (a, b) VALUES (…), (…) or INSERT INTO t (a, b) SELECT …: a literal's column is that of its
// place.
type insert struct {
	table   string
	columns []string
	state   insertState
	depth   int // within which a row's values stand
	place   int
	at      int  // where INTO stands
	with    bool // WITH stands before its SELECT
	selects bool // its SELECT has come
	merges  bool // of a MERGE, whose INSERT comes later and names no table
}

type insertState int

const (
	none insertState = iota
	wantsTable
	hasTable  // a list of columns may come
	inColumns // in that list
	wantsRows
	inValues
	inSelect // in the list of a SELECT
)

var (
	cast      = regexp.MustCompile(`^::\s*[\p{L}_][\p{L}\d_.]*(?:\(\d+(?:,\s*\d+)?\))?`)
	castAhead = regexp.MustCompile(`(?i)^\s*::\s*(bytea|timestamp|date|time|interval|uuid)`)
	// castParameter also to what no text is: a parameter has no quotes that would tell.
	castParameter = regexp.MustCompile(`(?i)^\s*::\s*(?:bytea|timestamp|date|time|interval|uuid|small|integer|int|` +
		`bigint|numeric|decimal|real|double|float|bool|oid|reg|money|bit|inet|cidr)`)
)

// keywords that bind what follows to the column before them, and how many brackets deeper rows of values stand.
var binding = map[string]int{"LIKE": 1, "ILIKE": 1, "BETWEEN": 1, "SIMILAR": 1, "IS": 1, "DISTINCT": 1,
	"IN": 2, "ANY": 2}

// keywords that are neither columns nor end what is bound.
var neutral = map[string]bool{
	"NOT": true, "TO": true, "CAST": true, "AS": true, "NULL": true, "TRUE": true, "FALSE": true, "E": true,
	"ESCAPE": true, "ROW": true,
}

func (s *scan) all() string {
	for at := 0; at < len(s.text); {
		at += s.next(s.text[at:])
	}
	return s.out.String()
}

// next part of the statement, and how long it is.
func (s *scan) next(rest string) int {
	if n := len(cast.FindString(rest)); n > 0 { // whose numbers are no values
		s.out.WriteString(rest[:n])
		return n
	}
	p := sqltext.First(rest, s.Escapes)
	after := rest[len(p.Text):]
	text := p.Text
	switch p.Kind {
	case sqltext.String:
		text = s.literal(p, after)
	case sqltext.Comment:
		text = s.do(Value{Text: text, Comment: true})
	case sqltext.Number:
		text = s.do(Value{Column: s.column(after), Text: text, Number: true, Others: s.others})
	case sqltext.Parameter:
		v := s.value("", after)
		v.Cast = castParameter.MatchString(after)
		number, err := strconv.Atoi(text[1:])
		if err == nil && number > 0 && number <= len(s.seen) {
			s.seen[number-1] = true
		}
		if err == nil && (v.Column != "" || v.Cast || v.Function != "") {
			s.parameter(number-1, v)
		}
	case sqltext.Name:
		if s.called = calls(text, after); s.called {
			s.function = bare(text)
		}
		if !s.called || !s.bound {
			s.word(text)
		}
	case sqltext.Symbol:
		s.symbol(text, after)
	}
	s.count(p, after)
	s.out.WriteString(text)
	return len(p.Text)
}

func (s *scan) symbol(text, after string) {
	switch text {
	case "(", "[":
		s.depth++
		s.openList(after)
		if text == "(" {
			s.opens()
		}
	case ")", "]":
		s.closes()
		s.depth--
		s.closeList()
		if s.depth < s.insert.at {
			s.insert = insert{}
		}
	case ";":
		s.insert = insert{}
	case ",":
		if (s.insert.state == inValues || s.insert.state == inSelect) && s.depth == s.insert.depth {
			s.insert.place++
		}
		s.comma()
	default:
		if strings.ContainsAny(text, "=<>~") {
			s.bind(1)
		}
	}
}

func (s *scan) word(text string) {
	upper, last := strings.ToUpper(text), s.last
	s.last = upper
	s.selecting(upper, last)
	switch {
	case upper == "INTO" || s.insert.state == wantsTable:
		if upper == "INTO" {
			s.insert = insert{state: wantsTable, at: s.depth}
			return
		}
		s.insert.table, s.insert.state = bare(text), hasTable
		return
	case s.insert.state == inColumns:
		s.insert.columns = append(s.insert.columns, bare(text))
		return
	case upper == "VALUES" && s.insert.table != "" && !s.insert.with && !s.insert.selects:
		s.whole()
		s.insert.state = wantsRows
		return
	case s.inRow() && upper != "SELECT", upper == "VALUES" && s.bound:
		return
	case upper == "RETURNING" || upper == "SELECT" && s.insert.state != inSelect ||
		upper == "ON" && s.insert.state == wantsRows:
		// A subquery within a row of values is not the SELECT of the INSERT, nor is one within it.
		s.insert.selects = s.insert.selects || s.insert.state == inValues
		s.insert.state = none
	case binding[upper] > 0:
		s.bind(binding[upper])
		s.between = upper == "BETWEEN"
		return
	case upper == "ALL" || upper == "SOME" || upper == "ARRAY":
		s.deeper(upper)
		return
	case upper == "FROM" && last == "DISTINCT": // a IS DISTINCT FROM
		return
	case s.between && upper == "AND":
		s.between = false
		return
	case neutral[upper]:
		return
	case s.bound && s.depth > s.comparison.depth && upper != "SELECT": // it stands beside what is compared
		if !passing[upper] {
			s.others = append(s.others, s.qualified(text))
			s.names(s.qualified(text))
		}
		return
	}
	s.others = nil
	s.subject, s.bound, s.row = s.qualified(text), false, nil
	s.names(s.subject)
}

// passing are words within brackets that are no columns.
var passing = map[string]bool{"CASE": true, "WHEN": true, "THEN": true, "ELSE": true, "END": true, "AND": true,
	"OR": true, "VALUES": true}

// ends are words behind the list of a SELECT.
var ends = map[string]bool{"FROM": true, "WHERE": true, "GROUP": true, "HAVING": true, "WINDOW": true, "UNION": true,
	"INTERSECT": true, "EXCEPT": true, "ORDER": true, "LIMIT": true, "OFFSET": true, "FETCH": true, "FOR": true,
	"ON": true, "RETURNING": true}

// selecting follows the SELECT of an INSERT, each of its branches, and where their lists end. What a deeper SELECT has
// no column for stands for that of its place as well.
func (s *scan) selecting(upper, last string) {
	i := &s.insert
	if i.table == "" {
		return
	}
	if i.state == inColumns && (upper == "SELECT" || upper == "WITH" || upper == "VALUES") { // INTO t (SELECT …)
		i.state, i.columns = none, nil
	}
	switch {
	case upper == "USING" && i.state == hasTable:
		i.state, i.merges = none, true
	case upper == "INSERT" && i.merges:
		i.state, i.columns = hasTable, nil
	case i.merges:
	case upper == "WITH" && !i.selects && i.state != wantsRows && i.state != inValues:
		i.with = true
		if i.state == hasTable {
			i.state = none
		}
	case upper == "SELECT" && i.state != wantsRows && i.state != inValues &&
		(i.selects && s.depth == i.depth || !i.selects && (!i.with || s.depth == i.at)):
		s.whole()
		i.state, i.selects, i.depth, i.place = inSelect, true, s.depth, 0
		s.bound = false
	case i.state == inSelect && s.depth == i.depth && ends[upper] && !(upper == "FROM" && last == "DISTINCT"):
		i.state = none
	}
}

// whole list of columns of an INSERT that has none.
func (s *scan) whole() {
	if s.insert.columns == nil && s.Columns != nil {
		s.insert.columns = s.Columns(s.insert.table)
	}
}

// bare name of a table or column: in lower case, without schema and quotes.
func bare(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, `"`, ""))
	return name[strings.LastIndexByte(name, '.')+1:]
}

// qualified name of a column, with its table in place of an alias. Where the table is not known, as that of a subquery,
// it is the column alone.
func (s *scan) qualified(name string) string {
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(name, `"`, "")), ".")
	column, alias := parts[len(parts)-1], ""
	if len(parts) > 1 {
		alias = parts[len(parts)-2]
	}
	if table := s.aliases[alias]; table != "" {
		return table + "." + column
	}
	return column
}

const oneTable = `(?:ONLY\s+)?([\p{L}_"][\p{L}\d_."$]*)(?:\s+(?:AS\s+)?"?([\p{L}_][\p{L}\d_$]*)"?)?`

var (
	named = regexp.MustCompile(`(?i)(\bFOR\s+(?:NO\s+KEY\s+)?)?\b(?:FROM|JOIN|UPDATE|INTO)\s+` + oneTable)
	// further tables of a list, or a subquery.
	further = regexp.MustCompile(`(?i)^\s*,\s*(?:LATERAL\s*)?(?:` + oneTable + `|\()`)
)

// aliasesIn a statement; that of "" is its only table. One that stands for several, as in the parts of a UNION, says
// nothing.
func aliasesIn(text string) map[string]string {
	all, tables := map[string]string{}, map[string]bool{}
	stands := func(alias, table string) {
		if other, known := all[alias]; known && other != table {
			table = ""
		}
		if alias != "" {
			all[alias] = table
		}
	}
	eachTable(text, func(name, alias string) {
		table := bare(name)
		tables[table] = true
		stands(table, table)
		stands(strings.ToLower(alias), table)
	})
	if len(tables) == 1 {
		for table := range tables {
			all[""] = table
		}
	}
	return all
}

// tablesIn a statement, in the order in which it names them first. A subquery is the table "".
func tablesIn(text string) (all []string) {
	eachTable(text, func(name, _ string) {
		if table := bare(name); !slices.Contains(all, table) {
			all = append(all, table)
		}
	})
	return all
}

// eachTable behind FROM, JOIN, UPDATE or INTO, with its alias.
func eachTable(text string, do func(name, alias string)) {
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		if at[2] >= 0 { // FOR UPDATE OF names what is locked
			continue
		}
		part := func(n int) string { return text[max(at[n], 0):max(at[n+1], 0)] }
		do(part(4), part(6))
		for rest := text[at[1]:]; ; {
			m := further.FindStringSubmatch(rest)
			if m == nil {
				break
			}
			do(m[1], m[2])
			rest = rest[len(m[0]):]
		}
	}
}

func (s *scan) opens() {
	switch s.insert.state {
	case hasTable:
		s.insert.state, s.insert.depth = inColumns, s.depth
	case wantsRows:
		s.insert.state, s.insert.depth, s.insert.place = inValues, s.depth, 0
	}
}

func (s *scan) closes() {
	if s.depth != s.insert.depth {
		return
	}
	switch s.insert.state {
	case inColumns, inSelect:
		s.insert.state = none
	case inValues:
		s.insert.state = wantsRows
	}
}

// column that a value here stands for; after is the text behind the value.
func (s *scan) column(after string) string {
	switch in := s.insert; {
	case in.state == inValues && in.place < len(in.columns):
		return in.table + "." + in.columns[in.place]
	case in.state == inValues:
		return ""
	case s.inRow():
		return at(s.row, s.place)
	case s.bound:
		return s.subject
	}
	if column := s.ofRowBehind(); column != "" {
		return column
	}
	if column := s.behind(after); column != "" {
		return column
	}
	if in := s.insert; in.state == inSelect && in.place < len(in.columns) {
		return in.table + "." + in.columns[in.place]
	}
	return ""
}

// value here, with all that the text says of it.
func (s *scan) value(text, after string) Value {
	v := Value{Column: s.column(after), Text: text, Others: s.others}
	if n := len(s.lists); n > 0 && s.lists[n-1].function {
		v.Function = s.lists[n-1].functionName
	}
	return v
}

// literal with another value in it.
func (s *scan) literal(p sqltext.Part, after string) string {
	if s.last == "ESCAPE" { // what follows is a sign of the pattern's
		s.last = ""
		return p.Text
	}
	v := s.value(p.Inner(), after)
	v.Cast = castAhead.MatchString(after)
	end := p.Mark
	switch {
	case p.Mark[0] != '$':
		end = "'"
	case s.code && v.Column == "" && !p.Cut:
		return p.Mark + s.Replace(p.Inner(), nil, s.do) + p.Mark
	}
	if p.Cut { // the server refuses it, too
		end = ""
	}
	switch {
	case v.Cast && !s.Casts:
		return p.Text
	case p.Mark[0] == '$':
		return p.Mark + s.do(v) + end
	}
	return p.Mark + s.other(v, s.Escapes || p.Escapes()) + end
}

// other is what stands in a literal instead, as it is written there.
func (s *scan) other(v Value, escapes bool) string {
	inner := v.Text
	plain := strings.ReplaceAll(inner, "''", "'")
	if escapes {
		plain = escaped.ReplaceAllString(plain, "$1")
	}
	v.Text = plain
	other := s.do(v)
	if other == plain {
		return inner
	}
	other = strings.ReplaceAll(other, "'", "''")
	if escapes {
		other = strings.ReplaceAll(other, `\`, `\\`)
	}
	return other
}

// escaped characters; those of a number or a letter are octal bytes and the like, which stay as they are.
var escaped = regexp.MustCompile(`\\([^0-9a-zA-Z])`)

func (s *scan) parameter(i int, v Value) {
	if i < 0 || i >= len(s.values) || s.given[i] == nil || s.done[i] && *s.values[i] != *s.given[i] {
		return
	}
	s.done[i] = true
	v.Text = *s.given[i]
	other := s.do(v)
	s.values[i] = &other
}
