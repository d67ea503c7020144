package diagnose

import (
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/plan"
)

// planCause is a cause that the plan of a statement shows, or its text where the plan cannot be had.
func planCause(name, title, mechanism string) cause {
	return cause{name: name, find: func(m *measured) (*Finding, string) {
		f := m.ofRemarks(name, mechanism)
		if f != nil {
			f.Title = fmt.Sprintf(title, f.Title)
		}
		return f, ""
	}}
}

// ofRemarks makes a finding of the strong remark of a name whose statements take most; its title is the table's name.
// nil: there is none.
func (m *measured) ofRemarks(name, mechanism string) (best *Finding) {
	for _, r := range m.remarks {
		if r.Name != name || !r.Strong {
			continue
		}
		u := m.uses(work, func(sql string) bool { return slices.Contains(r.texts, sql) })
		if best != nil && *best.Price >= u.share {
			continue
		}
		best = &Finding{Price: new(u.share), Title: nonEmpty(r.Table, "a table"),
			Mechanism: mechanism, explains: u.statements, Statements: m.book.full(u.statements),
			Evidence: []string{r.Text, fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share),
				nonEmpty(u.largest, "no statement that was seen"))},
			Excluded: []string{}, Next: r.Next, remarked: &r.Remark}
		best.Evidence = append(best.Evidence, planLines(r.plan)...)
	}
	return best
}

// planLines are the first of a plan, as evidence.
func planLines(p *plan.Plan) (lines []string) {
	if p == nil {
		return []string{"read from the text of the statement: its plan is not available"}
	}
	const shown = 6
	what := string(p.How) + " plan"
	if p.Role != "" {
		what += " as " + p.Role
	}
	for i, line := range p.Lines[:min(shown, len(p.Lines))] {
		if i == 0 {
			line = what + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

var (
	allPartitions = planCause(plan.AllPartitions, "All partitions of %s are read",
		"The planner leaves out partitions by a condition on the key itself. Without one each is planned, locked and "+
			"read.")
	deepOffset = planCause(plan.DeepOffset, "Rows of %s are read only to be skipped",
		"OFFSET makes the server find all rows before the page, in order, and drop them. The last page costs as "+
			"much as "+
			"all of them.")
	allRows = planCause(plan.AllRows, "Statements count or add up all rows of %s",
		"count(*) without a condition reads every row, or every entry of an index, each time: the server keeps no "+
			"count of rows, for each transaction sees others.")
)

// changedName is that of the finding of a changed plan.
const changedName = "plan-changed"

// planChanged: a statement is run in another way than before.
var planChanged = cause{
	name: changedName,
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for _, c := range m.changes {
			f := changeFinding(c)
			texts := m.sampledAs(c.Statement)
			u := m.uses(work, func(sql string) bool { return slices.Contains(texts, sql) })
			const slower = 2
			worse := c.After.Cost >= slower*c.Before.Cost
			if c.Before.MS != nil && c.After.MS != nil {
				worse = *c.After.MS >= slower**c.Before.MS
			}
			if worse {
				f.Price, f.explains = new(u.share), u.statements
			}
			if best == nil || priceOf(f) > priceOf(*best) {
				best = &f
			}
		}
		return best, ""
	},
}

func changeFinding(c plan.Change) Finding {
	f := Finding{Name: changedName, Level: Note, Title: "A statement has another plan than before",
		Mechanism: "The planner chooses by statistics, settings and values. When they pass a limit, the next call " +
			"is run in another way, all at once.",
		Evidence: []string{fmt.Sprintf("between %s: %s", c.Between, normalizedText(c.Statement)),
			"before, " + costText(c.Before)},
		Excluded: []string{"the statement is the same: names of tables, indexes and the order of its steps are " +
			"compared"},
		Next: []string{"was a table filled, analyzed, or an index dropped between the two? SELECT relname, " +
			"last_analyze, last_autoanalyze FROM pg_stat_user_tables",
			"auto_explain.log_min_duration writes the plan of each slow call to the log, which this program reads"}}
	f.Evidence = append(f.Evidence, planLines(c.Before)...)
	f.Evidence = append(f.Evidence, "after, "+costText(c.After))
	f.Evidence = append(f.Evidence, planLines(c.After)...)
	return f
}

func costText(p *plan.Plan) string {
	if p.MS != nil {
		return fmt.Sprintf("a call of %.1f ms", *p.MS)
	}
	return fmt.Sprintf("at an estimated cost of %.0f", p.Cost)
}

// remarksOn a statement of the samples, as evidence.
func (m *measured) remarksOn(text string) (lines []string) {
	for _, r := range m.remarks {
		if slices.Contains(r.texts, text) {
			lines = append(lines, "plan: "+r.Text)
		}
	}
	return lines
}
