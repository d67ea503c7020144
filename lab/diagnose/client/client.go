// Package client owns the client's half of the time: which statements follow each other within a transaction, how often
// one is sent again, and how long the server waits in between.
package client

import (
	"cmp"
	"slices"
	"time"

	"plimsoll/ground/postgres/waits"
)

// Half is the client's half of what was measured. Null is not known.
type Half struct {
	TransactionsPerS *float64 `json:"transactions_per_s"`
	// Statements of clients for each transaction; null: they are not counted.
	StatementsEach *float64 `json:"statements_per_transaction"`
	RolledBack     *float64 `json:"rolled_back"` // share of the transactions
	SessionsPerS   *float64 `json:"sessions_per_s"`
	// GapMS is how long an open transaction had waited for its next statement when it was sampled.
	GapMS *float64 `json:"gap_ms"`
	// Predicate locks that serializable transactions held when they were counted, which only those have.
	PredicateLocks *int64 `json:"predicate_locks"`
	// BusyLooks of Looks at the connections found none idle.
	BusyLooks int        `json:"busy_looks"`
	Looks     int        `json:"looks"`
	Repeated  []Repeated `json:"repeated"`
}

// Repeated is a statement that a transaction sends again and again, as far as the samples saw it begin: it was sent at
// least as often.
type Repeated struct {
	Statement    string  `json:"statement"`
	Most         int     `json:"most"`         // in one transaction
	Transactions int     `json:"transactions"` // in which it was seen again
	S            float64 `json:"s"`            // of those transactions, while it ran or was the last one
}

// Bounds of what is kept.
const (
	statementsMost = 200
	shown          = 10
)

// Book of the transactions under way.
type Book struct {
	open     map[int]*transaction
	repeated map[string]*Repeated
}

// transaction of a session. The time from its begin to that of its last change of state is the server's own, to the
// microsecond: another one is another statement, or the gap behind it.
type transaction struct {
	begun   time.Time
	changed time.Duration
	text    string
	runs    int // of the same statement, one after the other
	idle    bool
	counted bool
	seen    bool // at the last look
}

// NewBook for a diagnosis.
func NewBook() *Book {
	return &Book{open: map[int]*transaction{}, repeated: map[string]*Repeated{}}
}

// sameBegin is how far the begin of a transaction may seem to move: two clocks are read at different moments.
const sameBegin = 100 * time.Millisecond

// Take a look at the sessions that have a transaction; text is a statement without its values.
func (b *Book) Take(at time.Time, covers time.Duration, sessions []waits.Session, text func(string) string) {
	for _, t := range b.open {
		t.seen = false
	}
	for _, s := range sessions {
		b.session(at, covers, s, text(s.Query))
	}
	for pid, t := range b.open {
		if !t.seen {
			delete(b.open, pid)
		}
	}
}

func (b *Book) session(at time.Time, covers time.Duration, s waits.Session, text string) {
	begun, changed := at.Add(-s.InXact), s.InXact-s.InState
	t := b.open[s.PID]
	if t == nil || begun.Sub(t.begun).Abs() > sameBegin || changed < t.changed {
		b.open[s.PID] = &transaction{begun: begun, changed: changed, text: text, runs: 1, idle: s.Idle(),
			seen: true}
		return
	}
	t.seen = true
	switch {
	case text != t.text:
		t.text, t.runs, t.counted = text, 1, false
	case changed > t.changed && (t.idle || !s.Idle()): // otherwise it may be the end of the same one
		t.runs++
	}
	t.changed, t.idle = changed, s.Idle()
	if t.runs < 2 {
		return
	}
	r := b.repeated[text]
	if r == nil {
		if len(b.repeated) >= statementsMost {
			return
		}
		r = &Repeated{Statement: text}
		b.repeated[text] = r
	}
	r.Most = max(r.Most, t.runs)
	r.S += covers.Seconds()
	if !t.counted {
		t.counted = true
		r.Transactions++
	}
}

// Repeated statements, those that were seen most often in one transaction first.
func (b *Book) Repeated() []Repeated {
	all := []Repeated{}
	for _, r := range b.repeated {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Repeated) int {
		return cmp.Or(cmp.Compare(b.Most, a.Most), cmp.Compare(a.Statement, b.Statement))
	})
	return all[:min(shown, len(all))]
}
