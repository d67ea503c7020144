package verdict

import (
	"math"

	"plimsoll/lab/stats"
)

// stratumMin is the number of pairs that a stratum has at least. Fewer would follow the machine more closely, but then
// a comparison that is decided at its first look, after 8 pairs, could not tell one operation from chance among dozens.
const stratumMin = 5

// stretches splits rounds into strata of equal length: the first round of each, and the end.
func stretches(rounds int) (bounds []int) {
	parts := max(1, rounds/stratumMin)
	for i := range parts + 1 {
		bounds = append(bounds, i*rounds/parts)
	}
	return bounds
}

// strata splits figures in the order of their rounds, and leaves out runs that have none. A stratum is a stretch of the
// session: a virtual machine is faster for some minutes and slower for others, and what both sides have in common must
// not hide what they differ by.
func strata(base, variant []float64) (all []stats.Stratum) {
	bounds := stretches(max(len(base), len(variant)))
	for i, from := range bounds[:len(bounds)-1] {
		all = append(all, stats.Stratum{Base: known(base, from, bounds[i+1]),
			Variant: known(variant, from, bounds[i+1])})
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
func allStrata(strata []stats.Stratum) (all stats.Stratum) {
	for _, s := range strata {
		all.Base, all.Variant = append(all.Base, s.Base...), append(all.Variant, s.Variant...)
	}
	return all
}

// spreadOf is the standard deviation within the sides of the strata, pooled.
func spreadOf(strata []stats.Stratum) float64 {
	squares, free := 0.0, 0
	for _, s := range strata {
		for _, side := range [][]float64{s.Base, s.Variant} {
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
