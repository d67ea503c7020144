package verdict

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// splits is the number of ways in which the runs of one side are split into halves.
const splits = 400

// Floor is how far a system differs from itself: the runs of one side are split into halves in many ways; the effect
// that 95 of 100 splits stay below is the A/A floor. A half has half of the runs, so its effect is divided by √2. It is
// a share if all figures are positive and no amount is asked for, otherwise an amount; false: too few runs.
func Floor(side []float64, amount bool, seed uint64) (floor float64, known bool) {
	if len(side) < RunsMin {
		return 0, false
	}
	values, isRatio := side, !amount && slices.Min(side) > 0
	if isRatio {
		values = logs(side)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	half := len(values) / 2
	var effects []float64
	for range splits {
		order := rng.Perm(len(values))
		var a, b []float64
		for i, at := range order[:2*half] {
			if i < half {
				a = append(a, values[at])
			} else {
				b = append(b, values[at])
			}
		}
		effects = append(effects, math.Abs(median(differences(a, b))))
	}
	slices.Sort(effects)
	floor = stat.Quantile(0.95, stat.Empirical, effects, nil) / math.Sqrt2
	if isRatio {
		floor = math.Expm1(floor)
	}
	return floor, true
}
