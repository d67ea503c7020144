package construct

import "slices"

// item of a FROM: a function, a subquery, a sample.
func (r *reader) item(q *query, one *item, outside, inside map[string]string) {
	switch {
	case one.function != "":
		if len(columns(one.args)) > 0 && len(q.items) > 1 {
			r.add(rowsMade, one.function)
		} else {
			r.add(rowsOfFunction, one.function)
		}
		r.walk(one.args, place{q: q, inside: inside})
	case one.inner != nil:
		if one.lateral {
			r.add(lateral)
			outside = inside
		}
		r.statement(one.inner, outside, false)
		r.derived(q, one)
	}
	if one.sample == "bernoulli" {
		r.add(sampled)
	}
}

// derived table: what its conditions do not reach into.
func (r *reader) derived(q *query, one *item) {
	for _, inner := range one.inner.queries {
		if inner.windowed && len(q.where) > 0 {
			r.add(windowFiltered)
		}
		if !one.lateral && len(inner.group) > 0 && len(inner.where) == 0 && (len(q.items) > 1 || len(q.where) > 0) {
			r.add(derivedGroups)
		}
		if inner.verb == "values" && len(split(inner.values, ",")) >= listLeast {
			r.add(longList)
		}
	}
}

// joinsLeast tables of one FROM are joined in the order in which they are written (join_collapse_limit is 8).
const joinsLeast = 9

// joined items of a FROM.
func (r *reader) joined(q *query) {
	var all []item
	for _, one := range q.items {
		if one.function == "" && !(one.inner != nil && oneRow(one.inner)) && !(one.table != "" && r.single[one.table]) {
			all = append(all, one)
		}
	}
	if len(all) < 2 {
		return
	}
	r.add(join)
	if len(all) >= joinsLeast {
		r.add(manyJoins)
	}
	conditions := conjuncts(q.where)
	for _, one := range q.items {
		conditions = append(conditions, conjuncts(one.on)...)
	}
	for i, one := range all {
		if i > 0 && !one.linked && !one.lateral {
			r.link(all, i, conditions)
		}
		for _, other := range all[:i] {
			if one.table != "" && one.table == other.table && slices.ContainsFunc(conditions, func(c []token) bool {
				from := tablesOf(c)
				return from[one.alias] && from[other.alias] && before(c)
			}) {
				r.add(selfJoin)
			}
		}
	}
}

// link of two tables by one condition.
type link int

const (
	unlinked link = iota
	byRange
	byOr
	byDistinct
	byEquality
	otherwise // a condition on both that is none of these
)

// link one of some tables with the others.
func (r *reader) link(all []item, i int, conditions [][]token) {
	one, best, computed := all[i], unlinked, false
	touches := func(c []token) bool {
		from := tablesOf(c)
		return from[one.alias] && slices.ContainsFunc(all, func(other item) bool {
			return other.alias != one.alias && from[other.alias]
		})
	}
	own := conjuncts(one.on)
	for _, c := range append(slices.Clone(own), conditions...) {
		how := linkOf(c)
		on := slices.ContainsFunc(own, func(mine []token) bool { return len(mine) > 0 && &mine[0] == &c[0] })
		both := touches(c)
		if !both && !on && (how == unlinked || qualified(c)) {
			continue
		}
		if how == unlinked && (both || !qualified(c)) {
			how = otherwise
		}
		if best = max(best, how); how == byEquality && isComputed(c) {
			computed = true
		}
	}
	switch best {
	case unlinked:
		r.add(product)
	case byOr:
		r.add(joinOr)
	case byDistinct:
		r.add(joinDistinct)
	case byRange:
		r.add(joinRange)
	case byEquality:
		if computed {
			r.add(joinComputed)
		}
	}
}

// qualified says that all columns of a condition have the names of their tables before them.
func qualified(c []token) bool {
	return !slices.ContainsFunc(columns(c), func(t token) bool { return t.table == "" })
}

// isComputed says that a side of a condition is computed: by a cast or a function.
func isComputed(c []token) bool {
	for i, t := range c {
		if t.text == "::" || t.text == "(" && i > 0 && column(c[:i], i-1) && len(columns(t.inner)) > 0 {
			return true
		}
	}
	return false
}

var ranges = words("< > <= >= <> != ~ ~* !~ !~* ~~ ~~* && @> <@ << >> <-> % -|-")

// linkOf a condition that has columns on both sides of its operator.
func linkOf(c []token) link {
	if len(c) == 1 && c[0].text == "(" && !isQuery(c[0].inner) {
		return linkOf(c[0].inner)
	}
	if parts := split(c, "or"); len(parts) > 1 {
		for _, part := range parts {
			if how := linkOf(part); how != unlinked {
				return byOr
			}
		}
		return unlinked
	}
	if parts := split(c, "and"); len(parts) > 1 {
		best := unlinked
		for _, part := range parts {
			best = max(best, linkOf(part))
		}
		return best
	}
	for i, t := range c {
		switch left, right := c[:i], c[i+1:]; {
		case t.word == "distinct" && between(left, right):
			return byDistinct
		case t.text == "=" && between(left, right):
			if has(right, "any", "some", "all") {
				return byRange
			}
			return byEquality
		case (ranges[t.text] || t.word == "between" || t.word == "like" || t.word == "ilike" || t.word == "similar") &&
			between(left, right):
			return byRange
		}
	}
	return unlinked
}

// before says that a condition takes the rows before another one, or behind it.
func before(c []token) bool {
	return linkOf(c) == byRange && slices.ContainsFunc(c, func(t token) bool {
		return t.text == "<" || t.text == ">" || t.text == "<=" || t.text == ">=" || t.word == "between"
	})
}

// between two tables, or, without their names, between two columns.
func between(left, right []token) bool {
	a, b := columns(left), columns(right)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	from, to := tablesOf(left), tablesOf(right)
	return len(from) != 1 || len(to) != 1 || !sameKeys(from, to)
}
