package tally

import (
	"math"
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/stats"
)

// Dependence is what the intervals know of how long operations depend on each other.
type Dependence struct {
	Seconds int // of the steady state that were drawn from
	Block   int // seconds drawn together
	// Speaks: the intervals are of the system, and not of this run alone, for which the steady state needs so many
	// seconds.
	Speaks bool
	Needs  int
}

// ApdexInterval is that of the overall score, and what it rests on: nil where the steady state is too short for the
// bootstrap, so that operations count as independent.
//
// It is the wider, at each end, of the block bootstrap over seconds and of apdex.Overall's. The first knows that
// operations of one moment share its luck; the second has a width where nobody was ever dissatisfied.
func (t *Tally) ApdexInterval() (apdex.Interval, *Dependence) {
	_, least, _ := t.Apdex()
	drawn, ok := stats.BlockRatio(t.moments.series(t.To, func(m moment) (sum stats.Moment) {
		for i, c := range m.cells {
			if p := t.priorities[i]; p > 0 {
				sum.Part += points(c.Counts) / float64(p)
				sum.Whole += float64(c.N()) / float64(p)
			}
		}
		return sum
	}))
	if !ok {
		return least, nil
	}
	width := t.moments.width
	known := &Dependence{Seconds: drawn.Moments * width, Block: drawn.Block * width,
		Needs: drawn.Needs(width)}
	known.Speaks = known.Seconds >= known.Needs
	return Wider(least, drawn), known
}

// ApdexIntervalOf one key operation.
func (t *Tally) ApdexIntervalOf(operation int) apdex.Interval {
	least := t.Operations[operation].Apdex.Interval()
	drawn, ok := stats.BlockRatio(t.moments.series(t.To, func(m moment) stats.Moment {
		c := m.cells[operation]
		return stats.Moment{Part: points(c.Counts), Whole: float64(c.N())}
	}))
	if !ok {
		return least
	}
	return Wider(least, drawn)
}

func points(c apdex.Counts) float64 { return float64(c.Satisfied) + float64(c.Tolerating)/2 }

// Wider is the interval of a score, from both ways to make one.
func Wider(least apdex.Interval, drawn stats.BlockInterval) apdex.Interval {
	return apdex.Interval{Low: max(0, min(least.Low, drawn.Low)), High: min(1, max(least.High, drawn.High))}
}

// Drift is a share of the percentile by which the ends of its interval are moved out. The timers of a machine move from
// run to run (0.3 to 1 ms of 252 ms were seen on an idle one), and a series from within one run cannot show that.
// Without it, 3 of 40 pairs of equal servers had p95 whose intervals did not meet.
const Drift = 0.005

// PercentileInterval of a key operation's latency, by Woodruff's method ("Confidence intervals for medians and other
// position measures", JASA 47, 1952): the interval of the share that lies below the percentile, read back from the
// distribution. High is 0 where so few operations have no upper bound.
func (t *Tally) PercentileInterval(operation int, p float64) (low, high time.Duration, ok bool) {
	return t.percentileInterval(operation, p, 0, func(c momentCell, at int64) stats.Moment { return c.upTo(at) })
}

// PercentileIntervalOfAll operations, failures being the longest. High is 0 where it is one of those, too; there is no
// interval where Low is.
func (t *Tally) PercentileIntervalOfAll(operation int, p float64) (low, high time.Duration, ok bool) {
	o := t.Operations[operation]
	return t.percentileInterval(operation, p, o.N()-o.Latency.N(), func(c momentCell, at int64) stats.Moment {
		return stats.Moment{Part: c.upTo(at).Part, Whole: float64(c.N())}
	})
}

func (t *Tally) percentileInterval(operation int, p float64, failed int64,
	upTo func(momentCell, int64) stats.Moment) (low, high time.Duration, ok bool) {
	times := t.Operations[operation].Latency
	at, ok := times.PercentileWith(failed, p)
	if !ok { // of a percentile among the failures the share of the answers says what can be said
		at = times.Max()
	}
	below := t.moments.series(t.To, func(m moment) stats.Moment {
		return upTo(m.cells[operation], microseconds(at))
	})
	drawn, ok := stats.BlockRatio(below)
	if !ok {
		return 0, 0, false
	}
	var sum stats.Moment
	for _, m := range below {
		sum.Part, sum.Whole = sum.Part+m.Part, sum.Whole+m.Whole
	}
	share, n := sum.Part/sum.Whole, float64(times.N()+failed)
	least, most := stats.Wilson(math.Round(p/100*n)/n, n)
	lowest := min(least, p/100+drawn.Low-share)
	highest := max(most, p/100+drawn.High-share)
	if math.Ceil(highest*n) < n {
		high, _ = times.PercentileWith(failed, 100*highest)
	}
	low, ok = times.PercentileWith(failed, 100*max(0, lowest))
	return scaled(low, 1-Drift), scaled(high, 1+Drift), ok
}

func scaled(d time.Duration, factor float64) time.Duration { return time.Duration(float64(d) * factor) }

// RateInterval is that of valid answers per second of the steady state.
func (t *Tally) RateInterval() (low, high float64, ok bool) {
	var values []float64
	for _, m := range t.moments.all[:t.moments.within(t.To)] {
		values = append(values, float64(m.answered)/float64(t.moments.width))
	}
	if t.From%IntervalDefault != 0 && len(values) > 0 {
		values = values[1:] // the steady state began in it
	}
	drawn, ok := stats.BlockMean(values)
	return max(0, drawn.Low), drawn.High, ok
}

// AllOperations stands for an operation where all together are meant.
const AllOperations = -1

// FailedInterval is that of the share of operations that failed or were refused for overload: the wider, at each end,
// of the block bootstrap and of Wilson's, as ApdexInterval.
func (t *Tally) FailedInterval(operation int) (low, high float64, ok bool) {
	series := t.moments.series(t.To, func(m moment) (sum stats.Moment) {
		for i, c := range m.cells {
			if i == operation || operation == AllOperations {
				answered := c.upTo(microseconds(TimesMax)).Whole
				sum.Part, sum.Whole = sum.Part+float64(c.N())-answered, sum.Whole+float64(c.N())
			}
		}
		return sum
	})
	drawn, ok := stats.BlockRatio(series)
	if !ok {
		return 0, 0, false
	}
	var all stats.Moment
	for _, m := range series {
		all.Part, all.Whole = all.Part+m.Part, all.Whole+m.Whole
	}
	low, high = stats.Wilson(all.Part/all.Whole, all.Whole)
	return max(0, min(low, drawn.Low)), min(1, max(high, drawn.High)), true
}
