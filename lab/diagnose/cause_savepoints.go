package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
)

// savepoints: transactions are made of many subtransactions. Each that writes takes a number of its own, so that more
// numbers are given away than transactions end.
var savepoints = cause{
	name: "subtransactions",
	find: func(m *measured) (*Finding, string) {
		taken := m.delta.PerSecond(m.delta.Sum(counters.Numbers, "", "next"))
		ended := m.transactions()
		if taken == nil || ended == nil || *taken < *ended*subtransactionsEach.Value ||
			*taken < subtransactionsLeast.Value {
			return nil, ""
		}
		f := &Finding{there: true, partial: true,
			Title: fmt.Sprintf("Transactions have many subtransactions, %.0f a second", *taken-*ended),
			Mechanism: "A SAVEPOINT, or a block that catches errors (EXCEPTION in PL/pgSQL), is a subtransaction: " +
				"it has " +
				"resources and a number of its own, and is undone by itself. From 64 of one transaction on, all " +
				"others " +
				"look its numbers up in pg_subtrans.",
			Evidence: []string{fmt.Sprintf("%.0f numbers of transactions are taken a second, and %.0f transactions end",
				*taken, *ended)},
			Excluded: []string{"not the transactions themselves: each takes one number at most"},
			Next: []string{"ask before instead of catching the error: INSERT … ON CONFLICT, or a condition",
				"drivers set savepoints where they are told to keep a transaction after an error (autosave): only " +
					"where " +
					"it is needed"}}
		share := m.bySavepoints(f)
		if share > 0 {
			can := (*taken - *ended) * m.ledger.ObservedS * secondsPerSub.Value /
				max(m.ledger.TotalS*m.gotProcessor(), 1e-9) // with the queue for a processor
			if f.Price = &share; len(f.explains) > 0 { // of clients, savepoints alone were sampled
				f.Price = new(min(share, can))
			}
		}
		return f, ""
	},
}

// bySavepoints is the share of those who make subtransactions: functions that catch errors in a loop, or clients.
func (m *measured) bySavepoints(f *Finding) (share float64) {
	for i := range m.statements {
		l := &m.statements[i]
		for _, one := range l.Own {
			if !one.Catches || l.Nested != nil && *l.Nested {
				continue
			}
			own := m.sampledAs(l.Text)
			u := m.uses(work, func(sql string) bool { return slices.Contains(own, sql) })
			if u.share <= share {
				continue
			}
			share, f.explains = u.share, u.statements
			f.Title += ": the function " + one.Name + " catches errors (EXCEPTION) in a loop"
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the time is spent on: "+
				"%s", human.Percent(u.share), u.largest))
		}
	}
	if share > 0 {
		f.Statements = m.book.full(f.explains)
		return share
	}
	sent := begins("SAVEPOINT", "RELEASE", "ROLLBACK")
	for text := range m.book.texts() {
		if sent(text) && strings.ToUpper(text) != "ROLLBACK" {
			share += m.shareWithGaps(text)
		}
	}
	if share > 0 {
		f.Title += ": clients set savepoints"
		f.Evidence = append(f.Evidence, fmt.Sprintf("SAVEPOINT and RELEASE take %s of the time, with the gaps "+
			"behind them",
			human.Percent(share)))
	}
	return share
}
