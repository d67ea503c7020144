package tally

import (
	"time"

	"plimsoll/lab/load/apdex"
)

// Tally is everything one generator counted, or several together: the sum of the pages.
type Tally struct {
	targets    []time.Duration
	priorities []int

	// Window is the steady state. It is open to the right until it is known.
	From, To time.Duration

	Operations []*Operation // due in the window
	// Ended are the outcomes of each operation in the whole run, also outside the window.
	Ended    [][outcomes]int64
	Answered int64  // valid answers that arrived in the window
	Finished int64  // operations that ended in the window, whatever came of it
	Lag      *Times // of operations due in the window
	Timeline *Timeline
	InFlight int // most operations under way at once
	Backlog  int // most that waited for a slot at once

	seconds []ends
	open    Page // of the second that is not over
	moments moments
}

// New counts operations against their targets; the steady state is [from, to).
func New(targets []time.Duration, priorities []int, from, to time.Duration) *Tally {
	t := &Tally{targets: targets, priorities: priorities, From: from, To: to, Lag: NewTimes(), Timeline: newTimeline(),
		open: NewPage(0, len(targets))}
	for range targets {
		t.Operations = append(t.Operations, newOperation())
	}
	t.Ended = make([][outcomes]int64, len(targets))
	return t
}

// Count takes one operation that has ended; it is seen when the second is over.
func (t *Tally) Count(s Sample) {
	p := &t.open
	cells := p.Others
	if t.inWindow(s.Due) {
		cells = p.Judged
		p.Lag = append(p.Lag, microseconds(s.Lag()))
	}
	if s.Instead != "" {
		addInstead(&cells[s.Planned].Instead, map[string]int64{s.Instead: 1})
	}
	p.LagMax = max(p.LagMax, s.Lag())
	if t.inWindow(s.Done) {
		p.Finished++
	}
	if t.inWindow(s.Done) && s.Outcome.Answered() {
		p.Answered++
	}
	if end := (Stretch{s.Done, s.Done, s.Due}); s.Outcome.Answered() {
		p.answered(end)
	} else {
		p.Failures = p.Failures.merged(end)
	}
	cells[s.Operation].Count(s, t.targets[s.Operation])
}

// Tick ends a second, with the users then active and the most operations that were under
// way, and that waited for a slot, in it. The page that it gives is added already.
func (t *Tally) Tick(users, inFlight, backlog int) (Page, error) {
	p := t.open
	t.open = NewPage(p.Second+1, len(t.targets))
	p.Users, p.InFlight, p.Backlog = users, inFlight, backlog
	return p, t.Add(p)
}

// Add takes in a second: one that was counted here, or the sum of what several generators
// counted. Seconds come in their order; a rest is the end.
func (t *Tally) Add(p Page) error {
	t.Answered += p.Answered
	t.Finished += p.Finished
	t.seconds = append(t.seconds, ends{p.Answers, p.Failures})
	for _, late := range p.Late {
		if at := late.second(); at >= 0 && at < len(t.seconds) {
			t.seconds[at].answers = t.seconds[at].answers.merged(late)
		}
	}
	t.InFlight, t.Backlog = max(t.InFlight, p.InFlight), max(t.Backlog, p.Backlog)
	t.Lag.RecordAll(p.Lag)
	for i, op := range t.Operations {
		op.add(p.Judged[i])
		for o := range t.Ended[i] {
			t.Ended[i][o] += p.Judged[i].Outcomes[o] + p.Others[i].Outcomes[o]
		}
	}
	t.moments.add(p, t.From)
	if p.Rest {
		return t.Timeline.close(p)
	}
	return t.Timeline.tick(p)
}

// Close takes in what is left of a last second that is not over, and gives it.
func (t *Tally) Close(users, inFlight, backlog int) (Page, error) {
	p := t.open
	p.Rest = true
	p.Users = users
	p.InFlight = inFlight
	p.Backlog = backlog
	return p, t.Add(p)
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
