package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/statement"
)

// functionsWithin statements take their time: those of triggers, policies, checks and indexes run once for each row,
// and so do those that a statement calls on its rows.
var functionsWithin = cause{
	name: "functions-within-statements",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			if len(l.EachRow)+len(l.Triggers)+len(l.Policies)+len(l.Functions)+len(l.Own) == 0 ||
				l.Nested != nil && *l.Nested {
				continue
			}
			own := m.sampledAs(l.Text)
			u := m.uses(work, func(sql string) bool { return slices.Contains(own, sql) })
			if u.share < problemFrom.Value {
				continue
			}
			if f := m.functionsOf(l, u); best == nil || priceOf(*f) > priceOf(*best) {
				best = f
			}
		}
		return best, ""
	},
}

// functionsOf a statement that takes a part of the time.
func (m *measured) functionsOf(l *statement.Account, u use) *Finding {
	f := &Finding{
		Title: "Functions run for the rows of a statement",
		Mechanism: "A trigger, a policy of row security, a check, the expression of an index, or a function that a " +
			"statement calls on its rows runs once for each row. Its time is that of the statement, and the plan " +
			"does not show what it does.",
		Evidence: append([]string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share),
			normalizedText(l.Text))}, l.Says()...),
		Excluded: []string{}, Statements: m.book.full(u.statements),
		Next: []string{"a trigger: once for each statement, with transition tables; or its work later, in one step",
			"a policy: (SELECT current_setting(…)) runs once, a call without SELECT for each row; index what it " +
				"compares"},
	}
	if title := withinTitle(l); title != "" {
		f.Title = title
	}
	if len(l.EachRow) == 0 && len(l.Own) > 0 {
		own, facts := tellingFunction(l.Own)
		f.Title = "The function " + own.Name + " takes the time of a statement that calls it"
		if len(facts) > 0 {
			f.Title = "It takes the time of a statement: " + facts[0].Name
		}
		f.Next = []string{"write what it reads as a join or a lateral subquery of the statement: one plan for all rows",
			"auto_explain.log_nested_statements = on shows the plans of what it runs; a loop that only computes is " +
				"one expression, or not the database's work"}
		f.tell(facts)
		f.remark = len(l.Tables) == 0 && !asTable(own) // an application in functions: its work is meant
	}
	times := 0.0
	for _, one := range l.Functions {
		times += one.SelfS
	}
	if len(l.Functions) > 0 {
		f.Price = new(min(u.share, times/max(m.ledger.TotalS, 1e-9)))
	} else {
		f.Next = append([]string{"SET track_functions = 'all'    as a superuser, in its session or for its role: " +
			"the time of each function is then counted"}, f.Next...)
		m.priceRows(f, l, u)
	}
	if f.Price != nil && *f.Price >= u.share/2 {
		f.explains = u.statements
	}
	return f
}

// withinTitle names the triggers and policies; empty: there are only functions that the statement calls itself.
func withinTitle(l *statement.Account) string {
	var names []string
	for _, one := range l.EachRow {
		name := fmt.Sprintf("%s %s of %s", one.Kind, one.Name, one.Table)
		if one.Function != "" {
			name += " (" + strings.ReplaceAll(one.Function, " ", ", ") + ")"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 1:
		return "The " + names[0] + " runs for each row of a statement"
	case len(names) > 1:
		const shown = 3
		return "They run for each row of a statement: " + strings.Join(names[:min(shown, len(names))], ", ")
	}
	return ""
}

// priceRows where no function is timed: what a row of the statement takes beyond what one takes without triggers and
// policies.
func (m *measured) priceRows(f *Finding, l *statement.Account, u use) {
	usual, rows := 0.0, 0.0
	for _, one := range l.EachRow {
		columns, each := []string{"seq_tup_read", "idx_tup_fetch"}, secondsPerFetch.Value
		if one.Kind != "policy" {
			columns, each = []string{"n_tup_ins", "n_tup_upd", "n_tup_del"}, secondsPerWrite.Value
		}
		n := 0.0
		for _, column := range columns {
			n += valueOr(m.delta.Grew(counters.Tables, one.Table, column), 0)
		}
		usual, rows = max(usual, n*each), max(rows, n)
	}
	calls := m.callsAtMost(l)
	if len(l.EachRow) == 0 {
		rows, usual = m.rowsOf(l.Tables)
		if calls != nil {
			rows = max(rows, *calls)
		}
	}
	seconds := u.share * m.ledger.TotalS * m.gotProcessor()
	if rows == 0 || calls == nil || seconds <= 0 {
		return // its price is unknown
	}
	usual += *calls * secondsPerCall.Value
	f.Price = new(u.share * max(0, 1-usual/seconds))
	f.Evidence = append(f.Evidence, fmt.Sprintf("%.3g µs for each of %.0f rows; without it a row, and its part of the "+
		"call, takes %.3g µs at most", 1e6*seconds/rows, rows, 1e6*usual/rows))
}
