package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/lab/diagnose/construct"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// factsOf a statement: what the catalogs know of the names in its text that may take time. The costly ones come first.
func (m *measured) factsOf(l *statement.Account, text string) (all []construct.Construct) {
	for _, one := range l.Own {
		all = append(all, functionFacts(one)...)
	}
	for _, v := range l.Shapes {
		all = append(all, viewFacts(v)...)
	}
	all = append(all, m.orderOfIndexes(l, text)...)
	all = append(all, computedFacts(l.Computed)...)
	all = append(all, unlimitedFacts(l.Unlimited, text)...)
	slices.SortStableFunc(all, func(a, b construct.Construct) int { return int(b.Weight) - int(a.Weight) })
	return all
}

// Declared by who writes a function: the defaults of CREATE FUNCTION are 1000 rows and a cost of 100.
const (
	declaredRowsMany  = 5000
	declaredCostUsual = 100
)

// functionFacts are how a function of a user is declared, and what its body does.
func functionFacts(f statement.Own) []construct.Construct {
	var has, why, instead []string
	weight := construct.Usual
	add := func(of construct.Weight, what, reason, do string) {
		has, why, instead = append(has, what), append(why, reason), append(instead, do)
		weight = max(weight, of)
	}
	if sql := f.Language == "sql"; sql && (f.Sets || f.Definer) {
		clause := "SET clause (as of search_path)"
		if !f.Sets {
			clause = "SECURITY DEFINER"
		}
		add(construct.Costly, "is never inlined for its "+clause, "it is computed as a whole, and no condition of the "+
			"statement reaches into it", "take the clause away and write the schemas of its tables; or write its "+
			"query "+
			"into the statement, or a view")
	} else if f.Volatile && sql {
		add(construct.Costly, "is VOLATILE", "it is not inlined as a table, and asked for each row where it stands "+
			"in a "+
			"condition", "STABLE or IMMUTABLE, where it only reads")
	}
	if f.Dynamic {
		add(construct.Costly, "puts its SQL together (EXECUTE)", "what it executes is parsed and planned anew in "+
			"each call",
			"plain SQL in its body, whose plan is kept")
	}
	if f.Rows >= declaredRowsMany {
		add(construct.Costly, fmt.Sprintf("is declared to return %.0f rows (ROWS)", f.Rows),
			"the planner estimates as many, and reads tables as a whole for them",
			"ALTER FUNCTION … ROWS with what it returns")
	}
	if f.Guards {
		add(construct.Costly, "catches errors (EXCEPTION)", "each of its calls begins a subtransaction",
			"conditions, or ON CONFLICT, instead of errors that are caught")
	}
	if f.Loops {
		add(construct.Usual, "has a loop", "it goes row by row", "one statement for all rows")
	}
	if f.Cost != 0 && f.Cost != declaredCostUsual && len(has) == 0 {
		add(construct.Usual, fmt.Sprintf("is declared with a cost of %.3g", f.Cost), "the planner orders "+
			"conditions by it",
			"ALTER FUNCTION … COST with what it takes")
	}
	if len(has) == 0 {
		return nil
	}
	return []construct.Construct{{Name: fmt.Sprintf("the function %s, which %s", f.Name, strings.Join(has, " and ")),
		Why: strings.Join(why, "; "), Instead: strings.Join(instead, "; "), Weight: weight}}
}

// tellingFunction of a statement's own: one whose declaration or body tells why it takes time, else the first.
func tellingFunction(all []statement.Own) (own statement.Own, facts []construct.Construct) {
	for _, one := range all {
		if facts = functionFacts(one); len(facts) > 0 {
			return one, facts
		}
	}
	return all[0], nil
}

// asTable says that what a function is declared with matters where a query reads from it.
func asTable(f statement.Own) bool {
	return f.Language == "sql" && (f.Sets || f.Definer) || f.Rows >= declaredRowsMany
}

// Joins of a view that are many: the statement that reads a few of its columns pays for all of them.
const (
	viewJoinsMany = 3
	viewOuterMany = 3
)

func viewFacts(v statement.Shape) []construct.Construct {
	var parts []string
	for _, one := range []struct {
		is   bool
		what string
	}{{v.Adds, "aggregates (GROUP BY)"}, {v.Windows, "window functions"}, {v.Distinct, "DISTINCT"},
		{v.Sets, "UNION"}} {
		if one.is {
			parts = append(parts, one.what)
		}
	}
	var all []construct.Construct
	if len(parts) > 0 {
		all = append(all, construct.Construct{Name: fmt.Sprintf("the view %s with %s", v.Name, strings.Join(parts,
			", ")),
			Why:     "it is computed as a whole before a condition that does not reach into it takes a part",
			Instead: "ask the tables themselves, with the condition inside; or keep the totals",
			Weight:  construct.Costly})
	}
	if v.Joins >= viewJoinsMany {
		weight := construct.Usual
		if v.Outer >= viewOuterMany {
			weight = construct.Costly
		}
		all = append(all, construct.Construct{Name: fmt.Sprintf("the view %s, which joins %d tables (%d outer joins)",
			v.Name, v.Joins+1, v.Outer), Why: "a join whose columns are not asked for is left out only where it is " +
			"outer " +
			"and its table has a unique index on the joined column", Instead: "name the tables that are wanted; or a " +
			"unique index on the columns by which the others are joined", Weight: weight})
	}
	return all
}

// orderOfIndexes against the conditions: a range on the first column of an index keeps an equality on its second one
// from narrowing what is read.
func (m *measured) orderOfIndexes(l *statement.Account, text string) (all []construct.Construct) {
	if len(m.tables) == 0 {
		return nil
	}
	equal, ranged := construct.Compared(text)
	for _, name := range l.Tables {
		t := m.tables[name]
		if t == nil {
			continue
		}
		begins := func(column string) bool {
			return slices.ContainsFunc(t.Indexes, func(i plan.Index) bool { return i.Valid && i.First == column })
		}
		for _, i := range t.Indexes {
			if !i.Valid || i.Partial != "" || i.Expressions != "" || len(i.Columns) < 2 || i.Method != "btree" {
				continue
			}
			first, second := i.Columns[0], i.Columns[1]
			from, value := t.Plain+"."+first, t.Plain+"."+second
			if !ranged[from] || equal[from] || !equal[value] || begins(second) {
				continue
			}
			all = append(all, construct.Construct{Name: fmt.Sprintf("the index %s of %s (%s), whose first column "+
				"has a "+
				"range and whose second an equality", i.Name, name, strings.Join(i.Columns, ", ")),
				Why: "all entries of the range are read, and those of another value dropped",
				Instead: fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s, %s)    the equality first", name,
					second, first),
				Weight: construct.Costly})
		}
	}
	return all
}

// computedFacts of rows that are written.
func computedFacts(computed []statement.Computed) (all []construct.Construct) {
	for _, c := range computed {
		weight := construct.Usual
		if len(tellingOf(construct.In("SELECT "+c.Expression))) > 0 {
			weight = construct.Costly
		}
		one := construct.Construct{Name: fmt.Sprintf("the %s %s of %s (%s)", c.Kind, c.Name, c.Table, c.Expression),
			Why:     "it is computed for each row that is written",
			Instead: "compute it only for rows that are searched by it, or later in one step", Weight: weight}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// unlimitedFacts are columns of numeric whose digits nothing limits, and that the text multiplies.
func unlimitedFacts(unlimited []statement.Unlimited, text string) (all []construct.Construct) {
	multiplied := construct.Multiplied(text)
	for _, c := range unlimited {
		one := construct.Construct{Name: fmt.Sprintf("products of %s.%s, numeric without a declared precision", c.Table,
			c.Name), Why: "each product computes all digits that the values have, and they may be thousands",
			Instead: "numeric(p, s) with the digits that are needed, or float8", Weight: construct.Usual}
		if multiplied[c.Name] && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
