// Package stats owns the statistics of the lab: medians and percentiles, intervals, rank tests and the order in which
// sides take turns. It knows figures alone, and nothing of runs.
//
// The replicate of a comparison is the run, never the request: requests of one run are not independent. Within a run
// intervals come from blocks of neighbouring seconds (BlockRatio).
//
// Distributions are gonum's (gonum.org/v1/gonum/stat/distuv).
package stats

import (
	"cmp"
	"math"
	"slices"
)

const (
	// Confidence that intervals aim at, on both sides.
	Confidence = 0.95
	// Z is the normal quantile of Confidence: Φ(Z) = 0.975.
	Z = 1.959963984540054
	// Tail of a test is half of what an interval of Confidence leaves out.
	Tail = (1 - Confidence) / 2
	// RunsMin is how many runs of each side such an interval needs: with 3+3 even complete separation happens by chance
	// once in ten.
	RunsMin = 4
)

// Median is the middle figure in order of size, with an even number the mean of the middle two; 0 of none.
func Median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Percentile is the nearest rank: the least figure that so large a share (0 to 1) of all does not exceed, the
// ⌈p·n⌉-th; the zero value of none. It is type 1 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
// packages", The American Statistician 50, 1996, and what a result's histograms give (tally.Times).
func Percentile[T cmp.Ordered](figures []T, p float64) (least T) {
	if len(figures) == 0 {
		return least
	}
	return ofSorted(slices.Sorted(slices.Values(figures)), p)
}

func ofSorted[T cmp.Ordered](sorted []T, p float64) T {
	const rounding = 1e-9 // 0.07·100 is 7.000000000000001
	rank := int(math.Ceil(p*float64(len(sorted)) - rounding))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// interpolated is the quantile between the figures: type 7 of Hyndman and Fan.
func interpolated(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Wilson is the interval of a share that n independent samples saw (E. B. Wilson, "Probable inference, the law of
// succession, and statistical inference", JASA 22, 1927):
//
//	centre ± half = ( p + z²/2n  ±  z·sqrt( p(1−p)/n + z²/4n² ) ) / ( 1 + z²/n )
//
// It stays inside [0, 1] and keeps a width at 0 and 1, where the usual p ± z·s/√n has none.
func Wilson(share, n float64) (low, high float64) {
	const z2 = Z * Z
	centre := share + z2/(2*n)
	half := Z * math.Sqrt(share*(1-share)/n+z2/(4*n*n))
	scale := 1 + z2/n
	return max(0, (centre-half)/scale), min(1, (centre+half)/scale)
}

// Holm corrects the p of several tests: with many of them one is small by chance. The k-th smallest of n is multiplied
// by its factor n−k+1, and none is smaller than one before it. S. Holm, "A simple sequentially rejective multiple test
// procedure", 1979.
func Holm(p []float64) (corrected, factors []float64) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	corrected, factors = make([]float64, len(p)), make([]float64, len(p))
	most := 0.0
	for k, i := range order {
		factors[i] = float64(len(p) - k)
		most = max(most, min(1, p[i]*factors[i]))
		corrected[i] = most
	}
	return corrected, factors
}
