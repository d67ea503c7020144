package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// commitForEachRow: a program that loads or changes many rows commits each by itself. The log is as quick as it should
// be, and each commit waits for it. A statement that ends a transaction of several, as a batch does, is not alone.
var commitForEachRow = cause{
	name:    "commit-for-each-row",
	healthy: "",
	classes: inLog,
	find: func(m *measured) (*Finding, string) {
		if f, why := logFlush.find(m); why != "" || priceOf(*f) >= problemFrom.Value {
			return nil, "" // commits queue, or flushes are slow: that is worse, and has a finding
		}
		var best *Finding
		// What other programs on the disk or the processors add to a wait has findings of its own.
		own := (1 - m.othersOnDisk()) * (1 - m.logWait().starved)
		waited := m.book.waitedIn(waits.WAL)
		for text, seconds := range waited {
			rate, counted := m.callsPerS(text, seconds, waited)
			r := m.book.runners[text]
			sessions := float64(len(r.sessions))
			if !writes(text) || sessions == 0 || rate < tinyPerS.Value*sessions || r.later > r.first ||
				m.known(text, waits.WAL) || m.atWork(text) < busyWith.Value*sessions {
				continue
			}
			price := seconds / max(m.ledger.TotalS, 1e-9) * own
			if best != nil && *best.Price >= price {
				continue
			}
			how := "about "
			if counted {
				how = ""
			}
			best = &Finding{Price: &price, Title: "One statement after the other is committed by itself",
				explains: []string{text}, toLog: true, Statements: m.book.full([]string{text}),
				Mechanism: "Each commit waits until its log is on disk, which a quick disk does in a millisecond. A " +
					"program that commits each row of many waits so long for each.",
				Evidence: []string{fmt.Sprintf("%s%.0f calls a second of %.0f sessions: %s", how, rate, sessions, text),
					fmt.Sprintf("%s of the time its commits wait for the log; %s", human.Percent(price/max(own, 1e-9)),
						m.flushText())},
				Excluded: []string{"a slow disk, or a queue of commits: a flush takes no longer than usual"},
				Next: []string{"BEGIN … COMMIT around some hundred of them; or INSERT of many rows, COPY, or the " +
					"protocol's pipeline", "SET LOCAL synchronous_commit = off    loses the last commits before a " +
					"crash: " +
					"only where they can be loaded again"}}
		}
		return best, ""
	},
}

// waitedIn a class, by statement, without gaps.
func (b *book) waitedIn(class waits.Class) amounts {
	all := amounts{}
	for key, w := range b.events {
		if key.class != class || key.gap {
			continue
		}
		for text, seconds := range w.statements {
			if text != others {
				all[text] += seconds
			}
		}
	}
	return all
}

// callsPerS of a statement, as the server counts it; else its part of all transactions, by its part of the commits'
// waits.
func (m *measured) callsPerS(text string, seconds float64, waited amounts) (rate float64, counted bool) {
	if calls := m.alikeOf(text).calls; calls > 0 && m.inside.Totals != nil && m.inside.Totals.LastedS > 0 {
		rate, counted = calls/m.inside.Totals.LastedS, true
	}
	if perS := m.transactions(); !counted && perS != nil {
		all := 0.0
		for _, one := range waited {
			all += one
		}
		rate = *perS * seconds / max(all, 1e-9)
	}
	return rate, counted
}

// atWork on a statement are so many sessions on average.
func (m *measured) atWork(text string) float64 {
	return m.book.texts()[text] / max(m.ledger.ObservedS, 1e-9)
}
