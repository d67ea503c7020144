package users

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Spacing of open arrivals.
type Spacing string

const (
	// Poisson arrivals are independent of each other, as those of very many people are:
	// the gaps are exponential.
	Poisson Spacing = "poisson"
	// Even arrivals have equal gaps.
	Even Spacing = "constant"
)

// Spacings are all of them.
var Spacings = []Spacing{Poisson, Even}

// Arrivals make the model open: operations arrive at a rate of their own, whatever
// became of earlier ones. The users of the crowd are then sessions: an arrival takes a
// free one, and if there is none it waits its turn. That wait is in the latency,
// which counts from the scheduled arrival, but is no lag of the generator.
//
// Over the ramp the rate grows evenly from 0; over the steady state it follows the pace.
type Arrivals struct {
	Spacing Spacing
	Rate    float64 // operations per second at pace 1
}

// Check says what is wrong with them.
func (a Arrivals) Check() error {
	switch {
	case a.Spacing != Poisson && a.Spacing != Even:
		return fmt.Errorf("arrivals %q: must be %s or %s", a.Spacing, Poisson, Even)
	case !(a.Rate > 0 && a.Rate <= RateMax):
		return fmt.Errorf("%v arrivals per second: must be above 0 and at most %v", a.Rate, RateMax)
	}
	return nil
}

// RateMax is more than one generator process can send.
const RateMax = 1e6

// stream is the arrivals of one run. Gaps, choice of operations and what is done have
// random numbers of their own: the schedule depends on the seed alone.
type stream struct {
	Arrivals
	segment Segment
	seed    uint64
	gaps    *rand.Rand
	choices *rand.Rand
	clock   clock
	mix     mix
	next    time.Duration
	arrived int32
	free    []session // first come, first served: all sessions take turns
}

// session is a user who has nothing to do, since when.
type session struct {
	user  int32
	since time.Duration
}

func newStream(c Crowd) (*stream, error) {
	m, err := newMix(c.Shares(), c.Operations)
	if err != nil {
		return nil, err
	}
	s := &stream{
		Arrivals: *c.Arrivals, segment: c.Segment, seed: c.Seed, mix: m, clock: risingClock(c.Pace, c.Ramp, c.Steady),
		gaps: rand.New(rand.NewPCG(c.Seed, 1<<40)), choices: rand.New(rand.NewPCG(c.Seed, 1<<41)),
	}
	c.Segment.Each(0, c.Users, func(user int) { s.free = append(s.free, session{user: int32(user)}) })
	s.schedule()
	return s, nil
}

// risingClock lets the pace grow from 0 over the ramp.
func risingClock(p Pace, ramp, steady time.Duration) clock {
	if ramp == 0 {
		return newClock(p, ramp, steady)
	}
	c := newClock(p, ramp, steady)
	if len(c.at) == 0 || c.at[0] > float64(ramp) {
		first := 1.0
		if len(c.at) > 0 {
			first = c.level[0]
		}
		c.at, c.level = append([]float64{float64(ramp)}, c.at...), append([]float64{first}, c.level...)
	}
	return clock{append([]float64{0}, c.at...), append([]float64{0}, c.level...)}
}

// schedule sets the next arrival.
func (s *stream) schedule() {
	gap := 1 / s.Rate
	if s.Spacing == Poisson {
		gap *= s.gaps.ExpFloat64()
	}
	s.next = s.clock.after(s.next, time.Duration(gap*float64(time.Second)))
}

// take is the segment's next arrival if it is due by now. Each segment draws all arrivals
// with what they bring, and leaves those of the others alone.
func (s *stream) take(now time.Duration) (entry, bool) {
	for s.next <= now {
		e := entry{due: s.next, number: s.arrived, operation: int32(s.mix.pick(s.choices))}
		s.arrived++
		s.schedule()
		if s.segment.has(int(e.number)) {
			return e, true
		}
	}
	return entry{}, false
}

// content are the random numbers of an arrival.
func (s *stream) content(number int32) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, 1<<42+uint64(number)))
}

// takeFreeSession takes the session that has been free the longest.
func (s *stream) takeFreeSession() session {
	first := s.free[0]
	s.free = s.free[1:]
	return first
}
