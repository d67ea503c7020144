package diagnose

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// planningTakes longer than what is planned: as the server counts it, or else the time of a statement's samples in
// which the server counts no execution, or by statistics that are finer than any plan needs.
var planningTakes = cause{
	name: "planning",
	find: func(m *measured) (*Finding, string) {
		f := &Finding{
			Title: "Statements are planned for long",
			Mechanism: "Each statement that arrives as text is planned anew: its joins in all orders, its partitions " +
				"and indexes one by one. That may take longer than to run it.",
			Next: []string{"send it as a prepared statement: its plan is then kept",
				"fewer partitions or indexes, or a smaller join_collapse_limit, where the plan stays as good"},
		}
		t := m.inside.Totals
		switch {
		case t != nil && t.PlanS != nil:
			m.plannedAsCounted(f)
		case t != nil:
			if !m.plannedOutside(f) {
				return nil, "pg_stat_statements.track_planning is off, and the samples show no time beyond the " +
					"execution"
			}
		case !m.plannedByStatistics(f):
			return nil, ""
		}
		return f, ""
	},
}

func (m *measured) plannedAsCounted(f *Finding) {
	planned := func(l *statement.Account) float64 {
		seconds := l.PartOf("planning") * l.S
		if l.Calls == nil || 1000*seconds < planningLeast.Value**l.Calls {
			return 0
		}
		return seconds
	}
	sum := 0.0
	for i := range m.statements {
		sum += planned(&m.statements[i])
	}
	f.Price, f.explains = new(m.ofSessions(sum)), m.mostly("planning")
	f.Evidence = m.largestPart(planned, "planning")
	f.Excluded = []string{"not its execution: pg_stat_statements times both by themselves"}
}

// plannedOutside: a session is at work on a statement for longer than the server counts its execution.
func (m *measured) plannedOutside(f *Finding) (found bool) {
	sum, largest := 0.0, 0.0
	for i := range m.statements {
		l := &m.statements[i]
		outside := m.outsideExecution(l)
		own := m.sampledAs(l.Text)
		if outside == 0 || slices.Contains(f.explains, own[0]) { // with those that are alike it is one
			continue
		}
		sum += outside
		f.explains = append(f.explains, own...)
		all := m.alikeOf(l.Text)
		line := fmt.Sprintf("%.2f ms of each of %.0f calls are before or after its execution, which takes %.2f ms: %s",
			1000*outside/all.calls, all.calls, 1000*all.executionS/all.calls, normalizedText(l.Text))
		if outside > largest {
			largest = outside
			f.Evidence = append([]string{line}, append(m.remarksOn(m.sampledAs(l.Text)[0]), f.Evidence...)...)
			m.lessStatistics(f, l.Text)
		} else {
			f.Evidence = append(f.Evidence, line)
		}
	}
	f.Price, f.Statements = new(sum/max(m.ledger.TotalS, 1e-9)), m.book.full(f.explains)
	f.Excluded = []string{"not its execution, which pg_stat_statements times; not its commit, which waits for the log",
		"not logging: nothing is logged for each statement of that role"}
	f.Next = append(f.Next, "pg_stat_statements.track_planning = on    times the planning by itself")
	return sum > 0
}

// lessStatistics first, where they are why planning takes long.
func (m *measured) lessStatistics(f *Finding, text string) {
	for _, sampled := range m.sampledAs(text) {
		for _, r := range m.remarks {
			if r.Name == plan.FineStats && slices.Contains(r.texts, sampled) {
				f.Title = "Statements are planned for long, with very fine statistics of " + r.Table
				f.Next = append(r.Next, f.Next...)
				return
			}
		}
	}
}

// outsideExecution is the time of a statement's samples beyond what the server counts as its execution, in seconds; 0
// where it is not surely more, or no more than a short statement's.
func (m *measured) outsideExecution(l *statement.Account) float64 {
	const half, errors = 0.5, 3
	t := m.inside.Totals
	if l.Calls == nil || l.MeanMS == nil || *l.Calls <= 0 || l.Nested != nil && *l.Nested || unplanned(l.Text) ||
		t.LastedS <= 0 || m.ledger.Samples == 0 {
		return 0
	}
	texts := m.sampledAs(l.Text)
	if len(texts) == 0 || m.logsStatements(m.roleOf(l.Text)) || m.manyFail() {
		return 0
	}
	sampled := 0.0
	for key, w := range m.book.events {
		if key.class != waits.Running { // a commit may wait, for locks too
			continue
		}
		for _, text := range texts {
			sampled += w.statements[text]
		}
	}
	// Without a processor a session plans nothing: it may sleep where the server shows no wait, as before a flush.
	sampled *= 1 - m.ledger.share(unexplained)/max(m.ledger.running(), 1e-9)
	part := min(1, m.ledger.ObservedS/t.LastedS)
	each := m.ledger.ObservedS / float64(m.ledger.Samples)
	all := m.alikeOf(l.Text)
	outside := sampled - all.executionS*part
	if outside < half*sampled || outside < errors*math.Sqrt(sampled*each) ||
		1000*outside < planningLeast.Value*all.calls*part {
		return 0
	}
	return outside
}

// manyFail: what executes and fails is not counted as execution.
func (m *measured) manyFail() bool {
	const part = 0.1
	return valueOr(m.rolledBack(), 0) > part
}

// logsStatements says that a setting makes the server log each statement of a role.
func (m *measured) logsStatements(user roleIn) bool {
	return m.settings != nil && slices.ContainsFunc(m.settings.PerStatement, func(s Setting) bool {
		return s.holds(user)
	})
}

// plannedByStatistics: nothing is counted, and short statements join columns whose statistics are very fine.
func (m *measured) plannedByStatistics(f *Finding) (found bool) {
	for _, r := range m.remarks {
		if r.Name != plan.FineStats {
			continue
		}
		u := m.uses(work, func(sql string) bool {
			return slices.Contains(r.texts, sql) && m.book.longRunning[sql] == 0
		})
		if found && *f.Price >= u.share || u.share == 0 {
			continue
		}
		found = true
		f.Title = "Statements may be planned for long, with very fine statistics of " + r.Table
		f.Price, f.explains, f.Statements, f.partial = new(u.share), u.statements, m.book.full(u.statements), true
		f.Evidence = []string{r.Text, fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share), u.largest)}
		f.Excluded = []string{"not its rows: its calls are short"}
		f.Next = append(slices.Clone(r.Next), "EXPLAIN (SUMMARY) the statement: its planning time")
	}
	return found
}
