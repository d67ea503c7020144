package diagnose

import (
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/client"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// Finding is a cause of lost time, with its price.
type Finding struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Level Level  `json:"level"`
	// Price is the share of the sessions' time that the cause takes; null: unknown.
	Price *float64 `json:"price"`
	// Gain is the share of the time expected to be saved if the cause goes away and nothing takes its place: a 95 %
	// interval from the samples, drawn from stretches of time that depend on each other.
	Gain *Range `json:"expected_gain"`
	// Applications whose sessions pay, if several use the server and the cause's time is theirs.
	Applications []Part `json:"applications,omitempty"`

	Mechanism string   `json:"mechanism"`
	Evidence  []string `json:"evidence"`
	Excluded  []string `json:"excluded"`
	Next      []string `json:"next"`
	// Statements that it is about, without their values.
	Statements []string `json:"statements,omitempty"`

	looks    float64  // independent ones that its time is worth
	unseen   float64  // clients that the cause keeps waiting and that are not active sessions yet
	explains []string // statements whose work it explains: no later cause counts them again
	toLog    bool     // explains what they wait for the log, too

	there   bool // what the title says was measured, whatever it takes
	partial bool // its price is not all that it takes: the rest is in other findings, or is not known
	remark  bool // a note, whatever its price: no reason is named that could be removed
	grave   bool // a problem, whatever its price: what it harms is not time alone

	remarked *plan.Remark // on the plan or the text of a statement, that it is made of; nil: none
}

// Range from low to high.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Level of a finding.
type Level string

// A problem takes a share of the time that users notice, of all or of one application; a note takes less, or its price
// is unknown.
const (
	Problem Level = "problem"
	Note    Level = "note"
)

// measured is everything that causes and contradictions are judged by.
type measured struct {
	ledger               Ledger
	stories              []Story
	host                 *Host // nil: not visible
	delta                *counters.Delta
	book                 *book
	holders              map[string]waits.Holder
	census               waits.Census
	connectS, roundTripS float64
	wakesS               float64 // how late this program wakes up, on average of time
	queued               float64 // part of the time of processes that are ready to run without a processor
	server               counters.Server
	log                  *ServerLog             // nil: not readable
	background           []Background           // the server's own processes
	settings             *Settings              // nil: not readable
	tables               map[string]*plan.Table // that statements name, or that were read whole
	talking              float64                // idle sessions that were at work a moment before, on average
	explained            map[string]bool        // statements whose work a problem explains
	explainedLog         map[string]bool        // and what they wait for the log
	volatile             map[string]bool        // functions of statements, whose value may differ from row to row
	covered              covered
	inside               statement.Inside
	statements           []statement.Account // with their samples
	byMatch              map[string][]string // statements of the samples
	byAlike              map[string]alike
	plans                []*plan.Plan
	changes              []plan.Change
	remarks              []remark
	half                 client.Half
	pools                *pools          // nil: not looked at
	repeated             map[string]bool // statements of which a problem explains the gaps, too
	duties               map[string]*client.Duty
}

// cause describes itself: a new cause needs one entry in the list and nothing else.
type cause struct {
	name string
	// healthy names the area if the cause is absent.
	healthy string
	// denies are the lines of the ledger of which healthy says that nobody waits there.
	denies []string
	// classes that its time is in, without statements that it explains: whose sessions pay. Empty: not theirs alone.
	classes []waits.Class
	// waste: nobody asked for what it does. A job that does nothing but one thing spends all of its time on it.
	waste bool
	// text: what the text of its statement has may be the reason, and is told.
	text bool
	// find looks for the cause. No finding and no reason: it is absent. A reason: it cannot be known.
	find func(m *measured) (*Finding, string)
}

// causes from the most special to the most general: what explains a statement's time takes it from those that follow,
// so that one cause is named once. Equal prices are listed in this order.
var causes = []cause{
	lockOfIdleClient, lockOfPrepared, lockOfNotify, deadlocked, endedByLimit, connectionsLimited,
	statementsWithoutWork, sentAgain, lockBetween, clientGaps, largeResults, jitCompiles, shortParallel, planningTakes,
	longLists, savepoints, foreignRows, hiddenWork, functionsWithin, catalogChurn, tempTablesCounted, maintenance,
	backup, heldHorizon, deadRowsRead, emptyPages, pendingEntries, staleStatistics, planChanged, joinLimits,
	computedConditions, tablesUnjoined, walkedFromTheRoot, subqueryOfEachRow, viewAddsUp, indexNotUsed, allPartitions,
	deepOffset, allRows, sortsForFew, wholeTables, scanInLoop, largeValues, filtered, valuesRewritten, notHOT,
	unusedIndexes, scatteredKeys, spills, bulkWriting, locksOfReaders, writeWithEachRead, commitForEachRow, ownSettings,
	beyondItsRows, costlyOperations, missingWorkers, longStatements, lockContention, quota, stolen, processorsByOthers,
	processorsByServer, processorsElsewhere, processorsFull, connectionStorm, rolledBack, sessionsCut, poolTooSmall,
	diskByOthers, standbyConfirms, autovacuumAtWork, checkpoints, logInsertion, logFlush, reading, innerLocks,
	otherProcesses, toldToWait, ofExtensions, notKnown, loggingStatements, replayPaused, slotsBehind, decodingSpills,
	replayLate, tinyTransactions, readsAsWrites, fullCoreNote, standstill,
}

// judge evaluates all causes: findings, the costliest first, and the healthy areas.
func judge(m *measured, s *sources) (findings []Finding, healthy []string) {
	findings, healthy = []Finding{}, []string{}
	for _, c := range causes {
		f, why := c.find(m)
		switch {
		case why != "":
			s.miss("finding "+c.name, why)
		case f == nil || f.Price != nil && *f.Price < noteFrom.Value && !f.grave:
			if says := m.healthyOf(c, f); says != "" {
				healthy = append(healthy, says)
			}
		default:
			f.Name = c.name
			if behind := m.behindStatements(f.explains); behind >= noteFrom.Value {
				f.Evidence = append(f.Evidence, fmt.Sprintf("others wait %s of the time for locks that these "+
					"statements hold", human.Percent(behind)))
			}
			if c.text {
				m.tellText(f)
			}
			f.looks = m.looksOf(c, f)
			f.level(m)
			f.Applications = m.payers(c, f)
			if m.ofOneApplication(c, f) {
				f.Level = Problem
			}
			if f.Level == Problem {
				m.explain(f.explains, f.toLog)
			}
			findings = append(findings, *f)
			m.cover(c, f)
		}
	}
	m.ofAllClients(findings)
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return compareDown(rankOf(a), rankOf(b), "", "")
	})
	if f := m.withoutReason(); f != nil {
		findings = append(findings, *f) // behind what has a reason
	}
	return findings, healthy
}

// ofAllClients prices findings by the time of all clients, where many are connecting and thus not active sessions yet.
// What a statement of those at work takes stays a problem: nobody waits less for it because others connect. What all of
// them wait for, such as processors, may be the connecting itself.
func (m *measured) ofAllClients(findings []Finding) {
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == connectionStorm.name })
	if i < 0 || findings[i].unseen <= 0 {
		return
	}
	atWork := m.ledger.Sessions / (m.ledger.Sessions + findings[i].unseen)
	for j := range findings {
		if f := &findings[j]; j != i && f.Price != nil {
			level := f.Level
			f.Price = new(*f.Price * atWork)
			if f.level(m); len(f.explains) > 0 {
				f.Level = level
			}
		}
	}
}

// rankOf a finding: a problem without a price stands before notes.
func rankOf(f Finding) float64 {
	if f.grave {
		return max(priceOf(f), problemFrom.Value)
	}
	return priceOf(f)
}

func priceOf(f Finding) float64 {
	if f.Price == nil {
		return -1
	}
	return *f.Price
}

// level of a finding, and the interval of its gain.
func (f *Finding) level(m *measured) {
	if f.Level = Note; f.grave {
		f.Level = Problem
	}
	if f.Price == nil {
		return
	}
	if *f.Price >= problemFrom.Value && !f.remark && m.ledger.Sessions+f.unseen >= sessionsLeast.Value {
		f.Level = Problem
	}
	if f.looks > 0 {
		f.Gain = gain(*f.Price, f.looks)
	}
}

const notMeasured = "not measured"

// text of a figure that may be unknown.
func text(x *float64, format string) string {
	return human.Known(x, notMeasured, func(x float64) string { return fmt.Sprintf(format, x) })
}

// top events of a class, as evidence.
func (m *measured) top(class waits.Class) (lines []string) {
	line := m.ledger.line(string(class))
	if line == nil {
		return nil
	}
	for _, e := range line.Events[:min(3, len(line.Events))] {
		what := ""
		if len(e.Statements) > 0 {
			what = fmt.Sprintf("; most in: %s", e.Statements[0].Name)
		}
		lines = append(lines, fmt.Sprintf("%s %s%s", e.Name, human.Percent(e.Share), what))
	}
	return lines
}

// transactions are the commits and aborts per second.
func (m *measured) transactions() *float64 {
	return m.bothPerSecond(counters.Databases, "xact_commit", "xact_rollback")
}

// bothPerSecond adds two counters of a view; nil: not measured.
func (m *measured) bothPerSecond(view, one, other string) *float64 {
	a, b := m.delta.Sum(view, "", one), m.delta.Sum(view, "", other)
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return m.delta.PerSecond(&sum)
}

// transactionsRate names the rate that other figures are divided by.
const transactionsRate = "transactions"

// rates of the report.
func (m *measured) rates() []Rate {
	sum := func(name, view, column string) Rate {
		return Rate{name, m.delta.PerSecond(m.delta.Sum(view, "", column))}
	}
	return []Rate{
		{transactionsRate, m.transactions()},
		sum("commits", counters.Databases, "xact_commit"),
		sum("rollbacks", counters.Databases, "xact_rollback"),
		sum("new sessions", counters.Databases, "sessions"),
		sum("rows read", counters.Databases, "tup_returned"),
		sum("rows written", counters.Databases, "tup_inserted"),
		sum("blocks read", counters.Databases, "blks_read"),
		sum("bytes of temporary files", counters.Databases, "temp_bytes"),
		sum("deadlocks", counters.Databases, "deadlocks"),
		sum("bytes of log", counters.WAL, "wal_bytes"),
		sum("full page images", counters.WAL, "wal_fpi"),
		sum("full log buffers", counters.WAL, "wal_buffers_full"),
		sum("rows of catalogs inserted", counters.Catalogs, "n_tup_ins"),
		sum("rows of catalogs deleted", counters.Catalogs, "n_tup_del"),
		sum("blocks of small caches read", counters.Caches, "blks_read"),
	}
}
