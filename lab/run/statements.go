package run

import (
	"plimsoll/lab/diagnose"
	"plimsoll/lab/run/result"
)

// statementsMost of an operation are kept, if they take at least statementsLeast of its time.
const (
	statementsMost  = 3
	statementsLeast = 0.01
)

// statementsOf an operation, by the time that its sessions spent in them; nil if nobody knows which those were.
func (l *ledgers) statementsOf(i int) []result.Statement {
	if l.times[i] <= 0 || l.database[i] == nil {
		return nil
	}
	return l.withPlans(l.database[i].Statements, max(l.times[i], l.database[i].Ledger.TotalS))
}

// statements of all sessions, where it is unknown which operations they served.
func (l *ledgers) statements() []result.Statement {
	if l.known || l.total <= 0 {
		return nil
	}
	return l.withPlans(l.found.Sampled, max(l.total, l.found.Ledger.TotalS))
}

func (l *ledgers) withPlans(from []diagnose.Part, total float64) (all []result.Statement) {
	for _, one := range from {
		if len(all) == statementsMost || one.S < statementsLeast*total {
			return all
		}
		all = append(all, result.Statement{Text: one.Name, S: one.S, Share: one.S / total, Plan: l.planOf(one.Name)})
	}
	return all
}

// planOf a statement; nil: there is none.
func (l *ledgers) planOf(text string) *result.Plan {
	p := l.found.PlanOf(text)
	if p == nil {
		return nil
	}
	kept := &result.Plan{How: string(p.How), Lines: p.Lines, Remarks: []string{}}
	for _, r := range p.Remarks {
		kept.Remarks = append(kept.Remarks, r.Text)
	}
	return kept
}
