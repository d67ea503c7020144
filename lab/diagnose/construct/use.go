package construct

// Multiplied are the columns that a statement multiplies, divides or raises to a power, by their names alone.
func Multiplied(sql string) map[string]bool {
	found := map[string]bool{}
	tokens, _ := read(sql)
	multiplied(tokens, found)
	return found
}

func multiplied(all []token, found map[string]bool) {
	side := func(i int) {
		if i < 0 || i >= len(all) || !operand(all[i]) {
			return
		}
		for _, c := range columns(all[i : i+1]) {
			found[c.name] = true
		}
	}
	for i, t := range all {
		switch {
		case (t.text == "*" || t.text == "/" || t.text == "^") && i > 0 && operand(all[i-1]) && i+1 < len(all) &&
			operand(all[i+1]):
			side(i - 1)
			side(i + 1)
		case t.text == "(" && i > 0 && isPower[all[i-1].name]:
			side(i)
		}
		multiplied(t.inner, found)
	}
}

var isPower = words("power pow exp ln log log10 sqrt cbrt")

// Compared are the columns that a statement compares with values, each with the table that it is of as it is named in
// the text: "orders.day". A column without its table counts where a query has one table.
func Compared(sql string) (equal, ranged map[string]bool) {
	equal, ranged = map[string]bool{}, map[string]bool{}
	tokens, _ := read(sql)
	s := parse(tokens)
	s.compared(equal, ranged)
	return equal, ranged
}

func (s *statement) compared(equal, ranged map[string]bool) {
	for _, c := range s.common {
		c.inner.compared(equal, ranged)
	}
	for i := range s.queries {
		q := &s.queries[i]
		all := conjuncts(q.where)
		for _, one := range q.items {
			if all = append(all, conjuncts(one.on)...); one.inner != nil {
				one.inner.compared(equal, ranged)
			}
		}
		for _, c := range all {
			name, sign := comparison(c)
			if sign == "" || len(columns(c[2:])) > 0 {
				continue
			}
			table := q.tableOf(c)
			if table == "" {
				continue
			}
			if key := table + "." + name; sign == "=" || sign == "in" {
				equal[key] = true
			} else {
				ranged[key] = true
			}
		}
	}
}

// tableOf the column that a condition begins with; empty: it is not known.
func (q *query) tableOf(c []token) string {
	for _, one := range q.items {
		if one.table != "" && (c[0].table == one.alias || c[0].table == one.table || c[0].table == "" &&
			len(q.items) == 1) {
			return one.table
		}
	}
	return ""
}
