package users

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Distribution of think times.
type Distribution string

const (
	Lognormal   Distribution = "lognormal"
	Exponential Distribution = "exponential"
	Constant    Distribution = "constant"
)

// Distributions are all of them.
var Distributions = []Distribution{Lognormal, Exponential, Constant}

const (
	// ThinkCapFactor times the mean is the longest think time when no cap is given
	// (as in TPC-C, clause 5.2.5.4).
	ThinkCapFactor = 10
	// LognormalSigma is the spread of lognormal think times: two users in three
	// think between half and twice the median.
	LognormalSigma = 0.7
)

// Think is how long a user thinks between an answer and the next operation.
type Think struct {
	Distribution Distribution  // Defaults to Lognormal.
	Mean         time.Duration // Of the capped time. Zero: no thinking at all.
	Cap          time.Duration // Longest. Defaults to ThinkCapFactor times the mean.
}

// WithDefaults fills in what was left open.
func (t Think) WithDefaults() Think {
	if t.Distribution == "" {
		t.Distribution = Lognormal
	}
	if t.Cap == 0 {
		t.Cap = ThinkCapFactor * t.Mean
	}
	if t.Distribution == Constant {
		t.Cap = t.Mean
	}
	return t
}

// Check says what is wrong with it, defaults filled in.
func (t Think) Check() error {
	switch {
	case !slices.Contains(Distributions, t.Distribution):
		return fmt.Errorf("think time distribution %q: must be one of %v", t.Distribution, Distributions)
	case t.Mean < 0:
		return fmt.Errorf("mean think time %v: must be 0 or more", t.Mean)
	case t.Distribution != Constant && t.Mean > 0 && float64(t.Cap) < 1.1*float64(t.Mean):
		return fmt.Errorf("longest think time %v: must be above 1.1 times the mean of %v", t.Cap, t.Mean)
	}
	return nil
}

// thinker draws think times min(cap, scale·Y), Y of unit scale; the scale is
// chosen so that the mean holds after capping.
type thinker struct {
	Think
	scale float64 // nanoseconds
}

func newThinker(t Think) (thinker, error) {
	t = t.WithDefaults()
	if err := t.Check(); err != nil || t.Mean == 0 || t.Distribution == Constant {
		return thinker{Think: t}, err
	}
	mean, limit := float64(t.Mean), float64(t.Cap)
	low, high := 0.0, limit
	for t.cappedMean(high, limit) < mean {
		high *= 2
	}
	for range 100 { // the capped mean grows with the scale: bisect
		if middle := (low + high) / 2; t.cappedMean(middle, limit) < mean {
			low = middle
		} else {
			high = middle
		}
	}
	return thinker{t, high}, nil
}

// cappedMean is E[min(c, s·Y)]:
//
//	exponential  s·(1 − e^(−c/s))
//	lognormal    s·e^(σ²/2)·Φ(z−σ) + c·(1 − Φ(z)),  z = ln(c/s)/σ
func (t Think) cappedMean(s, c float64) float64 {
	if t.Distribution == Exponential {
		return s * -math.Expm1(-c/s)
	}
	z, phi := math.Log(c/s)/LognormalSigma, distuv.UnitNormal.CDF
	return s*math.Exp(LognormalSigma*LognormalSigma/2)*phi(z-LognormalSigma) + c*(1-phi(z))
}

func (t thinker) draw(rng *rand.Rand) time.Duration {
	if t.Mean == 0 || t.Distribution == Constant {
		return t.Mean
	}
	y := rng.ExpFloat64()
	if t.Distribution == Lognormal {
		y = math.Exp(LognormalSigma * rng.NormFloat64())
	}
	return time.Duration(math.Min(t.scale*y, float64(t.Cap)))
}

// residual is how long a user whom we meet at a random moment still thinks. Long
// thoughts are met more often, so a think time is drawn with a chance proportional
// to its length (accepted with probability x/cap), and we are anywhere in it (D. R.
// Cox, "Renewal Theory", 1962, §5.4). Users who enter so are in the steady state from
// their first moment, whatever the ratio of ramp and think time.
func (t thinker) residual(rng *rand.Rand) time.Duration {
	if t.Mean == 0 {
		return 0
	}
	for {
		x := t.draw(rng)
		if rng.Float64()*float64(t.Cap) < float64(x) {
			return time.Duration(rng.Float64() * float64(x))
		}
	}
}
