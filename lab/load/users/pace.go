package users

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// Pace is how fast life goes over the steady state, as a line through points: at
// level 2 people think half as long as at level 1, at level 0 nobody begins
// anything. Two points at one moment are a jump. Before the first point and after the last, their levels hold. Without
// points the level is 1.
//
// A think time x that begins at a ends where the area under the line from a is x.
// That is the change of time of a renewal process: whatever its think times, a crowd
// acts at level(t) times its ordinary rate (D. R. Cox, V. Isham, "Point Processes",
// 1980, §4.2), and Poisson arrivals stay Poisson.
type Pace []PacePoint

// PacePoint is a level at a part of the steady state, 0..1.
type PacePoint struct{ At, Level float64 }

// Check says what is wrong with it.
func (p Pace) Check() error {
	any := len(p) == 0
	for i, point := range p {
		switch {
		case !(point.At >= 0 && point.At <= 1):
			return fmt.Errorf("pace at %v of the steady state: must be between 0 and 1", point.At)
		case !(point.Level >= 0) || math.IsInf(point.Level, 0):
			return fmt.Errorf("pace of %v: must be 0 or more", point.Level)
		case i > 0 && point.At < p[i-1].At:
			return fmt.Errorf("pace at %v after that at %v: must ascend", point.At, p[i-1].At)
		}
		any = any || point.Level > 0
	}
	if !any {
		return fmt.Errorf("the pace is 0 all the time: no user would ever act")
	}
	return nil
}

// at is the level at a part of the steady state.
func (p Pace) at(part float64) float64 {
	i := sort.Search(len(p), func(i int) bool { return p[i].At > part })
	switch {
	case len(p) == 0:
		return 1
	case i == 0:
		return p[0].Level
	case i == len(p):
		return p[i-1].Level
	}
	from, to := p[i-1], p[i]
	return from.Level + (to.Level-from.Level)*(part-from.At)/(to.At-from.At)
}

// clock turns think time into time of a run.
type clock struct {
	at    []float64 // nanoseconds since the start of the ramp
	level []float64
}

func newClock(p Pace, ramp, steady time.Duration) clock {
	var c clock
	for _, point := range p {
		c.at = append(c.at, float64(ramp)+point.At*float64(steady))
		c.level = append(c.level, point.Level)
	}
	return c
}

// never is later than any run ends.
const never = time.Duration(math.MaxInt64 / 4)

// after is the moment when a think time that began at from is over.
func (c clock) after(from, think time.Duration) time.Duration {
	if len(c.at) == 0 {
		return from + think
	}
	at, left := float64(from), float64(think)
	begin := sort.SearchFloat64s(c.at, at) // a recorded day has thousands of points
	for i := begin; i <= len(c.at); i++ {
		end := math.Inf(1)
		if i < len(c.at) {
			end = c.at[i]
		}
		if at >= end {
			continue
		}
		now, slope := c.line(i, at)
		if area := now*(end-at) + slope*(end-at)*(end-at)/2; area < left {
			at, left = end, left-area
			continue
		}
		return later(at, reach(now, slope, left))
	}
	return never
}

func later(at, more float64) time.Duration {
	if t := at + more; t < float64(never) {
		return time.Duration(math.Round(t))
	}
	return never
}

// line is level and slope at a moment before point i.
func (c clock) line(i int, at float64) (level, slope float64) {
	if i == 0 {
		return c.level[0], 0
	}
	if i == len(c.at) {
		return c.level[i-1], 0
	}
	slope = (c.level[i] - c.level[i-1]) / (c.at[i] - c.at[i-1])
	return c.level[i-1] + slope*(at-c.at[i-1]), slope
}

// reach solves level·x + slope·x²/2 = area for the first x ≥ 0, in the form that loses
// no digits when the slope is small.
func reach(level, slope, area float64) float64 {
	if area == 0 {
		return 0
	}
	return 2 * area / (level + math.Sqrt(math.Max(0, level*level+2*slope*area)))
}
