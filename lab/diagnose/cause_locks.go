package diagnose

import (
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// lockOfIdleClient: a transaction holds a lock for long while its client does nothing.
var lockOfIdleClient = cause{
	name:    "lock-held-by-idle-client",
	healthy: "no session waits for a lock whose holder waits for its client",
	denies:  []string{string(waits.Lock)},
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

// betweenStatements: its holder waits for its client, for no longer than a network or a program takes.
func (s Story) betweenStatements() bool { return s.Root.Client && s.Root.LongGapS < gapLong.Value }

// lockBetween: transactions hold locks while their program does something else, for a short time each.
var lockBetween = cause{
	name:    "lock-held-between-statements",
	healthy: "",
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		if m.ledger.TotalS == 0 {
			return nil, ""
		}
		g, why := m.clientTime()
		if !g.locks() {
			return nil, ""
		}
		f := m.blockedBy(Story.betweenStatements)
		if f == nil {
			f = &Finding{Evidence: []string{"no look at the locks met a holder; while sessions wait, others rest " +
				"within their transactions behind the same statement, most: " + parts(m.book.behindGaps, 1)[0].Name}}
		}
		f.Price = new(g.behind + g.gaps + g.reading)
		if why != "" { // of the holders' gaps; who waits for their locks waits all the same
			f.Price, f.partial = &g.behind, true
			f.Evidence = append(f.Evidence, why)
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("open transactions wait for their next statement %s of the time, "+
			"and "+
			"others for their locks %s", human.Percent(g.gaps+g.reading), human.Percent(g.behind)))
		f.Title = "Sessions wait for locks whose holders wait for their clients" + m.mostFor(Story.betweenStatements)
		f.Mechanism = "A transaction keeps its locks until it ends, also between two statements, while its program " +
			"computes, asks another service, or the network carries the next one. Whoever needs the same rows queues " +
			"for as long."
		f.Excluded = []string{"the holders do not run and wait for nothing in the server"}
		f.Next = []string{"lock last: do what needs no lock before BEGIN or before the first change, and send the " +
			"change and COMMIT together",
			"workers of a queue: SELECT … FOR UPDATE SKIP LOCKED takes a row that nobody has",
			"one row that all change: several rows that are added up, or a sequence for numbers"}
		return f, ""
	},
}

// deadlocked: transactions wait for each other until one is ended.
var deadlocked = cause{
	name:    "deadlocks",
	healthy: "",
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		n := m.delta.Sum(counters.Databases, "", "deadlocks")
		if n == nil || *n < 1 {
			return nil, ""
		}
		return &Finding{Price: new(m.deadlockShare()), there: true, partial: true,
			Title: "Transactions deadlock: they lock the same rows in different orders",
			Mechanism: "Each waits for a lock of the other. After deadlock_timeout the server ends one of them, " +
				"whose program does everything again, and all who wait behind the two wait as long.",
			Evidence: append([]string{fmt.Sprintf("%.0f deadlocks, each found after %.1f s (deadlock_timeout); "+
				"sessions "+
				"wait for locks %s of the "+
				"time", *n, m.deadlockTimeout(), human.Percent(m.ledger.share(string(waits.Lock))))},
				m.loggedLocks()...),
			Excluded: []string{"not one long holder: what blocks is blocked itself"},
			Next: []string{"lock rows in the same order everywhere: ORDER BY the key in SELECT … FOR UPDATE, or sort " +
				"what is changed", "the server's log has both statements of each deadlock",
				"one statement for all rows instead of one each keeps locks shorter"},
		}, ""
	},
}

// deadlockTimeout in seconds; PostgreSQL's own where it could not be read.
func (m *measured) deadlockTimeout() float64 {
	const usual = 1
	if m.settings == nil || m.settings.DeadlockS <= 0 {
		return usual
	}
	return m.settings.DeadlockS
}

// deadlockShare is the part of the time that deadlocks take: two sessions at least wait for the whole timeout.
func (m *measured) deadlockShare() float64 {
	const waiting = 2
	n := valueOr(m.delta.Sum(counters.Databases, "", "deadlocks"), 0)
	return min(m.ledger.share(string(waits.Lock)), waiting*n*m.deadlockTimeout()/max(m.ledger.TotalS, 1e-9))
}

// lockContention: active transactions hold what others need.
var lockContention = cause{
	name:    "lock-contention",
	healthy: "no session waits for a lock that an active transaction holds",
	denies:  []string{string(waits.Lock)},
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		held := func(s Story) bool {
			return !s.Root.Client && s.Root.class != waits.Standby && s.Root.Prepared == nil && s.Root.Process == "" &&
				s.Object != waits.NotifyQueue && !m.explained[s.Root.Statement]
		}
		contended := func(s Story) bool { return held(s) && s.Root.class != waits.WAL }
		f := m.blockedBy(contended)
		// Where holders wait for the log no longer than usual, the reason is what they all lock, and not the log.
		flushing := func(s Story) bool { return held(s) && s.Root.class == waits.WAL }
		wait := m.logWait()
		if g := m.blockedBy(flushing); g != nil && wait.usual > wait.beyond() &&
			*g.Price*wait.usual >= noteFrom.Value {
			*g.Price *= wait.usual
			g.Evidence = append(g.Evidence, fmt.Sprintf("%s of the time is behind commits that wait for the log no "+
				"longer than a normal flush takes", human.Percent(*g.Price)))
			if f != nil {
				*g.Price += *f.Price
				g.Evidence = append(g.Evidence, f.Evidence...)
			}
			f, contended = g, held
		}
		if f == nil {
			return nil, ""
		}
		*f.Price = max(0, *f.Price-m.deadlockShare()) // that has a finding of its own
		f.partial = m.deadlockShare() > 0
		f.Title = "Sessions wait for locks that active transactions hold" + m.mostFor(contended)
		f.Mechanism = "Transactions that change the same rows or lock the same tables run one after the other, " +
			"however many processors there are."
		f.Excluded = []string{"the holders do not wait for their clients"}
		f.Next = []string{"make the transactions that lock these objects shorter, or lock them last",
			"plimsoll diagnose --dsn … --rate 100    to see what the holders do meanwhile"}
		return f, ""
	},
}

// lockOfNotify: commits with NOTIFY go one after the other, and each holds that turn until its log is on disk.
var lockOfNotify = cause{
	name:    "notify-lock",
	healthy: "",
	classes: inLocks,
	find: func(m *measured) (*Finding, string) {
		f := m.blockedBy(func(s Story) bool { return s.Object == waits.NotifyQueue })
		if f == nil {
			return nil, ""
		}
		f.Title = "Commits with NOTIFY wait for each other"
		f.Mechanism = "A transaction with NOTIFY takes a lock of the whole server when it commits, so that messages " +
			"come in the order of commits. It holds the lock until its commit is on disk: such commits share no flush."
		f.Excluded = []string{"these are not locks of rows or tables"}
		f.Next = []string{"NOTIFY once for many changes, from one process that reads a table of them",
			"no NOTIFY in triggers of busy tables"}
		return f, ""
	},
}

// shareBehind is the share of the time that sessions wait for locks whose holders wait for something of a class.
func (m *measured) shareBehind(class waits.Class) (share float64) {
	for _, s := range m.stories {
		if !s.Root.Client && s.Root.class == class && s.Object != waits.NotifyQueue {
			share += s.Share
		}
	}
	return share
}

// mostFor is the object that sessions wait for most in stories of a kind, as the end of a title, and the clause that
// locks rows where they are read.
func (m *measured) mostFor(kind func(Story) bool) string {
	i := slices.IndexFunc(m.stories, kind) // the costliest first
	if i < 0 || m.stories[i].Object == "" {
		return ""
	}
	return ": " + m.stories[i].Object + m.clauseIn(m.stories[i])
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
