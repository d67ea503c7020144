package construct

import "slices"

// statement is what stands at one level: queries that UNION and its like connect, with what WITH names before them.
type statement struct {
	common    []common
	recursive bool
	queries   []query
	by        []string // union, union all, intersect …: between two queries
}

// common is a query that WITH names.
type common struct {
	name         string
	materialized bool
	cycle        bool // it has CYCLE, which ends a walk in a circle
	inner        *statement
}

// query is one SELECT, INSERT, UPDATE, DELETE or MERGE, by its clauses.
type query struct {
	verb         string // empty: VALUES, or what no verb begins
	distinct, on bool   // DISTINCT, DISTINCT ON

	target, list, from, where, group, having, windows, order, limit, offset, locks, set, values, conflict,
	returning []token

	items    []item // of FROM, with the table that UPDATE or MERGE writes
	windowed bool
	counted  []map[string]bool // tables of the columns of each aggregate with DISTINCT
}

// isQuery says that a group holds a query.
func isQuery(inner []token) bool {
	switch first := wordAt(inner, 0); {
	case first == "select" || first == "with" || first == "values":
		return true
	case len(inner) > 0 && inner[0].text == "(" && isQuery(inner[0].inner):
		return len(inner) == 1 || connects[wordAt(inner, 1)] || wordAt(inner, 1) == "order" ||
			wordAt(inner, 1) == "limit"
	}
	return false
}

var connects = words("union intersect except")

// verbs that a statement may begin with, behind WITH or what it is embedded in.
var verbs = words("select insert update delete merge values")

// parse what stands at one level.
func parse(all []token) (s statement) {
	switch wordAt(all, 0) {
	case "explain", "declare", "create", "prepare":
		begin := slices.IndexFunc(all, func(t token) bool {
			return verbs[t.word] || t.word == "with" || t.text == "(" && isQuery(t.inner)
		})
		if wordAt(all, begin) == "with" && wordAt(all, begin+1) == "hold" { // DECLARE … CURSOR WITH HOLD FOR SELECT
			more := slices.IndexFunc(all[begin+1:], func(t token) bool { return verbs[t.word] || t.word == "with" })
			begin = max(begin+1, begin+1+more)
		}
		all = all[max(0, begin):]
	}
	if wordAt(all, 0) == "with" {
		all = s.with(all[1:])
	}
	begin := 0
	add := func(end int) {
		part := all[begin:end]
		if len(part) > 0 && part[0].text == "(" && isQuery(part[0].inner) {
			inner := parse(part[0].inner)
			s.common, s.by = append(s.common, inner.common...), append(s.by, inner.by...)
			s.queries = append(s.queries, inner.queries...)
			part = part[1:]
		}
		if len(part) > 0 {
			s.queries = append(s.queries, clauses(part))
		}
	}
	for i, t := range all {
		if connects[t.word] {
			add(i)
			begin = i + 1
			by := t.word
			if next := wordAt(all, begin); next == "all" || next == "distinct" {
				if begin++; next == "all" {
					by += " all"
				}
			}
			s.by = append(s.by, by)
		}
	}
	add(len(all))
	return s
}

// with reads the names behind WITH, and returns the rest.
func (s *statement) with(all []token) []token {
	i := 0
	if wordAt(all, 0) == "recursive" {
		s.recursive = true
		i++
	}
	for i < len(all) && !verbs[all[i].word] {
		var c common
		for ; i < len(all) && all[i].text != ","; i++ {
			t := all[i]
			switch {
			case verbs[t.word]:
				if c.inner != nil {
					s.common = append(s.common, c)
				}
				return all[i:]
			case t.word == "materialized":
				c.materialized = wordAt(all, i-1) != "not"
			case t.word == "cycle":
				c.cycle = true
			case c.name == "" && t.name != "":
				c.name = t.name
			case t.text == "(" && c.inner == nil && (isQuery(t.inner) || verbs[wordAt(t.inner, 0)]):
				inner := parse(t.inner)
				c.inner = &inner
			case t.text == "(" && c.inner != nil: // WITH … (SELECT …) UNION …
				s.common = append(s.common, c)
				return all[i:]
			}
		}
		if c.inner != nil {
			s.common = append(s.common, c)
		}
		i++
	}
	return all[min(i, len(all)):]
}

// clauses of one query.
func clauses(all []token) query {
	q := query{}
	if verbs[wordAt(all, 0)] {
		q.verb = all[0].word
	}
	at := &q.list
	for i := 0; i < len(all); i++ {
		t, next := all[i], wordAt(all, i+1)
		writes := q.verb == "insert" || q.verb == "update" || q.verb == "delete" || q.verb == "merge"
		switch {
		case i == 0 && writes:
			at = &q.target
		case t.word == "into" || t.word == "only" && at == &q.target:
		case t.word == "select":
			at = &q.list
			if next == "distinct" {
				q.distinct = true
				if i++; wordAt(all, i+1) == "on" {
					q.on = true
					i += 2
				}
			} else if next == "all" {
				i++
			}
		case t.word == "from" && wordAt(all, i-1) != "distinct":
			at = &q.from
		case t.word == "using" && writes:
			q.from = append(q.from, token{text: ","})
			at = &q.from
		case t.word == "where" && at != &q.conflict:
			at = &q.where
		case t.word == "group" && next == "by", t.word == "order" && next == "by":
			if at = &q.group; t.word == "order" {
				at = &q.order
			}
			i++
		case t.word == "having":
			at = &q.having
		case t.word == "window" && i > 0:
			at = &q.windows
		case t.word == "limit" || t.word == "fetch":
			at = &q.limit
		case t.word == "offset":
			at = &q.offset
		case t.word == "for" && (next == "update" || next == "share" || next == "no" || next == "key"):
			at = &q.locks
		case t.word == "set" && at == &q.target:
			at = &q.set
		case t.word == "values" && (i == 0 || q.verb == "insert" && at == &q.target):
			at = &q.values
		case t.word == "on" && q.verb == "insert" && next == "conflict":
			at = &q.conflict
		case t.word == "when" && q.verb == "merge" && (at == &q.from || at == &q.set):
			at = &q.set
		case t.word == "returning":
			at = &q.returning
		default:
			*at = append(*at, t)
		}
	}
	q.items = items(q.from)
	if q.verb == "update" || q.verb == "merge" {
		q.items = append(items(q.target), q.items...)
	}
	return q
}

// item of a FROM.
type item struct {
	table    string // empty: a function or a subquery
	alias    string // what its columns are called by
	function string
	args     []token
	inner    *statement // a subquery
	lateral  bool
	on       []token
	linked   bool // by USING or NATURAL
	sample   string
}

var joins = words("join inner left right full outer cross natural")

// joinAt a place; left(…) and right(…) are functions.
func joinAt(all []token, i int) bool {
	return joins[all[i].word] && (all[i].word == "join" || i+1 >= len(all) || all[i+1].text != "(")
}

// items of a FROM. Those in parentheses of their own stand among the others.
func items(from []token) (all []item) {
	lateral, linked, open := false, false, true
	add := func(some ...item) {
		if len(some) == 1 {
			some[0].lateral, some[0].linked = lateral, linked
		}
		all = append(all, some...)
		lateral, linked, open = false, false, false
	}
	for i := 0; i < len(from); i++ {
		t := from[i]
		group := i+1 < len(from) && from[i+1].text == "("
		switch {
		case t.text == ",":
			open = true
		case joinAt(from, i):
			linked = linked || t.word == "natural"
			open = open || t.word == "join"
		case t.word == "on" && len(all) > 0:
			end := i + 1
			for end < len(from) && from[end].text != "," && !joinAt(from, end) && from[end].word != "on" {
				end++
			}
			last := &all[len(all)-1]
			last.on = append(last.on, from[i+1:end]...)
			i = end - 1
		case t.word == "using" && group && len(all) > 0:
			all[len(all)-1].linked = true
			i++
		case t.word == "lateral":
			lateral = true
		case t.word == "tablesample" && len(all) > 0:
			all[len(all)-1].sample = wordAt(from, i+1)
			i += 2
		case t.word == "only" || t.word == "as" || t.word == "with" || t.word == "ordinality":
		case t.word == "rows" && wordAt(from, i+1) == "from" && open:
			i++
		case open && t.text == "(" && isQuery(t.inner):
			inner := parse(t.inner)
			add(item{inner: &inner})
		case open && t.text == "(":
			add(items(t.inner)...)
		case open && t.name != "" && group:
			add(item{function: t.name, alias: t.name, args: from[i+1].inner})
			i++
		case open && t.name != "" && !reserved[t.word]:
			add(item{table: t.name, alias: t.name})
		case !open && t.name != "" && !reserved[t.word] && len(all) > 0:
			all[len(all)-1].alias = t.name
		}
	}
	return all
}
