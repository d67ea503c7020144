package verdict

import (
	"math"
	"math/rand/v2"
	"slices"

	"plimsoll/lab/stats"
)

// splits is the number of ways in which the runs of one side are split into halves.
const splits = 400

// Floor is how far a system differs from itself: the runs of one side, in the order of their rounds, are split into
// halves in many ways, in each stratum; the effect that 95 of 100 splits stay below is the A/A floor. A half has half
// of the runs, so its effect is divided by √2. It is a share if all figures are positive and no amount is asked for,
// otherwise an amount; false: too few runs.
func Floor(side []float64, amount bool, seed uint64) (floor float64, known bool) {
	figures := allStrata(strata(side, nil)).Base
	if len(figures) < RunsMin {
		return 0, false
	}
	isRatio := !amount && slices.Min(figures) > 0
	if isRatio {
		side = logs(side)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var effects []float64
	for range splits {
		halves := strata(side, nil)
		for i, s := range halves {
			rng.Shuffle(len(s.Base), func(x, y int) { s.Base[x], s.Base[y] = s.Base[y], s.Base[x] })
			half := len(s.Base) / 2
			halves[i] = stats.Stratum{Base: s.Base[:half], Variant: s.Base[half : 2*half]}
		}
		effects = append(effects, math.Abs(stats.Median(stats.Differences(halves))))
	}
	floor = stats.Percentile(effects, 0.95) / math.Sqrt2
	if isRatio {
		floor = math.Expm1(floor)
	}
	return floor, true
}
