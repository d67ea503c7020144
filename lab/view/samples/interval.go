package samples

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Range is a 95 % interval; without an upper end where too few operations bound it.
type Range struct {
	Low  float64  `json:"low"`
	High *float64 `json:"high"`

	// Between which each end of the run's interval may lie. Its block length jumps where the series is a little off: it
	// may be any. Of a percentile they are latencies, from one of which to the next may be far.
	lows, highs [2]float64
}

// The intervals' definition is that of the report: docs/design and lab/stats say where it comes from. Only its
// figures are here once more.
const (
	z975       = 1.959963984540054
	leastSeen  = 10 // seconds, from which on there is a bootstrap
	mostSeen   = 600
	resamples  = 1000
	fewestRuns = 4     // blocks in a series
	stretched  = 3     // times the block of the rule
	drift      = 0.005 // of a percentile, between runs
)

// share of something in one second: what counts, of how much.
type share struct{ some, all float64 }

func total(series []share) (sum share) {
	for _, s := range series {
		sum.some, sum.all = sum.some+s.some, sum.all+s.all
	}
	return sum
}

// drawing is an interval of a share, and between which its ends lie with blocks of any length.
type drawing struct {
	low, high   float64
	lows, highs [2]float64
}

// blockInterval is the interval of the share over all seconds when blocks of them are drawn with replacement; false
// where there is too little.
func blockInterval(series []share) (d drawing, ok bool) {
	for len(series) > mostSeen {
		var pairs []share
		for i := 0; i < len(series); i += 2 {
			pairs = append(pairs, total(series[i:min(i+2, len(series))]))
		}
		series = pairs
	}
	n, sum := len(series), total(series)
	if n < leastSeen || sum.all <= 0 {
		return d, false
	}
	mean := sum.some / sum.all
	off := make([]float64, n)
	for i, s := range series {
		off[i] = s.some - mean*s.all
	}
	longest := n / fewestRuns
	d.low, d.high = inBlocks(series, mean, min(stretched*dependence(off), longest))
	d.lows, d.highs = [2]float64{d.low, d.low}, [2]float64{d.high, d.high}
	for block := 1; block <= longest; block = min(block+max(1, block/2), max(longest, block+1)) {
		low, high := inBlocks(series, mean, block)
		d.lows = [2]float64{min(d.lows[0], low), max(d.lows[1], low)}
		d.highs = [2]float64{min(d.highs[0], high), max(d.highs[1], high)}
	}
	return d, true
}

// inBlocks is the interval when blocks of that many seconds are drawn.
func inBlocks(series []share, mean float64, block int) (low, high float64) {
	n := len(series)
	sums := make([]share, 2*n+1) // over the series twice, since blocks wrap around
	for i := range 2 * n {
		one := series[i%n]
		sums[i+1] = share{sums[i].some + one.some, sums[i].all + one.all}
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var found []float64
	for range resamples {
		var s share
		for left := n; left > 0; left -= block {
			from := random.IntN(n)
			to := from + min(block, left)
			s.some, s.all = s.some+sums[to].some-sums[from].some, s.all+sums[to].all-sums[from].all
		}
		if s.all > 0 {
			found = append(found, s.some/s.all)
		}
	}
	slices.Sort(found)
	blocks := float64(n) / float64(block)
	tail := distuv.UnitNormal.CDF(-distuv.StudentsT{Sigma: 1, Nu: blocks - 1}.Quantile(0.975) *
		math.Sqrt(blocks/(blocks-1)))
	return min(mean, interpolated(found, tail)), max(mean, interpolated(found, 1-tail))
}

func interpolated(sorted []float64, p float64) float64 {
	whole, part := math.Modf(p * float64(len(sorted)-1))
	at := int(whole)
	return sorted[at] + part*(sorted[min(at+1, len(sorted)-1)]-sorted[at])
}

// dependence is the block length of Politis and White for deviations whose mean is 0.
func dependence(x []float64) int {
	n := float64(len(x))
	quiet := max(5, int(math.Ceil(math.Sqrt(math.Log10(n)))))
	longest := min(int(math.Ceil(math.Sqrt(n)))+quiet, len(x)-1)
	covariance := func(lag int) (sum float64) {
		for i := range len(x) - lag {
			sum += x[i] * x[i+lag]
		}
		return sum / n
	}
	variance := covariance(0)
	if variance <= 0 {
		return 1
	}
	last, limit := 0, 2*math.Sqrt(math.Log10(n)/n)
	for lag := 1; lag <= longest && lag <= last+quiet; lag++ {
		if math.Abs(covariance(lag))/variance > limit {
			last = lag
		}
	}
	m := min(2*last, longest)
	g, d := 0.0, variance
	for lag := 1; lag <= m; lag++ {
		weight := max(0, min(1, 2-2*float64(lag)/float64(m)))
		c := covariance(lag)
		g, d = g+2*weight*float64(lag)*c, d+2*weight*c
	}
	if g <= 0 || d <= 0 {
		return 1
	}
	return max(1, int(math.Ceil(math.Pow(1.5*g*g/(d*d)*n, 1.0/3))))
}

// wilson is the interval of a mean of n values between 0 and 1 that do not depend on each other.
func wilson(mean, n float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	off := z975 * math.Sqrt(mean*(1-mean)/n+z975*z975/(4*n*n))
	middle, scale := mean+z975*z975/(2*n), 1+z975*z975/n
	return max(0, (middle-off)/scale), min(1, (middle+off)/scale)
}

// wider of two intervals of a score, at each end.
func wider(low, high float64, series []share) *Range {
	lows, highs := [2]float64{low, low}, [2]float64{high, high}
	if d, ok := blockInterval(series); ok {
		for i := range 2 {
			lows[i], highs[i] = min(low, d.lows[i]), max(high, d.highs[i])
		}
		low, high = min(low, d.low), max(high, d.high)
	}
	high = min(1, high)
	return &Range{Low: max(0, low), High: &high, lows: lows, highs: highs}
}

// percentileRange is Woodruff's: the interval of the share that the percentile does not exceed, read back from the
// latencies in their order, behind which so many failures stand. nil: there is none.
func percentileRange(sorted []int64, failed int, p float64, below func(at int64) []share) *Range {
	n := float64(len(sorted) + failed)
	ranked := func(share float64) (int64, bool) {
		at := max(1, int(math.Ceil(share*n-1e-9)))
		if at > len(sorted) {
			return 0, false
		}
		return sorted[at-1], true
	}
	if len(sorted) == 0 {
		return nil
	}
	at, ok := ranked(p)
	if !ok {
		at = sorted[len(sorted)-1]
	}
	series := below(at)
	d, ok := blockInterval(series)
	if !ok {
		return nil
	}
	sum := total(series)
	center := sum.some / sum.all
	independent, upper := wilson(math.Round(p*n)/n, n)
	under := func(low float64) float64 { return min(independent, p+low-center) }
	over := func(high float64) float64 { return max(upper, p+high-center) }
	least, most := under(d.low), over(d.high)
	low, ok := ranked(max(0, least))
	if !ok {
		return nil
	}
	found := &Range{Low: milliseconds(low) * (1 - drift)}
	around := func(from, to float64) (ends [2]float64) {
		off := ofWidth*(most-least) + 2/n
		ends[1] = math.Inf(1)
		if ms, ok := ranked(from - off); ok {
			ends[0] = milliseconds(ms) * (1 - drift)
		}
		if ms, ok := ranked(to + off); ok {
			ends[1] = milliseconds(ms) * (1 + drift)
		}
		return ends
	}
	found.lows, found.highs = around(under(d.lows[0]), under(d.lows[1])),
		around(over(d.highs[0]), over(d.highs[1]))
	if math.Ceil(most*n) < n {
		if high, ok := ranked(most); ok {
			ms := milliseconds(high) * (1 + drift)
			found.High = &ms
		}
	}
	return found
}
