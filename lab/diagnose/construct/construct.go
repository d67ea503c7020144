// Package construct reads from the text of a statement, without parsing the whole of SQL, which constructs it has that
// add work to its rows or multiply them: joins, subqueries, recursion, windows, sorts, aggregates, functions. The list
// follows the grammar of SELECT, INSERT, UPDATE, DELETE and MERGE and of expressions in PostgreSQL's documentation, not
// the incidents that were seen. A text says what may take the time; whether it does, figures must say.
package construct

import (
	"slices"
	"strings"
)

// Construct of a statement.
type Construct struct {
	Name    string // as people who know SQL call it
	Why     string // it takes time
	Instead string // what to do
	Weight  Weight
}

// Weight of a construct.
type Weight int

const (
	Usual     Weight = iota // in statements of any kind
	Costly                  // works far more than it shows, where it has many rows
	Avoidable               // and who knows SQL writes it in another way
)

// kind of construct; the most specific first: what is rare in a text says more of it.
type kind int

const (
	product kind = iota
	joinLists
	joinOr
	joinDistinct
	joinRange
	selfJoin
	notIn
	orSubquery
	runningTotal
	countCompared
	recursionCopies
	recursionFiltered
	slidingExtreme
	orderRandom
	keysetOr
	orTables
	optionalOr
	rowsMade
	distinctAggregate
	unionAll
	updateAll
	upsertAll
	offsetRows
	fenced

	recursionOpen
	recursion
	correlated
	orderedSet
	regularExpression
	textSearch
	jsonCondition
	likeness
	encryption
	powers
	arraySearch
	anyPart
	groupingSets
	distinctOn
	distinctJoin
	orderedAggregate
	windowFiltered
	windowSliding
	windowAll
	derivedGroups
	namedTwice
	manyOr
	longList
	manyJoins
	joinComputed
	computedColumn
	nullSafe
	rowsInList
	buildsDocument
	longCase
	sampled
	heldCursor
	orderExpression
	deleteAll

	lateral
	intersects
	buildsList
	windowRunning
	window
	inSelect
	exists
	scalar
	rowsOfFunction
	jsonFields
	hashes
	texts
	dates
	like
	rowComparison
	or
	locks
	upsert
	merge
	copies
	limitAlone
	distinct
	groupBy
	order
	join
	returning
	kinds
)

// reader of a statement.
type reader struct {
	found  map[kind]string
	named  map[string]int  // how often a name stands where a table does
	single map[string]bool // names of WITH that have one row
}

// In a statement: its constructs, the most specific first. The text may be cut, and have $1 or ? in place of values.
func In(sql string) (all []Construct) {
	found := find(sql)
	for k := range kinds {
		if detail, is := found[k]; is {
			c := constructs[k]
			c.Name, c.Why = strings.ReplaceAll(c.Name, "%s", detail), strings.ReplaceAll(c.Why, "%s", detail)
			all = append(all, c)
		}
	}
	return all
}

// find the kinds of a statement's constructs, with what is told of each.
func find(sql string) map[kind]string {
	tokens, cut := read(sql)
	r := &reader{found: map[kind]string{}, named: map[string]int{}, single: map[string]bool{}}
	r.names(tokens)
	s := parse(tokens)
	switch wordAt(tokens, 0) {
	case "copy":
		r.add(copies)
	case "declare":
		if has(tokens, "hold") {
			r.add(heldCursor)
		}
	}
	r.statement(&s, nil, false)
	if cut {
		for _, k := range unlessMore {
			delete(r.found, k)
		}
	}
	return r.found
}

// unlessMore follows: what these lack may stand behind the end of a text that was cut.
var unlessMore = []kind{product, joinOr, joinDistinct, joinRange, updateAll, upsertAll, deleteAll, limitAlone}

// add a construct; of several details the first is kept.
func (r *reader) add(k kind, detail ...string) {
	if _, known := r.found[k]; !known {
		r.found[k] = strings.Join(detail, "")
	}
}

// names that stand where a table does.
func (r *reader) names(all []token) {
	for i, t := range all {
		named := wordAt(all, i+1) == "as" && i+2 < len(all) && all[i+2].group() // WITH … AS (…)
		if t.name != "" && t.table == "" && i > 0 && !named &&
			(all[i-1].word == "from" || all[i-1].word == "join" || all[i-1].text == ",") {
			r.named[t.name]++
		}
		r.names(t.inner)
	}
}

// statement with what it has; recursive: UNION is how it walks. Outside are the tables of the queries around it, by
// what columns are called by.
func (r *reader) statement(s *statement, outside map[string]string, recursive bool) {
	for i := range s.common {
		c := &s.common[i]
		r.single[c.name] = oneRow(c.inner)
	}
	for i := range s.common {
		c := &s.common[i]
		walks := s.recursive && slices.ContainsFunc(c.inner.queries, func(q query) bool { return q.reads(c.name) })
		r.statement(c.inner, outside, walks)
		switch {
		case walks:
			r.recursion(c, s)
		case c.materialized:
			r.add(fenced)
		case r.named[c.name] > 1 && !r.single[c.name] && c.inner.reads():
			r.add(namedTwice)
		}
	}
	for i := range s.queries {
		r.query(&s.queries[i], outside)
	}
	for _, by := range s.by {
		switch {
		case recursive:
		case by == "union":
			r.add(unionAll)
		case !strings.HasSuffix(by, " all"):
			r.add(intersects, strings.ToUpper(by))
		}
	}
}

// oneRow says that a query returns one, or a few: of values, an aggregate of all rows, a page.
func oneRow(s *statement) bool {
	if s == nil || len(s.queries) != 1 {
		return false
	}
	q := s.queries[0]
	if len(q.limit) > 0 {
		return true
	}
	if len(q.from) == 0 {
		return q.verb == "select" || q.verb == "values" && len(split(q.values, ",")) == 1
	}
	for i, t := range q.list {
		if len(q.group) == 0 && aggregates[t.name] && i+1 < len(q.list) && q.list[i+1].text == "(" &&
			wordAt(q.list, i+2) != "over" {
			return true
		}
	}
	return false
}

// reads rows, and writes none.
func (s *statement) reads() bool { return len(s.queries) > 0 && s.queries[0].verb == "select" }

// reads a name in its FROM, or in a subquery there.
func (q *query) reads(name string) bool {
	return slices.ContainsFunc(q.items, func(one item) bool {
		return one.table == name || one.inner != nil && slices.ContainsFunc(one.inner.queries, func(q query) bool {
			return q.reads(name)
		})
	})
}

// query with its clauses.
func (r *reader) query(q *query, outside map[string]string) {
	inside := map[string]string{}
	for alias, table := range outside {
		inside[alias] = table
	}
	for _, one := range q.items {
		if one.alias != "" {
			inside[one.alias] = one.table
		}
	}
	for i := range q.items {
		r.item(q, &q.items[i], outside, inside)
	}
	r.joined(q)
	r.conditions(q)
	r.clauses(q)
	at := place{q: q, inside: inside}
	for _, part := range [][]token{q.group, q.having, q.order, q.limit, q.offset, q.values, q.conflict,
		q.returning} {
		r.walk(part, at)
	}
	at.list = true
	r.walk(q.list, at)
	r.walk(q.set, at)
	at.list, at.where = false, true
	r.condition(q.where, at)
	for i := range q.items {
		r.condition(q.items[i].on, at)
	}
	r.counted(q)
}

// condition with what it has; what OR connects is told apart.
func (r *reader) condition(all []token, at place) {
	for _, one := range conjuncts(all) {
		at.or = len(disjuncts(one)) > 1
		r.walk(one, at)
	}
}

// counted with DISTINCT: lists of two tables that a join multiplies, or one.
func (r *reader) counted(q *query) {
	for i, one := range q.counted {
		r.add(distinctAggregate)
		for _, other := range q.counted[:i] {
			if len(q.items) > 1 && len(one) == 1 && len(other) == 1 && !sameKeys(one, other) {
				r.add(joinLists)
			}
		}
	}
}

func sameKeys(a, b map[string]bool) bool {
	for key := range a {
		if !b[key] {
			return false
		}
	}
	return len(a) == len(b)
}

// clauses of a query that say by themselves what it does.
func (r *reader) clauses(q *query) {
	joined := len(q.items) > 1
	switch {
	case q.on:
		r.add(distinctOn)
	case q.distinct && joined:
		r.add(distinctJoin)
	case q.distinct:
		r.add(distinct)
	}
	switch {
	case has(q.group, "cube", "rollup", "sets"):
		r.add(groupingSets)
	case len(q.group) > 0:
		r.add(groupBy)
	}
	r.sorted(q)
	if len(q.offset) > 0 {
		r.add(offsetRows)
	}
	if q.verb == "select" && len(q.limit) > 0 && len(q.order) == 0 && len(q.items) > 0 {
		r.add(limitAlone)
	}
	if len(q.locks) > 0 {
		r.add(locks)
	}
	switch {
	case q.verb == "update" && len(q.where) == 0 && !joined && len(q.set) > 0:
		r.add(updateAll)
	case q.verb == "delete" && len(q.where) == 0 && !joined && len(q.items) > 0:
		r.add(deleteAll)
	case q.verb == "merge":
		r.add(merge)
	case has(q.conflict, "update") && !has(q.conflict, "where"):
		r.add(upsertAll)
	case len(q.conflict) > 0:
		r.add(upsert)
	}
	if len(q.returning) > 0 {
		r.add(returning)
	}
	if len(split(q.values, ",")) >= listLeast {
		r.add(longList)
	}
}

// sorted by chance, by an expression or by columns. A number is the place of a column.
func (r *reader) sorted(q *query) {
	if len(q.order) > 0 {
		r.add(order)
	}
	for _, key := range split(q.order, ",") {
		computed := false
		each(key, func(t token) {
			if t.name == "random" || t.name == "gen_random_uuid" {
				r.add(orderRandom)
			}
			computed = computed || t.text == "(" || arithmetic[t.text] || t.word == "case"
		})
		if computed && len(q.group) == 0 && len(columns(key)) > 0 {
			r.add(orderExpression)
		}
	}
}

// listLeast values make a list that is data.
const listLeast = 50
