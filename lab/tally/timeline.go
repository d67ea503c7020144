package tally

import (
	"errors"
	"slices"
	"time"

	"plimsoll/lab/apdex"
)

// Width of an interval at the start, and how many are kept: when there are more,
// neighbours are merged and intervals become twice as wide, so that a run of ten
// hours needs no more memory than one of an hour.
const (
	IntervalDefault = time.Second
	IntervalsMax    = 3600
)

// Interval is what ended, or was seen, in one stretch of the run.
type Interval struct {
	Users    int // at work at its end
	InFlight int // most operations under way at once
	Backlog  int // most that waited for a slot at once
	Outcomes [outcomes]int64
	Apdex    apdex.Counts
	LagMax   time.Duration
	times    []byte // latencies of answered operations, encoded; nil: none
	P50      time.Duration
	P95      time.Duration
	P99      time.Duration
}

// Answered is how many operations got a valid answer.
func (i Interval) Answered() int64 { return i.Outcomes[OK] + i.Outcomes[Refused] }

// Timeline is the run in intervals of equal width, the first from its start.
type Timeline struct {
	Width     time.Duration
	Intervals []Interval
	most      int      // intervals to keep
	open      Interval // counted but not closed
	openTimes *Times
	openSecs  int // closed seconds inside open, while Width is more than one
}

func newTimeline() *Timeline {
	return &Timeline{Width: IntervalDefault, most: IntervalsMax, openTimes: NewTimes()}
}

func (l *Timeline) count(s Sample, target time.Duration) {
	l.open.Outcomes[s.Outcome]++
	l.open.LagMax = max(l.open.LagMax, s.Lag())
	if !s.Outcome.Answered() {
		l.open.Apdex.Fail()
		return
	}
	l.open.Apdex.Time(s.Latency(), target)
	l.openTimes.Record(s.Latency())
}

// Tick closes a second, with the users then at work and the most operations that
// were under way, and that waited for a slot, in it.
func (l *Timeline) Tick(users, inFlight, backlog int) error {
	l.open.Users = users
	l.open.Backlog = max(l.open.Backlog, backlog)
	l.open.InFlight = max(l.open.InFlight, inFlight)
	l.openSecs++
	if time.Duration(l.openSecs)*IntervalDefault < l.Width {
		return nil
	}
	if err := l.seal(); err != nil {
		return err
	}
	if len(l.Intervals) < l.most {
		return nil
	}
	return l.widen()
}

// seal moves the open interval into the list.
func (l *Timeline) seal() error {
	if err := l.open.setTimes(l.openTimes); err != nil {
		return err
	}
	l.Intervals = append(l.Intervals, l.open)
	l.open, l.openSecs = Interval{}, 0
	l.openTimes.Reset()
	return nil
}

// Close ends the timeline: what is open becomes the last interval, unless it is
// less than a second in which nothing ended.
func (l *Timeline) Close(users int) error {
	if l.open.Apdex.N() == 0 && l.openSecs == 0 && len(l.Intervals) > 0 {
		return nil
	}
	l.open.Users = users
	return l.seal()
}

func (i *Interval) setTimes(times *Times) (err error) {
	if times.N() == 0 {
		return nil
	}
	i.P50, _ = times.Percentile(50)
	i.P95, _ = times.Percentile(95)
	i.P99, _ = times.Percentile(99)
	i.times, err = times.MarshalText()
	return err
}

// widen merges neighbours two by two.
func (l *Timeline) widen() error {
	half := make([]Interval, 0, (len(l.Intervals)+1)/2)
	for pair := range slices.Chunk(l.Intervals, 2) {
		one := pair[0]
		if len(pair) == 2 {
			if err := one.append(pair[1]); err != nil {
				return err
			}
		}
		half = append(half, one)
	}
	l.Intervals, l.Width = half, 2*l.Width
	return nil
}

// append takes in the interval that follows in time.
func (i *Interval) append(next Interval) error {
	users, inFlight, backlog := next.Users, max(i.InFlight, next.InFlight), max(i.Backlog, next.Backlog)
	err := i.add(next)
	i.Users, i.InFlight, i.Backlog = users, inFlight, backlog
	return err
}

// add takes in what another generator saw in the same interval.
func (i *Interval) add(other Interval) error {
	i.Users += other.Users
	i.InFlight += other.InFlight
	i.Backlog += other.Backlog
	for k := range i.Outcomes {
		i.Outcomes[k] += other.Outcomes[k]
	}
	i.Apdex.Add(other.Apdex)
	i.LagMax = max(i.LagMax, other.LagMax)
	return i.addTimes(other)
}

func (i *Interval) addTimes(other Interval) error {
	switch {
	case other.times == nil:
		return nil
	case i.times == nil:
		i.times, i.P50, i.P95, i.P99 = other.times, other.P50, other.P95, other.P99
		return nil
	}
	var mine, its Times
	if err := errors.Join(mine.UnmarshalText(i.times), its.UnmarshalText(other.times)); err != nil {
		return err
	}
	if err := mine.Merge(&its); err != nil {
		return err
	}
	return i.setTimes(&mine)
}

// merge adds a closed timeline that began at the same moment.
func (l *Timeline) merge(other *Timeline) error {
	for l.Width < other.Width {
		if err := l.widen(); err != nil {
			return err
		}
	}
	for l.Width > other.Width {
		if err := other.widen(); err != nil {
			return err
		}
	}
	for k, interval := range other.Intervals {
		if k >= len(l.Intervals) {
			l.Intervals = append(l.Intervals, interval)
		} else if err := l.Intervals[k].add(interval); err != nil {
			return err
		}
	}
	return nil
}
