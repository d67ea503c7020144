package tally

import (
	"errors"
	"fmt"
	"time"

	"plimsoll/lab/apdex"
)

// Tally is everything one generator counted, or several, merged.
type Tally struct {
	targets    []time.Duration
	priorities []int

	// Window is the steady state. It is open to the right until it is known.
	From, To time.Duration

	Operations []*Operation // due in the window
	Answered   int64        // valid answers that arrived in the window
	Lag        *Times       // of operations due in the window
	Timeline   *Timeline
	InFlight   int // most operations under way at once
	Backlog    int // most that waited for a slot at once
}

// New counts operations against their targets; the steady state is [from, to).
func New(targets []time.Duration, priorities []int, from, to time.Duration) *Tally {
	t := &Tally{targets: targets, priorities: priorities, From: from, To: to, Lag: NewTimes(), Timeline: newTimeline()}
	for range targets {
		t.Operations = append(t.Operations, newOperation())
	}
	return t
}

// Count takes one operation that has ended.
func (t *Tally) Count(s Sample) {
	target := t.targets[s.Operation]
	t.Timeline.count(s, target)
	if t.inWindow(s.Done) && s.Outcome.Answered() {
		t.Answered++
	}
	if !t.inWindow(s.Due) {
		return
	}
	t.Lag.Record(s.Lag())
	t.Operations[s.Operation].count(s, target)
}

func (t *Tally) inWindow(at time.Duration) bool { return at >= t.From && at < t.To }

// Steady is the length of the steady state.
func (t *Tally) Steady() time.Duration { return max(0, t.To-t.From) }

// Apdex is the overall score so far.
func (t *Tally) Apdex() (float64, apdex.Interval, bool) {
	weighed := make([]apdex.Weighed, len(t.Operations))
	for i, op := range t.Operations {
		weighed[i] = apdex.Weighed{Counts: op.Apdex, Priority: t.priorities[i]}
	}
	return apdex.Overall(weighed)
}

// Outcomes are those of all operations due in the window.
func (t *Tally) Outcomes() (sum [outcomes]int64) {
	for _, op := range t.Operations {
		for i, n := range op.Outcomes {
			sum[i] += n
		}
	}
	return sum
}

// Merge adds what another generator counted of the same operations from the same
// start. Both timelines must be closed.
func (t *Tally) Merge(other *Tally) error {
	if len(t.Operations) != len(other.Operations) {
		return fmt.Errorf("merge tallies: %d operations and %d", len(t.Operations), len(other.Operations))
	}
	errs := []error{t.Lag.Merge(other.Lag), t.Timeline.merge(other.Timeline)}
	for i, op := range other.Operations {
		errs = append(errs, t.Operations[i].merge(op))
	}
	t.Answered += other.Answered
	t.InFlight += other.InFlight
	t.Backlog += other.Backlog
	t.From, t.To = max(t.From, other.From), min(t.To, other.To)
	return errors.Join(errs...)
}
