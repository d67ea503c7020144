package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// lockOfIdleClient: a transaction holds a lock for long while its client does nothing.
var lockOfIdleClient = cause{
	name:    "lock-held-by-idle-client",
	healthy: "no session waits for a lock whose holder waits for its client",
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		f := m.blockedBy(func(s Story) bool { return s.Root.Client && s.Root.LongGapS >= gapLong.Value })
		if f == nil {
			return nil, ""
		}
		f.Title = "Sessions wait for a lock that an idle client holds"
		f.Mechanism = "A transaction keeps its row locks until it ends. Its client does something else meanwhile, " +
			"and everybody who needs the same rows waits for that client."
		f.Excluded = []string{"the holder does not run and waits for nothing in the server, so neither the disk nor " +
			"the processor is the reason"}
		f.Next = []string{
			"find what the program does between the last statement above and its commit",
			"ALTER ROLE … SET idle_in_transaction_session_timeout = '1min'    for the role of that program alone: " +
				"its sessions then lose such transactions",
		}
		return f, ""
	},
}

// lockContention: active transactions hold what others need.
var lockContention = cause{
	name:    "lock-contention",
	healthy: "no session waits for a lock that an active transaction holds",
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		f := m.blockedBy(func(s Story) bool {
			return !s.Root.Client && s.Root.class != waits.WAL && s.Root.class != waits.Standby &&
				!m.explained[s.Root.Statement] && !(m.notifyS > 0 && s.Object == "a lock (object)")
		})
		if f == nil {
			return nil, ""
		}
		f.Title = "Sessions wait for locks that active transactions hold"
		f.Mechanism = "Transactions that change the same rows or lock the same tables run one after the other, " +
			"however many processors there are."
		f.Excluded = []string{"the holders do not wait for their clients"}
		f.Next = []string{"make the transactions that lock these objects shorter, or lock them last",
			"plimsoll diagnose --dsn … --rate 100    to see what the holders do meanwhile"}
		return f, ""
	},
}

// shareBehind is the share of the time that sessions wait for locks whose holders wait for something of a class.
func (m *measured) shareBehind(class waits.Class) (share float64) {
	for _, s := range m.stories {
		if !s.Root.Client && s.Root.class == class {
			share += s.Share
		}
	}
	return share
}

// blockedBy are the stories of one kind as a finding; nil: none.
func (m *measured) blockedBy(kind func(Story) bool) *Finding {
	f := &Finding{Price: new(0.0)}
	for _, s := range m.stories {
		if !kind(s) {
			continue
		}
		*f.Price += s.Share
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the time: up to %d sessions wait for %s; its holder, %s, "+
			"%s (transaction open for up to %.1f s; last statement: %s)", human.Percent(s.Share), s.Victims, s.Object,
			s.Root.Application, s.Root.Does, s.Root.LongXactS, s.Root.Statement))
	}
	if len(f.Evidence) == 0 {
		return nil
	}
	const shown = 4
	f.Evidence = append(f.Evidence[:min(shown, len(f.Evidence))], m.loggedLocks()...)
	return f
}
