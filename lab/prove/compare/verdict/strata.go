package verdict

import (
	"math"
	"slices"
)

// stratumMin is the number of pairs that a stratum has at least. Fewer would follow the machine more closely, but then
// a comparison that is decided at its first look, after 8 pairs, could not tell one operation from chance among dozens.
const stratumMin = 5

// stratum is a stretch of the session: its runs are compared with each other alone. A virtual machine is faster for
// some minutes and slower for others, and what both sides have in common must not hide what they differ by.
type stratum struct{ base, variant []float64 }

// stretches splits rounds into strata of equal length: the first round of each, and the end.
func stretches(rounds int) (bounds []int) {
	parts := max(1, rounds/stratumMin)
	for i := range parts + 1 {
		bounds = append(bounds, i*rounds/parts)
	}
	return bounds
}

// strata splits figures in the order of their rounds, and leaves out runs that have none.
func strata(base, variant []float64) (all []stratum) {
	bounds := stretches(max(len(base), len(variant)))
	for i, from := range bounds[:len(bounds)-1] {
		all = append(all, stratum{known(base, from, bounds[i+1]), known(variant, from, bounds[i+1])})
	}
	return all
}

func known(figures []float64, from, to int) (some []float64) {
	for _, v := range figures[min(from, len(figures)):min(to, len(figures))] {
		if !math.IsNaN(v) {
			some = append(some, v)
		}
	}
	return some
}

// allStrata are the figures of all strata.
func allStrata(strata []stratum) (all stratum) {
	for _, s := range strata {
		all.base, all.variant = append(all.base, s.base...), append(all.variant, s.variant...)
	}
	return all
}

// differences of all figures of each stratum, in order of size.
func differences(strata []stratum) (all []float64) {
	for _, s := range strata {
		for _, x := range s.base {
			for _, y := range s.variant {
				all = append(all, y-x)
			}
		}
	}
	slices.Sort(all)
	return all
}

// spreadOf is the standard deviation within the sides of the strata, pooled.
func spreadOf(strata []stratum) float64 {
	squares, free := 0.0, 0
	for _, s := range strata {
		for _, side := range [][]float64{s.base, s.variant} {
			mean := 0.0
			for _, v := range side {
				mean += v / float64(len(side))
			}
			for _, v := range side {
				squares += (v - mean) * (v - mean)
			}
			free += max(0, len(side)-1)
		}
	}
	if free == 0 {
		return 0
	}
	return math.Sqrt(squares / float64(free))
}

// separated is the p of pairs whose sides lie wholly apart in each stratum.
func separated(pairs int) float64 {
	p, bounds := 2.0, stretches(pairs)
	for i, from := range bounds[:len(bounds)-1] {
		n := bounds[i+1] - from
		for k := 1; k <= n; k++ { // 1 of so many ways to choose n of 2n
			p *= float64(k) / float64(n+k)
		}
	}
	return p
}
