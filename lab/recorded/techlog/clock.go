package techlog

import "time"

// Clock finds out how finely the server's clock ticks. On some machines it ticks every 15 ms, and the microseconds
// behind are serial numbers: then an event of "1 µs" took anything up to a tick.
type Clock struct {
	last  time.Time
	steps map[time.Duration]int64
	n     int64
}

// Steps that a clock has seen, to go on with.
type Steps struct {
	Last  time.Time               `json:"last"`
	Steps map[time.Duration]int64 `json:"steps"`
	N     int64                   `json:"n"`
}

// Steps so far.
func (c *Clock) Steps() Steps { return Steps{c.last, c.steps, c.n} }

// ClockOf goes on with the steps of another one.
func ClockOf(s Steps) Clock { return Clock{s.Last, s.Steps, s.N} }

// See an event of one process, in the order of the file. A jump is a step of the clock of a millisecond or more
// between ends of neighbours.
func (c *Clock) See(e *Event) {
	if c.steps == nil {
		c.steps = map[time.Duration]int64{}
	}
	at := e.At.Truncate(time.Millisecond)
	if step := at.Sub(c.last); !c.last.IsZero() && step > 0 && step < time.Second {
		c.steps[step]++
		c.n++
	}
	c.last = at
}

// Tick of the clock; zero when it is a millisecond or finer, or when too little was seen to say.
func (c *Clock) Tick() time.Duration {
	const (
		enough = 50 // steps
		most   = 0.9
		coarse = 5 * time.Millisecond
		// Steps of more ticks than that say little, as the error of the tick adds up.
		multiplesMost = 4
	)
	if c.n < enough {
		return 0
	}
	// The shortest step that is not rare. A coarse clock makes hardly any below it, and the others are multiples of it.
	shortest := time.Duration(0)
	for step, n := range c.steps {
		if float64(n) >= 0.01*float64(c.n) && (shortest == 0 || step < shortest) {
			shortest = step
		}
	}
	if shortest < coarse {
		return 0
	}
	// Whole milliseconds are seen: a tick of 15.6 ms is 15 as often as 16.
	one, other := c.steps[shortest], c.steps[shortest+time.Millisecond]
	tick := shortest + time.Duration(other)*time.Millisecond/time.Duration(one+other)
	var near, few int64
	for step, n := range c.steps {
		nearest := step.Round(tick)
		if nearest > multiplesMost*tick {
			continue
		}
		few += n
		if (step - nearest).Abs() <= time.Millisecond {
			near += n
		}
	}
	if few < enough || float64(near) < most*float64(few) {
		return 0
	}
	return tick
}
