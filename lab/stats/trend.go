package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rising is the probability of at least as many rising pairs in a series without a trend: the Mann-Kendall test, in its
// normal approximation with ties (H. B. Mann, 1945; M. G. Kendall, 1975).
func Rising(x []float64) float64 {
	n, s := float64(len(x)), 0.0
	for i := range x {
		for k := i + 1; k < len(x); k++ {
			switch {
			case x[k] > x[i]:
				s++
			case x[k] < x[i]:
				s--
			}
		}
	}
	variance := n * (n - 1) * (2*n + 5) / 18
	sorted := slices.Sorted(slices.Values(x))
	for i := 0; i < len(sorted); {
		k := i
		for k < len(sorted) && sorted[k] == sorted[i] {
			k++
		}
		tied := float64(k - i)
		variance -= tied * (tied - 1) * (2*tied + 5) / 18
		i = k
	}
	if variance <= 0 || s <= 0 {
		return 1
	}
	return distuv.UnitNormal.CDF(-(s - 1) / math.Sqrt(variance))
}
