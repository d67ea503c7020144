package tally

import (
	"slices"
	"time"

	"plimsoll/lab/load/apdex"
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
	Users    int // active at its end
	InFlight int // most operations under way at once
	Backlog  int // most that waited for a slot at once
	Outcomes [outcomes]int64
	Apdex    apdex.Counts
	LagMax   time.Duration
	times    []byte // latencies of answered operations, encoded; nil: none
	// Percentiles of all operations, failures being the longest; NoPercentile: among those, or nothing ended.
	P50, P95, P99 time.Duration
}

// NoPercentile is that of an interval in which it is a failed operation.
const NoPercentile = -1 * time.Microsecond

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

func (l *Timeline) count(p Page) {
	l.open.LagMax = max(l.open.LagMax, p.LagMax)
	for i := range p.Judged {
		l.countCell(p.Judged[i])
		l.countCell(p.Others[i])
	}
	l.open.Users = p.Users
	l.open.Backlog = max(l.open.Backlog, p.Backlog)
	l.open.InFlight = max(l.open.InFlight, p.InFlight)
}

func (l *Timeline) countCell(c Cell) {
	for i, n := range c.Outcomes {
		l.open.Outcomes[i] += n
	}
	l.open.Apdex.Add(c.Apdex)
	l.openTimes.RecordAll(c.Latency)
}

// tick takes in a whole second.
func (l *Timeline) tick(p Page) error {
	l.count(p)
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

// close ends the timeline: what is open becomes the last interval, unless it is
// less than a second in which nothing ended.
func (l *Timeline) close(last Page) error {
	if last.Ended() == 0 && l.open.Apdex.N() == 0 && l.openSecs == 0 && len(l.Intervals) > 0 {
		return nil
	}
	l.count(last)
	return l.seal()
}

func (i *Interval) setTimes(times *Times) (err error) {
	for p, to := range map[float64]*time.Duration{50: &i.P50, 95: &i.P95, 99: &i.P99} {
		if d, ok := times.PercentileWith(i.Outcomes[Overload]+i.Outcomes[Failed], p); ok {
			*to = d
		} else {
			*to = NoPercentile
		}
	}
	if times.N() > 0 {
		i.times, err = times.MarshalText()
	}
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
	i.Users, i.InFlight, i.Backlog = next.Users, max(i.InFlight, next.InFlight), max(i.Backlog, next.Backlog)
	for k := range i.Outcomes {
		i.Outcomes[k] += next.Outcomes[k]
	}
	i.Apdex.Add(next.Apdex)
	i.LagMax = max(i.LagMax, next.LagMax)
	return i.addTimes(next)
}

// addTimes computes the percentiles again, since those of two intervals also depend on the failures of both.
func (i *Interval) addTimes(other Interval) error {
	sum := NewTimes()
	for _, text := range [][]byte{i.times, other.times} {
		if text == nil {
			continue
		}
		var times Times
		if err := times.UnmarshalText(text); err != nil {
			return err
		}
		if err := sum.Merge(&times); err != nil {
			return err
		}
	}
	return i.setTimes(sum)
}
