package tally

import "time"

// StandstillLeast is the shortest time without a valid answer that is reported, StandstillGaps how many times longer it
// must be than the mean time between answers: few users with slow operations do not stand still.
const (
	StandstillLeast = time.Second
	StandstillGaps  = 10
)

// Stretch is the time over which operations ended in a second.
type Stretch struct {
	First time.Duration `json:"first_ns"` // the first end
	Last  time.Duration `json:"last_ns"`
	Due   time.Duration `json:"due_ns"` // when the first of their users was due
}

func (s *Stretch) merged(other Stretch) *Stretch {
	if s == nil {
		return &other
	}
	return &Stretch{min(s.First, other.First), max(s.Last, other.Last), min(s.Due, other.Due)}
}

// second in which the first ended.
func (s Stretch) second() int { return int(s.First / IntervalDefault) }

// Standstill is a time in which users waited and nobody got a valid answer.
type Standstill struct{ From, To time.Duration }

// ends are the answers and failures of a second.
type ends struct{ answers, failures *Stretch }

// Standstills of the steady state. A time without answers counts from when somebody waited for one.
func (t *Tally) Standstills() (all []Standstill) {
	least := StandstillLeast
	if t.Answered > 0 {
		least = max(least, StandstillGaps*t.Steady()/time.Duration(t.Answered))
	}
	add := func(from, to time.Duration) {
		if from, to = max(from, t.From), min(to, t.To); to-from >= least {
			all = append(all, Standstill{from, to})
		}
	}
	last := time.Duration(0)
	var failed *Stretch // since the last answer
	for _, s := range t.seconds {
		if s.failures != nil {
			failed = failed.merged(*s.failures)
		}
		if s.answers == nil {
			continue
		}
		due := s.answers.Due
		if failed != nil {
			due = min(due, failed.Due)
		}
		add(max(last, due), s.answers.First)
		if last, failed = s.answers.Last, nil; s.failures != nil && s.failures.Last > last {
			failed = s.failures
		}
	}
	if failed != nil {
		add(max(last, failed.Due), failed.Last)
	}
	return all
}
