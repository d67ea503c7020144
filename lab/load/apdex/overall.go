package apdex

import "math"

// Weighed is one key operation's counts with its priority: 1 for essential operations, 2 and more for less important
// ones, 0 to leave it out.
type Weighed struct {
	Counts
	Priority int
}

func (w Weighed) weight() float64 {
	if w.Priority <= 0 {
		return 0
	}
	return float64(w.N()) / float64(w.Priority)
}

// Overall is the score over all key operations. A sample of an operation with priority p has the weight 1/p:
//
//	A = Σ (nᵢ/pᵢ)·Aᵢ / Σ nᵢ/pᵢ
//
// With equal priorities this is (NS + NT/2)/N over everything, the overall figure of claim C01.
//
// The interval combines those of the operations by MOVER (Zou and Donner, "Construction of confidence limits about
// effect measures", Statistics in Medicine 27, 2008): with wᵢ = (nᵢ/pᵢ)/Σ(n/p),
//
//	low = A − sqrt(Σ wᵢ²(Aᵢ−lowᵢ)²)    high = A + sqrt(Σ wᵢ²(highᵢ−Aᵢ)²)
//
// False without operations that have a priority.
func Overall(operations []Weighed) (float64, Interval, bool) {
	var sum, weights float64
	for _, op := range operations {
		w := op.weight()
		weights += w
		if score, ok := op.Score(); ok {
			sum += w * score
		}
	}
	if weights <= 0 {
		return 0, Interval{0, 1}, false
	}
	score := sum / weights
	return score, spread(operations, score, weights), true
}

func spread(operations []Weighed, score, weights float64) Interval {
	var below, above float64
	for _, op := range operations {
		own, ok := op.Score()
		if !ok {
			continue
		}
		w, limits := op.weight()/weights, op.Counts.Interval()
		below += w * w * (own - limits.Low) * (own - limits.Low)
		above += w * w * (limits.High - own) * (limits.High - own)
	}
	return Interval{math.Max(0, score-math.Sqrt(below)), math.Min(1, score+math.Sqrt(above))}
}
