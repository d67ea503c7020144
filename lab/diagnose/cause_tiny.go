package diagnose

import (
	"fmt"
	"time"
)

// tinyTransactions: sessions are idle most of the time, between transactions of one short statement each. The ledger
// has no time of theirs: to the server they do nothing.
var tinyTransactions = cause{
	name:    "tiny-transactions",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		perS := m.transactions()
		if perS == nil {
			return nil, "transactions could not be counted"
		}
		own := float64(m.ledger.Samples) / max(m.ledger.ObservedS, 1e-9) // each look of ours is one
		rate, sessions := *perS-own, m.talking+m.ledger.Sessions
		if m.talking < talkingLeast.Value || m.talking < m.ledger.Sessions || rate < tinyPerS.Value*sessions {
			return nil, ""
		}
		gap := fromSeconds(m.talking / rate)
		if gap.Seconds() < gapShort.Value {
			return nil, ""
		}
		return &Finding{Title: "Sessions are idle between many tiny transactions",
			Mechanism: "Each statement is a transaction of its own and crosses the network by itself. Its client " +
				"waits " +
				"longer for the way than for the answer, and the server sees an idle session.",
			Evidence: []string{fmt.Sprintf("%.0f transactions a second of %.1f sessions that are at work or were a "+
				"moment "+
				"before; at work are %.2f of them", rate, sessions, m.ledger.Sessions),
				fmt.Sprintf("between two transactions a session is idle for %s on average, and active for %s",
					gap.Round(10*time.Microsecond), fromSeconds(m.ledger.Sessions/rate).Round(10*time.Microsecond))},
			Excluded: []string{"people who think: these sessions went on within a tenth of a second",
				"a price: that time is not the server's, and a program that computes meanwhile looks the same"},
			Next: []string{"put the statements of one operation into one transaction, one statement or one batch",
				"psql -h … -c '\\timing on' -c 'SELECT 1'    on the client's machine: the round trip"}}, ""
	},
}
