package diagnose

import (
	"maps"
	"slices"

	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// Operation is where the time of the sessions goes that serve one key operation, and what takes it.
type Operation struct {
	ID       string    `json:"id"`
	Ledger   Ledger    `json:"ledger"`
	Findings []Finding `json:"findings"`
	// Statements that took most of its time in the database, without their values.
	Statements []Part `json:"statements"`
}

// operationsMost are told apart, and of each the statementsOfEach with most of its time.
const (
	operationsMost   = 200
	statementsOfEach = 5
)

// takeOperations gives each operation its sessions of a look.
func (w *watch) takeOperations(l look) {
	if l.timeline == nil {
		return
	}
	if since := l.at.Sub(w.operationsAt); !w.operationsAt.IsZero() {
		l.covers = max(l.covers, min(since, 2*max(timelineEvery, w.every)))
	}
	w.operationsAt = l.at
	w.served = map[int]string{}
	own := map[string]look{}
	for _, s := range l.sessions {
		name := l.operation(s)
		switch {
		case s.Class() == waits.Idle: // has no time in a ledger either
		case name == "":
			w.unknownS += l.covers.Seconds()
		default:
			w.servedS += l.covers.Seconds()
		}
		if name == "" {
			continue
		}
		w.served[s.PID] = name
		if w.operations[name] == nil {
			if len(w.operations) >= operationsMost {
				continue
			}
			w.operations[name] = newBook()
		}
		one := own[name]
		one.sessions = append(one.sessions, s)
		own[name] = one
	}
	for name, b := range w.operations {
		one := own[name]
		one.at, one.covers, one.still, one.excuse = l.at, l.covers, l.still, l.excuse
		b.take(one)
	}
}

// ofOperations judges each by its own sessions. Running sessions are split as those of all are: the scheduler's figures
// are not known by operation.
func (w *watch) ofOperations(all *measured, delta *counters.Delta) (found []Operation) {
	for _, name := range slices.Sorted(maps.Keys(w.operations)) {
		b := w.operations[name]
		m := *all
		m.book, m.delta, m.covered, m.byMatch = b, delta, covered{}, nil
		m.explained, m.explainedLog, m.repeated = nil, nil, nil
		m.ledger = b.ledger(all.splitLike(b), all.ledger.Processor)
		m.stories = b.sortedStories()
		o := Operation{ID: name, Ledger: m.ledger}
		var s sources // what is missing is missing for all
		o.Findings, _ = judge(&m, &s)
		o.Statements = b.costliest(statementsOfEach)
		found = append(found, o)
	}
	return found
}

// splitLike all sessions' time without a wait; nil where that is not split.
func (m *measured) splitLike(b *book) *scheduled {
	running := m.ledger.running()
	if m.ledger.line(Unsplit) != nil || running <= 0 {
		return nil
	}
	part := b.secondsOf(waits.Running) / running
	return &scheduled{ran: part * m.ledger.share(OnCPU), waited: part * m.ledger.share(forCPU)}
}
