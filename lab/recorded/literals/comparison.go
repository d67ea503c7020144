package literals

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/postgres/sqltext"
)

// comparison of columns with values. The columns may be one or a row of them, and stand on either side:
//
//	name = 'x'       (a, b) = ('x', 'y')       (a, b) IN (('x', 'y'), ('z', 'w'))
//	'x' = name       ('x', 'y') = (a, b)
type comparison struct {
	bound bool // the column named last, or the row, is compared with, or set to, what comes
	depth int  // within which brackets it was bound

	lists []list // those of brackets that are open
	// row of columns named last; its values stand rowDepth brackets deep, the next one at place.
	row      []string
	rowDepth int
	place    int

	called   bool     // a function has just been named
	function string   // which one
	others   []string // columns named within the brackets of what is compared
	lone     int      // brackets that hold nothing yet: in lower('x') they belong to the value
}

// list is what stands between brackets.
type list struct {
	place        int      // commas so far
	columns      []string // the last name at each place
	values       []string // columns that its values stand for, as the text behind the list says
	function     bool     // they are arguments
	functionName string
}

// words after which a bracket is no list of arguments, though no blank stands between.
var ahead = map[string]bool{"ROW": true, "IN": true, "AND": true, "OR": true, "NOT": true, "WHERE": true, "ON": true,
	"SET": true, "WHEN": true, "HAVING": true, "VALUES": true, "ANY": true, "ALL": true, "SOME": true,
	"BETWEEN": true, "LIKE": true, "ILIKE": true, "ARRAY": true}

// calls says whether a name is that of a function.
func calls(name, after string) bool {
	return strings.HasPrefix(after, "(") && !ahead[strings.ToUpper(name)]
}

// bind what follows; rows of values stand so many brackets deeper.
func (s *scan) bind(deeper int) {
	if s.inRow() { // an expression within a row
		return
	}
	if !s.bound {
		s.bound, s.comparison.depth = true, s.depth
	}
	s.rowDepth = s.comparison.depth + deeper
}

// deeper stand rows in ALL (…), and still deeper in ARRAY[…].
func (s *scan) deeper(word string) {
	switch {
	case !s.bound, s.inRow():
	case word == "ARRAY":
		s.rowDepth++
	default:
		s.bind(binding["ANY"])
	}
}

// inRow says whether a value here is one of a row that a row of columns is compared with.
func (s *scan) inRow() bool { return s.bound && s.row != nil && s.depth >= s.rowDepth }

// names a column within the innermost list.
func (s *scan) names(column string) {
	if len(s.lists) > 0 {
		s.lists[len(s.lists)-1].name(column)
	}
}

func (l *list) name(column string) {
	for len(l.columns) <= l.place {
		l.columns = append(l.columns, "")
	}
	l.columns[l.place] = column
}

func (s *scan) openList(after string) {
	l := list{function: s.called, functionName: s.function}
	switch column := s.ofRowBehind(); {
	case s.bound, s.insert.state == inValues, s.insert.state == wantsRows:
	case s.called && column != "": // ('x', lower('y')) = (a, b)
		l.values = []string{column}
	case !s.called:
		l.values = s.rowBehind(after)
	}
	s.lists, s.called = append(s.lists, l), false
	if s.bound && s.depth == s.rowDepth {
		s.place = 0
	}
}

// closeList: it may have been a row of columns. What a list of arguments names is named in the list around it.
func (s *scan) closeList() {
	if s.depth < s.comparison.depth {
		s.bound = false
	}
	last := len(s.lists) - 1
	if last < 0 {
		return
	}
	l := s.lists[last]
	s.lists = s.lists[:last]
	if len(l.columns) == 0 || s.inRow() {
		return
	}
	s.names(l.columns[len(l.columns)-1])
	if l.place > 0 && !l.function {
		s.row = l.columns
	}
}

// comma ends what was bound, unless it stands in a list of values.
func (s *scan) comma() {
	if len(s.lists) > 0 {
		s.lists[len(s.lists)-1].place++
	}
	if s.inRow() {
		if s.depth == s.rowDepth {
			s.place++
		}
		return
	}
	if s.depth <= s.comparison.depth {
		s.bound = false
	}
	if !s.bound {
		s.row = nil
	}
}

// count the brackets that hold nothing yet.
func (s *scan) count(p sqltext.Part, after string) {
	switch {
	case p.Kind == sqltext.Blank, p.Kind == sqltext.Comment, p.Kind == sqltext.Name && strings.HasPrefix(after, "("):
	case p.Text == "(":
		s.lone++
	default:
		s.lone = 0
	}
}

// compares matches operators whose sides are of one kind.
var compares = regexp.MustCompile(`^(?:=|<>|!=|[<>]=?|!?~~?\*?)$`)

// Words between an operator and the column behind it, and those that stand there instead of one.
var (
	passed = map[string]bool{"NOT": true, "DISTINCT": true, "FROM": true, "TO": true, "ANY": true, "ALL": true,
		"SOME": true, "SELECT": true, "ROW": true}
	nothing = map[string]bool{"NULL": true, "TRUE": true, "FALSE": true, "CASE": true, "ARRAY": true}
)

// behind a value stands the column that it is compared with: 'x' = lower(name).
func (s *scan) behind(rest string) string {
	compared := false
	for closing := s.lone; ; {
		p := s.skip(&rest)
		upper := strings.ToUpper(p.Text)
		switch {
		case p.Text == "" || nothing[upper]:
			return ""
		case compared && (p.Text == "(" || passed[upper] || p.Kind == sqltext.Name && calls(p.Text, rest)):
		case compared && p.Kind == sqltext.Name:
			return s.qualified(p.Text)
		case compared:
			return ""
		case p.Text == ")" && closing > 0:
			closing--
		case compares.MatchString(p.Text) || p.Kind == sqltext.Name && binding[upper] > 0:
			compared = true
		case upper != "NOT":
			return ""
		}
	}
}

// ofRowBehind is the column of a value of a row that stands left of its columns.
func (s *scan) ofRowBehind() string {
	if len(s.lists) == 0 {
		return ""
	}
	l := s.lists[len(s.lists)-1]
	return at(l.values, l.place)
}

func at(columns []string, place int) string {
	if place < len(columns) {
		return columns[place]
	}
	return ""
}

// rowBehind the row of values that begins here are the columns that it is compared with; nil: it is none.
func (s *scan) rowBehind(rest string) []string {
	first := s.skip(&rest)
	if !slices.Contains([]sqltext.Kind{sqltext.String, sqltext.Number, sqltext.Parameter}, first.Kind) {
		return nil
	}
	if places, whole := s.list(&rest); !whole || len(places) < 2 || !compares.MatchString(s.skip(&rest).Text) {
		return nil
	}
	p := s.skip(&rest)
	if strings.EqualFold(p.Text, "ROW") {
		p = s.skip(&rest)
	}
	if p.Text != "(" {
		return nil
	}
	columns, whole := s.list(&rest)
	if !whole {
		return nil
	}
	return columns
}

// list takes one up to its end, with the last name at each of its places.
func (s *scan) list(rest *string) (columns []string, whole bool) {
	l := list{columns: []string{""}}
	for depth := 1; depth > 0; {
		switch p := s.skip(rest); {
		case p.Text == "":
			return nil, false
		case p.Text == "(" || p.Text == "[":
			depth++
		case p.Text == ")" || p.Text == "]":
			depth--
		case p.Text == "," && depth == 1:
			l.place++
			l.name("")
		case p.Kind == sqltext.Name && !calls(p.Text, *rest):
			l.name(s.qualified(p.Text))
		}
	}
	return l.columns, true
}

// skip takes the next part that is neither blank nor comment nor cast; an empty one: there is none.
func (s *scan) skip(rest *string) sqltext.Part {
	for *rest != "" {
		if n := len(cast.FindString(*rest)); n > 0 {
			*rest = (*rest)[n:]
			continue
		}
		p := sqltext.First(*rest, s.Escapes)
		*rest = (*rest)[len(p.Text):]
		if p.Kind != sqltext.Blank && p.Kind != sqltext.Comment {
			return p
		}
	}
	return sqltext.Part{}
}
