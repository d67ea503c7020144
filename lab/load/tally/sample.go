// Package tally owns what a generator has counted: per key operation over the
// steady state, and per interval over the whole run. Everything is a count, kept in
// pages of a second, so what several generators counted adds up exactly; percentiles
// are read from sums of counts and never averaged.
package tally

import "time"

// Outcome is how an operation ended, as its user sees it.
type Outcome uint8

const (
	OK       Outcome = iota
	Refused          // by a business control: a valid answer
	Overload         // the server is too busy to answer
	Failed           // no valid answer: error, timeout, broken connection
	outcomes
)

// Answered is true for a valid answer, whose time counts.
func (o Outcome) Answered() bool { return o == OK || o == Refused }

func (o Outcome) String() string {
	return [...]string{"ok", "refused", "overload", "failed"}[o]
}

// Sample is one operation of one user. Times are since the start of the run.
type Sample struct {
	User      int
	Operation int
	Due       time.Duration // when the user wanted to act
	Sent      time.Duration // when the generator got round to it
	Done      time.Duration // when the answer was there
	// Held is the part of the wait before Sent in which no session was free: the open
	// model's backlog, no fault of the generator.
	Held    time.Duration
	Outcome Outcome
	Err     error // behind Overload and Failed
	// Planned is the operation that the user chose. It differs from Operation when there was nothing to act on and
	// Instead was carried out.
	Planned int
	Instead string
	Resent  int // requests sent again after their connection was lost
	Retried int // times that its transaction was done again after a serialization failure or a deadlock
	// FirstByte is when the first answer over HTTP began to arrive; 0: none did. Bytes are those of the bodies.
	FirstByte time.Duration
	Bytes     int64
	Waited    time.Duration // for something of the generator's own, such as a connection of its pool
}

// Latency is what the user waited: from due, not from sent, so that neither a
// slow generator nor a stalled server hides behind operations not yet sent
// ("coordinated omission", G. Tene, "How NOT to Measure Latency", 2013).
func (s Sample) Latency() time.Duration { return s.Done - s.Due }

// Lag is the generator's own share of it.
func (s Sample) Lag() time.Duration { return s.Sent - s.Due - s.Held }
