package live

import (
	"time"

	"plimsoll/lab/apdex"
	"plimsoll/lab/tally"
)

// Second is what one generator saw end, or saw, in one second of a run. Those of several
// generators are merged before they go into a picture; it is JSON when it has to travel.
type Second struct {
	At       time.Duration `json:"at"` // its end, since the start of the ramp
	Users    int           `json:"users"`
	InFlight int           `json:"in_flight"`
	Backlog  int           `json:"backlog"`
	LagMax   time.Duration `json:"lag_max"`

	Outcomes   [4]int64       `json:"outcomes"`   // by tally.Outcome
	Operations []apdex.Counts `json:"operations"` // by operation
	Times      *tally.Times   `json:"times"`      // of answered operations
	Error      string         `json:"error,omitempty"`
}

// Answered is how many operations got a valid answer.
func (s Second) Answered() int64 { return s.Outcomes[tally.OK] + s.Outcomes[tally.Refused] }

// Failed is how many got none.
func (s Second) Failed() int64 { return s.Outcomes[tally.Failed] + s.Outcomes[tally.Overload] }

// Merge takes in what another generator saw in the same second.
func (s *Second) Merge(other Second) error {
	s.Users += other.Users
	s.InFlight += other.InFlight
	s.Backlog += other.Backlog
	s.LagMax = max(s.LagMax, other.LagMax)
	for i, n := range other.Outcomes {
		s.Outcomes[i] += n
	}
	for i, c := range other.Operations {
		s.Operations[i].Add(c)
	}
	if s.Error == "" {
		s.Error = other.Error
	}
	return s.Times.Merge(other.Times)
}

// Counter counts what ends in the second under way. It belongs to one goroutine.
type Counter struct {
	targets []time.Duration
	open    Second
}

// NewCounter counts operations against their targets.
func NewCounter(targets []time.Duration) *Counter {
	return &Counter{targets: targets, open: Second{Operations: make([]apdex.Counts, len(targets)), Times: tally.NewTimes()}}
}

// Count takes one operation that has ended.
func (c *Counter) Count(s tally.Sample) {
	c.open.Outcomes[s.Outcome]++
	if s.Outcome.Answered() {
		c.open.Operations[s.Operation].Time(s.Latency(), c.targets[s.Operation])
		c.open.Times.Record(s.Latency())
		return
	}
	c.open.Operations[s.Operation].Fail()
	if s.Err != nil {
		c.open.Error = s.Err.Error()
	}
}

// Close hands the second over to use, who must not keep it, and begins the next.
func (c *Counter) Close(at time.Duration, users, inFlight, backlog int, lagMax time.Duration, use func(Second)) {
	c.open.At, c.open.Users, c.open.InFlight, c.open.Backlog, c.open.LagMax = at, users, inFlight, backlog, lagMax
	use(c.open)
	clear(c.open.Operations)
	c.open.Times.Reset()
	c.open = Second{Operations: c.open.Operations, Times: c.open.Times}
}
