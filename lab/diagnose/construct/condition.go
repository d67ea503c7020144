package construct

// orLeast conditions that OR connects are many.
const orLeast = 5

// conditions of a query, of its joins, too.
func (r *reader) conditions(q *query) {
	all := conjuncts(q.where)
	for _, one := range q.items {
		all = append(all, conjuncts(one.on)...)
	}
	for _, c := range all {
		if parts := disjuncts(c); len(parts) > 1 {
			r.connected(parts)
			for _, part := range parts {
				for _, one := range conjuncts(part) {
					r.alone(one)
				}
			}
			continue
		}
		r.alone(c)
	}
}

// connected by OR.
func (r *reader) connected(parts [][]token) {
	r.add(or)
	if len(parts) >= orLeast {
		r.add(manyOr)
	}
	var of map[string]bool
	greater := map[string]bool{}
	for _, part := range parts {
		if from := tablesOf(part); len(from) == 1 {
			if of != nil && !sameKeys(of, from) {
				r.add(orTables)
			}
			of = from
		}
		if len(part) > 2 && part[0].value && has(part, "is") && wordAt(part, len(part)-1) == "null" {
			r.add(optionalOr)
		}
		if all := conjuncts(part); len(all) == 1 {
			if name, sign := comparison(all[0]); sign == "<" || sign == ">" {
				greater[name] = true
			}
		}
	}
	for _, part := range parts {
		all := conjuncts(part)
		for _, one := range all {
			if name, sign := comparison(one); sign == "=" && greater[name] && len(all) > 1 {
				r.add(keysetOr)
			}
		}
	}
}

// comparison of a column: its name and the sign; empty: it is another condition.
func comparison(c []token) (name, sign string) {
	if len(c) < 3 || !column(c, 0) {
		return "", ""
	}
	switch c[1].text {
	case "=", "<", ">", "<=", ">=":
		return c[0].name, c[1].text
	}
	switch c[1].word {
	case "between", "in":
		return c[0].name, c[1].word
	}
	return "", ""
}

// alone is a condition that nothing connects.
func (r *reader) alone(c []token) {
	for len(c) == 1 && c[0].text == "(" && !isQuery(c[0].inner) {
		c = c[0].inner
	}
	for i, t := range c {
		left, right := c[:i], c[i+1:]
		switch {
		case t.word == "distinct" && wordAt(c, i+1) == "from" && !between(left, right):
			r.add(nullSafe)
		case t.text == "=" || t.text == "<" || t.text == ">" || t.text == "<=" || t.text == ">=" ||
			t.word == "between" || t.word == "in" && wordAt(c, i-1) != "not":
			if i == 1 && c[0].text == "(" && len(split(c[0].inner, ",")) > 1 && t.word == "" {
				r.add(rowComparison)
			}
			if computedSide(left) && len(columns(right)) == 0 || computedSide(right) && len(columns(left)) == 0 {
				r.add(computedColumn)
			}
			return
		}
	}
}

// computedSide of a comparison has a column that is no longer itself: in a function, a cast or a sum.
func computedSide(side []token) bool {
	if len(side) < 2 || len(columns(side)) == 0 {
		return false
	}
	for i, t := range side {
		switch {
		case t.text == "(" && isQuery(t.inner), t.text == "->" || t.text == "->>" || t.text == "[":
			return false
		case t.text == "::" && i > 0 && (column(side, i-1) || side[i-1].group() && len(columns(side[i-1].inner)) > 0):
			return true
		case arithmetic[t.text]:
			return true
		case t.text == "(" && i > 0 && side[i-1].name != "" && !reserved[side[i-1].word] && len(columns(t.inner)) > 0:
			return true
		}
	}
	return false
}

// recursion by WITH: where it ends, and what is done with its rows.
func (r *reader) recursion(c *common, s *statement) {
	r.add(recursion)
	all := false
	for _, by := range c.inner.by {
		all = all || by == "union all"
	}
	if all && !c.cycle && !bounded(c) {
		r.add(recursionOpen)
	}
	for i := range s.queries {
		q := &s.queries[i]
		if !q.reads(c.name) {
			continue
		}
		if len(q.limit) > 0 {
			r.add(recursionFiltered)
		}
		for _, one := range conjuncts(q.where) {
			valued := false
			each(one, func(t token) { valued = valued || t.value })
			if valued {
				r.add(recursionFiltered)
			}
		}
		if counted := func() (is bool) {
			each(q.list, func(t token) { is = is || t.word == "distinct" })
			return is || q.distinct
		}; all && counted() {
			r.add(recursionCopies)
		}
	}
}

// bounded recursion has a condition in its own step that is no mere link: a depth, or the path so far.
func bounded(c *common) bool {
	for i := range c.inner.queries {
		q := &c.inner.queries[i]
		if !q.reads(c.name) {
			continue
		}
		all := conjuncts(q.where)
		for _, one := range q.items {
			all = append(all, conjuncts(one.on)...)
		}
		for _, one := range all {
			if linkOf(one) != byEquality && len(columns(one)) > 0 {
				return true
			}
		}
	}
	return false
}
