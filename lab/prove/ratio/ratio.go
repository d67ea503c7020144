// Package ratio holds the statistics of an A/B experiment: two series of figures, one per run, made in turns, and the
// factor between them.
//
// The replicate is the run, never the request: requests of one run are not independent.
package ratio

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Confidence that intervals aim at.
const Confidence = 0.95

// RunsMin is how many runs of each side such an interval needs: with 3+3 even complete separation happens by chance
// once in ten.
const RunsMin = 4

// Ratio is variant over base with its interval.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Confidence of this interval: at least Confidence, less only with fewer than RunsMin runs.
	Confidence float64 `json:"confidence"`
	Base       int     `json:"base_runs"`
	Variant    int     `json:"variant_runs"`
}

// Of estimates variant/base by Hodges and Lehmann, "Estimates of location based on
// rank tests" (1963), on logarithms: the median of all quotients vⱼ/bᵢ. The interval
// inverts the exact Mann-Whitney test: of the m·n quotients in order it reaches
// from the k-th smallest to the k-th largest, with the largest k for which
//
//	P(U ≤ k−1) ≤ (1 − Confidence)/2
//
// It assumes no distribution, only that the two differ by a factor. Figures must be positive.
func Of(base, variant []float64) (Ratio, error) {
	quotients, err := quotients(base, variant)
	if err != nil {
		return Ratio{}, err
	}
	k, confidence := rankOf(len(base), len(variant), Confidence)
	return Ratio{
		Ratio:      middle(quotients),
		Low:        quotients[k-1],
		High:       quotients[len(quotients)-k],
		Confidence: confidence,
		Base:       len(base),
		Variant:    len(variant),
	}, nil
}

// rankOf is the k of Of for m and n figures, and the confidence of the interval that it gives: the one aimed at or
// more, less only where there are too few figures. One value of the distribution takes time in proportion to m·n·k: k
// is found by halves, and remembered, since most rows of an experiment have as many figures.
func rankOf(m, n int, aim float64) (k int, confidence float64) {
	wanted := figures{min(m, n), max(m, n), aim}
	if known, is := ranks.Load(wanted); is {
		r := known.(rank)
		return r.k, r.confidence
	}
	u := stats.UDist{N1: m, N2: n}
	k = 1 + sort.Search(max(0, m*n/2-1), func(i int) bool { return u.CDF(float64(i+1)) > (1-aim)/2 })
	confidence = 1 - 2*u.CDF(float64(k-1))
	ranks.Store(wanted, rank{k, confidence})
	return k, confidence
}

type figures struct {
	few, many int
	aim       float64
}

type rank struct {
	k          int
	confidence float64
}

var ranks sync.Map // rank by figures

func quotients(base, variant []float64) ([]float64, error) {
	if len(base) == 0 || len(variant) == 0 {
		return nil, fmt.Errorf("compare: %d runs against %d", len(variant), len(base))
	}
	all := make([]float64, 0, len(base)*len(variant))
	for _, b := range base {
		for _, v := range variant {
			if !(b > 0 && v > 0) || math.IsInf(b, 1) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("compare: a ratio needs positive figures, not %v and %v", v, b)
			}
			all = append(all, v/b)
		}
	}
	slices.Sort(all)
	return all, nil
}

// middle of sorted quotients, their median; the geometric mean of the middle two, so that swapping the sides inverts
// the answer.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return math.Sqrt(sorted[n/2-1] * sorted[n/2])
}

// Median of figures of one side; 0 of none.
func Median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Sure says whether there were enough runs for a meaningful interval.
func (r Ratio) Sure() bool { return r.Confidence >= Confidence }

// String is the ratio with its interval: ×12.3 (10.1 to 15.0).
func (r Ratio) String() string {
	s := fmt.Sprintf("×%.3g (%.3g to %.3g)", r.Ratio, r.Low, r.High)
	if !r.Sure() {
		s += fmt.Sprintf(", %.0f %% confidence only", 100*r.Confidence)
	}
	return s
}
