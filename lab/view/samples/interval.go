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

	// Of a percentile: the latencies between which each end lies when the share that it is read from is a little off.
	// From one to the next may be far, where operations are few.
	lows, highs [2]float64
}

// The intervals' definition is that of the report: docs/design and lab/load/bootstrap say where it comes from. Only its
// figures are here once more.
const (
	z975       = 1.959963984540054
	leastSeen  = 10 // seconds, from which on there is a bootstrap
	mostSeen   = 600
	resamples  = 1000
	fewestRuns = 4 // blocks in a series
	stretched  = 3 // times the block of the rule
)

// share of something in one second: what counts, of how much.
type share struct{ some, all float64 }

func total(series []share) (sum share) {
	for _, s := range series {
		sum.some, sum.all = sum.some+s.some, sum.all+s.all
	}
	return sum
}

// drawn is the interval of the share over all seconds when blocks of them are drawn with replacement; false where there
// is too little.
func drawn(series []share) (low, high float64, ok bool) {
	for len(series) > mostSeen {
		var pairs []share
		for i := 0; i < len(series); i += 2 {
			pairs = append(pairs, total(series[i:min(i+2, len(series))]))
		}
		series = pairs
	}
	n, sum := len(series), total(series)
	if n < leastSeen || sum.all <= 0 {
		return 0, 0, false
	}
	mean := sum.some / sum.all
	off := make([]float64, n)
	for i, s := range series {
		off[i] = s.some - mean*s.all
	}
	block := min(stretched*dependence(off), n/fewestRuns)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var found []float64
	for range resamples {
		var s share
		for left := n; left > 0; left -= block {
			from := random.IntN(n)
			for i := range min(block, left) {
				one := series[(from+i)%n]
				s.some, s.all = s.some+one.some, s.all+one.all
			}
		}
		if s.all > 0 {
			found = append(found, s.some/s.all)
		}
	}
	slices.Sort(found)
	blocks := float64(n) / float64(block)
	tail := distuv.UnitNormal.CDF(-distuv.StudentsT{Sigma: 1, Nu: blocks - 1}.Quantile(0.975) *
		math.Sqrt(blocks/(blocks-1)))
	return min(mean, between(found, tail)), max(mean, between(found, 1-tail)), true
}

func between(sorted []float64, p float64) float64 {
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
	if l, h, ok := drawn(series); ok {
		low, high = min(low, l), max(high, h)
	}
	high = min(1, high)
	return &Range{Low: max(0, low), High: &high}
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
	l, h, ok := drawn(series)
	if !ok {
		return nil
	}
	sum := total(series)
	center := sum.some / sum.all
	least, most := wilson(math.Round(p*n)/n, n)
	least, most = min(least, p+l-center), max(most, p+h-center)
	low, ok := ranked(max(0, least))
	if !ok {
		return nil
	}
	found := &Range{Low: milliseconds(low)}
	around := func(share float64) (ends [2]float64) {
		off := ofWidth*(most-least) + 2/n
		ends[1] = math.Inf(1)
		if ms, ok := ranked(share - off); ok {
			ends[0] = milliseconds(ms)
		}
		if ms, ok := ranked(share + off); ok {
			ends[1] = milliseconds(ms)
		}
		return ends
	}
	found.lows, found.highs = around(least), around(most)
	if math.Ceil(most*n) < n {
		if high, ok := ranked(most); ok {
			ms := milliseconds(high)
			found.High = &ms
		}
	}
	return found
}
