// Package usl owns the Universal Scalability Law (N. Gunther, "Guerrilla Capacity
// Planning", 2007):
//
//	X(N) = γN / (1 + σ(N−1) + κN(N−1))
//
// γ is the throughput of one user alone, σ the share of the work that is serial, κ the cost of keeping all users
// consistent. With κ > 0 the throughput has a peak at √((1−σ)/κ).
package usl

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Point is one measured throughput.
type Point struct{ N, X float64 }

// Law is the three coefficients.
type Law struct {
	Gamma float64 `json:"gamma"`
	Sigma float64 `json:"sigma"`
	Kappa float64 `json:"kappa"`
}

// At is the expected throughput of n users.
func (l Law) At(n float64) float64 {
	return l.Gamma * n / (1 + l.Sigma*(n-1) + l.Kappa*n*(n-1))
}

// Peak is the number of users with the highest throughput; infinite if κ is 0, and 0 if σ alone keeps throughput from
// growing.
func (l Law) Peak() float64 {
	switch {
	case l.Sigma >= 1:
		return 0
	case l.Kappa == 0: // it may be a negative zero, which has no square root of the quotient
		return math.Inf(1)
	}
	return math.Sqrt((1 - l.Sigma) / l.Kappa)
}

// Interval of a coefficient at the given confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Fit is a law with the uncertainty of its coefficients.
type Fit struct {
	Law
	GammaIn Interval `json:"gamma_interval"`
	SigmaIn Interval `json:"sigma_interval"`
	KappaIn Interval `json:"kappa_interval"`
	// PeakIn is the interval of the peak; nil if the interval of κ contains 0: then the measurements do not show
	// whether there is one, and nothing may be extrapolated.
	PeakIn *Interval `json:"peak_interval"`
	Points int       `json:"points"`
	Levels int       `json:"levels"` // different N
}

const (
	// LevelsMin: one level more than the three coefficients, so that something is left to judge the fit by.
	LevelsMin = 4
	resamples = 2000
	confident = 0.95
	// negligible: a κ below this share of 1/N² at the largest N bends the curve there by less than a thousandth.
	negligible = 1e-3
)

// ErrFewLevels says that a fit would have nothing to be judged by.
var ErrFewLevels = errors.New("fewer than 4 different numbers of users were measured")

// Of fits the law, with bootstrap intervals over the points (B. Efron: cases are drawn with replacement, and the middle
// 95 % of the fits are the interval).
func Of(points []Point, seed uint64) (*Fit, error) {
	if levels(points) < LevelsMin {
		return nil, ErrFewLevels
	}
	law := least(points)
	f := &Fit{Law: law, Points: len(points), Levels: levels(points)}
	var gammas, sigmas, kappas, peaks []float64
	rng := rand.New(rand.NewPCG(seed, 0))
	for len(gammas) < resamples {
		drawn := make([]Point, len(points))
		for i := range drawn {
			drawn[i] = points[rng.IntN(len(points))]
		}
		if levels(drawn) < LevelsMin-1 {
			continue
		}
		l := least(drawn)
		gammas, sigmas, kappas, peaks = append(gammas, l.Gamma), append(sigmas, l.Sigma), append(kappas, l.Kappa),
			append(peaks, l.Peak())
	}
	f.GammaIn, f.SigmaIn, f.KappaIn = middle(gammas), middle(sigmas), middle(kappas)
	largest := slices.MaxFunc(points, func(a, b Point) int { return int(a.N - b.N) }).N
	if f.KappaIn.Low > negligible/(largest*largest) {
		in := middle(peaks)
		f.PeakIn = &in
	}
	return f, nil
}

func middle(values []float64) Interval {
	slices.Sort(values)
	tail := (1 - confident) / 2
	return Interval{stat.Quantile(tail, stat.Empirical, values, nil),
		stat.Quantile(1-tail, stat.Empirical, values, nil)}
}

func levels(points []Point) int {
	seen := map[float64]bool{}
	for _, p := range points {
		seen[p.N] = true
	}
	return len(seen)
}

// least is the law of least squared relative error. In N/X = a + b(N−1) + cN(N−1) with a = 1/γ, b = σ/γ, c = κ/γ it is
// linear. No coefficient may be negative, so if the full fit has a negative one, the best fit without b, c or both is
// taken (for so few coefficients that is all of non-negative least squares).
func least(points []Point) Law {
	best, bestError := Law{}, math.Inf(1)
	for _, columns := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		a, squares, ok := solve(points, columns)
		if ok && squares < bestError {
			best, bestError = Law{1 / a[0], a[1] / a[0], a[2] / a[0]}, squares
		}
	}
	return best
}

func solve(points []Point, columns []int) (all [3]float64, squares float64, ok bool) {
	m, one := mat.NewDense(len(points), len(columns), nil), mat.NewVecDense(len(points), nil)
	for i, p := range points {
		terms := [3]float64{1, p.N - 1, p.N * (p.N - 1)}
		for k, c := range columns {
			m.Set(i, k, terms[c]*p.X/p.N)
		}
		one.SetVec(i, 1)
	}
	var x mat.VecDense
	if err := x.SolveVec(m, one); err != nil && !errors.As(err, new(mat.Condition)) {
		return all, 0, false
	}
	for k, c := range columns {
		if all[c] = x.AtVec(k); all[c] < 0 || math.IsNaN(all[c]) {
			return all, 0, false
		}
	}
	var rest mat.VecDense
	rest.MulVec(m, &x)
	rest.SubVec(&rest, one)
	return all, mat.Dot(&rest, &rest), all[0] > 0
}
