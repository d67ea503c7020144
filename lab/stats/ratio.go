package stats

import (
	"fmt"
	"math"
	"slices"
)

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

// RatioOf estimates variant/base by Hodges and Lehmann, "Estimates of location based on rank tests" (1963), on
// logarithms: the median of all quotients vⱼ/bᵢ. The interval inverts the exact Mann-Whitney test (IntervalRank).
//
// It assumes no distribution, only that the two differ by a factor. Figures must be positive.
func RatioOf(base, variant []float64) (Ratio, error) {
	quotients, err := quotients(base, variant)
	if err != nil {
		return Ratio{}, err
	}
	k, confidence := IntervalRank(BelowAtMost([]Stratum{{base, variant}}), 1-Confidence)
	return Ratio{
		Ratio:      middle(quotients),
		Low:        quotients[k-1],
		High:       quotients[len(quotients)-k],
		Confidence: confidence,
		Base:       len(base),
		Variant:    len(variant),
	}, nil
}

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

// RatioAtLeast tests that variant/base is at least so much: p is the chance of figures like these if it were less, by
// the exact Mann-Whitney test that RatioOf inverts. RatioBelow tests that it is less.
func RatioAtLeast(base, variant []float64, bar float64) (p float64, err error) {
	return ratioTail(base, variant, func(quotient float64) bool { return quotient >= bar })
}

// RatioBelow is the other test of RatioAtLeast.
func RatioBelow(base, variant []float64, bar float64) (p float64, err error) {
	return ratioTail(base, variant, func(quotient float64) bool { return quotient < bar })
}

// ratioTail is P(U ≤ u), where u of the quotients speak against it.
func ratioTail(base, variant []float64, speaksFor func(quotient float64) bool) (p float64, err error) {
	all, err := quotients(base, variant)
	if err != nil {
		return 1, err
	}
	against := 0
	for _, q := range all {
		if !speaksFor(q) {
			against++
		}
	}
	return BelowAtMost([]Stratum{{base, variant}})[against], nil
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
