package tally

import (
	"maps"
	"slices"
	"time"

	"plimsoll/lab/load/apdex"
)

// Page is what one generator counted in one second. Nothing is counted in another way:
// a tally is the sum of its pages, whoever wrote them, and so the tally of several
// generators is that of one which saw everything.
type Page struct {
	Second   int   `json:"second"`             // 0 is the first
	Rest     bool  `json:"rest,omitempty"`     // of a last second that was not over
	Users    int   `json:"users"`              // active at its end
	InFlight int   `json:"in_flight"`          // most operations under way at once
	Backlog  int   `json:"backlog"`            // most that waited for a slot at once
	Answered int64 `json:"answered"`           // valid answers that arrived in the steady state
	Finished int64 `json:"finished,omitempty"` // operations that ended in the steady state, whatever came of it
	// Answers and Failures of this second; nil: there were none.
	Answers  *Stretch `json:"answers,omitempty"`
	Failures *Stretch `json:"failures,omitempty"`
	// Late are answers of seconds that were closed when the generator heard of them, by second.
	Late   []Stretch     `json:"late,omitempty"`
	LagMax time.Duration `json:"lag_max_ns"`
	Lag    Values        `json:"lag_us,omitempty"` // of operations due in the steady state
	// Operations that ended in this second, in the order of the crowd's.
	Judged []Cell `json:"judged"` // due in the steady state
	Others []Cell `json:"others"` // due in the ramp: on the timeline only
}

// Cell is operations of one kind.
type Cell struct {
	Outcomes      [outcomes]int64  `json:"outcomes"` // ok, refused, overload, failed
	Apdex         apdex.Counts     `json:"apdex"`
	Units         apdex.Histogram  `json:"units"` // answered, in units of T
	Latency       Values           `json:"latency_us,omitempty"`
	Errors        map[string]int64 `json:"errors,omitempty"`
	GeneratorWait GeneratorWait    `json:"own,omitzero"`     // waits
	Resent        int64            `json:"resent,omitempty"` // requests sent again after their connection was lost
	Retried       Retried          `json:"retried,omitzero"`
	// Instead are the operations carried out in place of this one, which had nothing to act on; they are counted as
	// what they are and not here.
	Instead map[string]int64 `json:"instead,omitempty"`
}

// GeneratorWait is how long operations waited for the generator: to be sent, and for what it shares out.
type GeneratorWait struct {
	Sum  time.Duration `json:"sum_ns"`
	Max  time.Duration `json:"max_ns"`
	Pool time.Duration `json:"pool_ns"` // the part of the sum for a connection of the pool
}

// Retried counts operations whose transaction was done again, after a serialization failure or a deadlock, and how
// often that was. The time of all tries is in the latency.
type Retried struct {
	Operations int64 `json:"operations"`
	Times      int64 `json:"times"`
}

func (r *Retried) add(other Retried) {
	r.Operations += other.Operations
	r.Times += other.Times
}

func (o *GeneratorWait) add(other GeneratorWait) {
	o.Sum += other.Sum
	o.Max = max(o.Max, other.Max)
	o.Pool += other.Pool
}

// Values are durations in microseconds, the resolution of Times: the few of one second take
// less room than a histogram.
type Values []int64

// NewPage is one on which nothing is counted yet.
func NewPage(second, operations int) Page {
	return Page{Second: second, Judged: make([]Cell, operations), Others: make([]Cell, operations)}
}

// NewSum is an empty page to add others to; it is a rest as long as only rests are in it.
func NewSum(second, operations int) Page {
	p := NewPage(second, operations)
	p.Rest = true
	return p
}

// Count takes one operation that has ended.
func (c *Cell) Count(s Sample, target time.Duration) {
	c.Outcomes[s.Outcome]++
	c.Resent += int64(s.Resent)
	c.Retried.add(Retried{Operations: int64(min(1, s.Retried)), Times: int64(s.Retried)})
	c.GeneratorWait.add(GeneratorWait{Sum: s.Lag() + s.Waited, Max: s.Lag() + s.Waited, Pool: s.Waited})
	if s.Outcome.Answered() {
		c.Apdex.Time(s.Latency(), target)
		c.Units.Time(s.Latency(), target)
		c.Latency = append(c.Latency, microseconds(s.Latency()))
		return
	}
	c.Apdex.Fail()
	if s.Err == nil {
		return
	}
	if c.Errors == nil {
		c.Errors = map[string]int64{}
	}
	countError(c.Errors, comparableText(s.Err.Error()), 1)
}

func (c *Cell) add(other Cell) {
	for i, n := range other.Outcomes {
		c.Outcomes[i] += n
	}
	c.Apdex.Add(other.Apdex)
	c.Units.Add(other.Units)
	c.Latency = append(c.Latency, other.Latency...)
	if c.Errors == nil && len(other.Errors) > 0 {
		c.Errors = map[string]int64{}
	}
	addErrors(c.Errors, other.Errors)
	c.Resent += other.Resent
	c.Retried.add(other.Retried)
	c.GeneratorWait.add(other.GeneratorWait)
	addInstead(&c.Instead, other.Instead)
}

func addInstead(to *map[string]int64, more map[string]int64) {
	if *to == nil && len(more) > 0 {
		*to = map[string]int64{}
	}
	for operation, n := range more {
		(*to)[operation] += n
	}
}

// Add takes in what another generator counted in the same second. The most at once is then
// an upper bound: each may have had its most at another moment.
func (p *Page) Add(other Page) {
	p.Rest = p.Rest && other.Rest
	p.Users += other.Users
	p.InFlight += other.InFlight
	p.Backlog += other.Backlog
	p.Answered += other.Answered
	p.Finished += other.Finished
	if other.Answers != nil {
		p.Answers = p.Answers.merged(*other.Answers)
	}
	if other.Failures != nil {
		p.Failures = p.Failures.merged(*other.Failures)
	}
	for _, late := range other.Late {
		p.addLate(late)
	}
	p.LagMax = max(p.LagMax, other.LagMax)
	p.Lag = append(p.Lag, other.Lag...)
	for i := range p.Judged {
		p.Judged[i].add(other.Judged[i])
		p.Others[i].add(other.Others[i])
	}
}

// answered counts when an answer came.
func (p *Page) answered(end Stretch) {
	if end.second() < p.Second {
		p.addLate(end)
		return
	}
	p.Answers = p.Answers.merged(end)
}

func (p *Page) addLate(late Stretch) {
	for i := range p.Late {
		if p.Late[i].second() == late.second() {
			p.Late[i] = *p.Late[i].merged(late)
			return
		}
	}
	p.Late = append(p.Late, late)
}

// End of the second, since the start of the ramp.
func (p Page) End() time.Duration { return time.Duration(p.Second+1) * IntervalDefault }

// Fits says whether the page is about that many operations.
func (p Page) Fits(operations int) bool {
	return p.Second >= 0 && len(p.Judged) == operations && len(p.Others) == operations
}

// Ended is how many operations ended in the second.
func (p Page) Ended() (n int64) {
	for _, c := range slices.Concat(p.Judged, p.Others) {
		n += c.Apdex.N()
	}
	return n
}

// Valid is how many valid answers arrived in the second.
func (p Page) Valid() (n int64) {
	for _, c := range slices.Concat(p.Judged, p.Others) {
		n += c.Outcomes[OK] + c.Outcomes[Refused]
	}
	return n
}

// MostError is the most frequent error of the second; empty: there was none.
func (p Page) MostError() (text string) {
	all := map[string]int64{}
	for _, c := range slices.Concat(p.Judged, p.Others) {
		addErrors(all, c.Errors)
	}
	for _, candidate := range slices.Sorted(maps.Keys(all)) {
		if text == "" || all[candidate] > all[text] {
			text = candidate
		}
	}
	return text
}
