// Package literals finds the values in a statement - literals, numbers, parameters - with the column that each stands
// for, as far as the text says it, and puts others in their place.
package literals

import (
	"regexp"
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
}

// Finder finds the values of statements.
type Finder struct {
	// Escapes says that backslashes escape within plain literals, as they do in the sessions of a 1C server.
	Escapes bool
	// Columns of a table in their order, for INSERT without a list; nil: they are not known.
	Columns func(table string) []string
}

// Replace values by what do gives for them. Parameters, of which values are those of $1, $2, …, are changed in place.
// Literals that are cast to bytes or times are left alone.
func (f Finder) Replace(text string, values []*string, do func(Value) string) string {
	s := &scan{Finder: f, do: do, text: text, values: values, done: make([]bool, len(values)), aliases: aliasesIn(text)}
	out := s.all()
	for i := range values {
		s.parameter(i, "") // that no column is known for
	}
	return out
}

// scan goes through a statement, and knows which column a literal stands for.
type scan struct {
	Finder
	do      func(Value) string
	text    string
	values  []*string
	done    []bool
	aliases map[string]string // tables by alias
	out     strings.Builder

	subject string // the column named last
	between bool   // the next AND does not end what is bound
	last    string // the word before this one
	depth   int
	insert  insert
	comparison
}

// insert is INSERT INTO t (a, b) VALUES (…), (…): a literal's column is that of its place.
type insert struct {
	table   string
	columns []string
	state   insertState
	depth   int // within which a row's values stand
	place   int
}

type insertState int

const (
	none insertState = iota
	wantsTable
	hasTable  // a list of columns may come
	inColumns // in that list
	wantsRows
	inValues
)

var (
	cast      = regexp.MustCompile(`^::\s*[\p{L}_][\p{L}\d_.]*(?:\(\d+(?:,\s*\d+)?\))?`)
	castAhead = regexp.MustCompile(`(?i)^\s*::\s*(bytea|timestamp|date|time|interval|uuid)`)
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
		text = s.do(Value{Column: s.column(after), Text: text, Number: true})
	case sqltext.Parameter:
		if number, err := strconv.Atoi(text[1:]); err == nil && s.column(after) != "" {
			s.parameter(number-1, s.column(after))
		}
	case sqltext.Name:
		if s.called = calls(text, after); !s.called || !s.bound {
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
	case ",":
		if s.insert.state == inValues && s.depth == s.insert.depth {
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
	switch {
	case upper == "INTO" || s.insert.state == wantsTable:
		if upper == "INTO" {
			s.insert = insert{state: wantsTable}
			return
		}
		s.insert.table, s.insert.state = bare(text), hasTable
		return
	case s.insert.state == inColumns:
		s.insert.columns = append(s.insert.columns, bare(text))
		return
	case upper == "VALUES" && s.insert.table != "":
		if s.insert.columns == nil {
			if s.Columns != nil {
				s.insert.columns = s.Columns(s.insert.table)
			}
		}
		s.insert.state = wantsRows
		return
	case s.inRow() && upper != "SELECT", upper == "VALUES" && s.bound:
		return
	case upper == "RETURNING" || upper == "SELECT" || upper == "ON" && s.insert.state == wantsRows:
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
	}
	s.subject, s.bound, s.row = s.qualified(text), false, nil
	s.names(s.subject)
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
	add := func(name, alias string) {
		table := bare(name)
		tables[table] = true
		stands(table, table)
		stands(strings.ToLower(alias), table)
	}
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		if at[2] >= 0 { // FOR UPDATE OF names what is locked
			continue
		}
		part := func(n int) string { return text[max(at[n], 0):max(at[n+1], 0)] }
		add(part(4), part(6))
		for rest := text[at[1]:]; ; {
			m := further.FindStringSubmatch(rest)
			if m == nil {
				break
			}
			add(m[1], m[2])
			rest = rest[len(m[0]):]
		}
	}
	if len(tables) == 1 {
		for table := range tables {
			all[""] = table
		}
	}
	return all
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
	case inColumns:
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
	return s.behind(after)
}

// literal with another value in it.
func (s *scan) literal(p sqltext.Part, after string) string {
	switch {
	case p.Cut: // the server refuses it, too
		return p.Text
	case p.Mark[0] == '$':
		return p.Mark + s.do(Value{Column: s.column(after), Text: p.Inner()}) + p.Mark
	case castAhead.MatchString(after):
		return p.Text
	}
	return p.Mark + s.other(p.Inner(), s.column(after), s.Escapes || p.Escapes()) + "'"
}

// other is what stands in a literal instead, as it is written there.
func (s *scan) other(inner, column string, escapes bool) string {
	plain := strings.ReplaceAll(inner, "''", "'")
	if escapes {
		plain = escaped.ReplaceAllString(plain, "$1")
	}
	other := s.do(Value{Column: column, Text: plain})
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

func (s *scan) parameter(i int, column string) {
	if i < 0 || i >= len(s.values) || s.done[i] || s.values[i] == nil {
		return
	}
	other := s.do(Value{Column: column, Text: *s.values[i]})
	s.values[i], s.done[i] = &other, true
}
