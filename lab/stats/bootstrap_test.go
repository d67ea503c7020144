package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// simulated is a run in which the chance to satisfy a user drifts: its logit is an AR(1) series around middle. It gives
// the moments and their sum.
func simulated(random *rand.Rand, seconds, inSecond int, rho float64) (series []Moment, sum Moment) {
	state := random.NormFloat64() // of the stationary distribution
	for range seconds {
		state = rho*state + math.Sqrt(1-rho*rho)*random.NormFloat64()
		now := Moment{Whole: float64(random.IntN(2*inSecond) + 1)}
		for range int(now.Whole) {
			if random.Float64() < chance(state) {
				now.Part++
			}
		}
		sum.Part, sum.Whole = sum.Part+now.Part, sum.Whole+now.Whole
		series = append(series, now)
	}
	return series, sum
}

func chance(state float64) float64 { return 1 / (1 + math.Exp(-2-state)) }

// truth is the mean of chance over the stationary distribution.
func truth() (mean float64) {
	const step = 0.001
	for x := -8.0; x < 8; x += step {
		mean += chance(x) * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * step
	}
	return mean
}

// coverage of the truth by this interval and by Wilson's, which takes operations as independent.
func coverage(runs, seconds int, rho float64) (ours, wilsons float64) {
	random, want := rand.New(rand.NewPCG(7, 11)), truth()
	for range runs {
		series, sum := simulated(random, seconds, 20, rho)
		if i, ok := BlockRatio(series); ok && i.Low <= want && want <= i.High {
			ours += 1 / float64(runs)
		}
		if low, high := Wilson(sum.Part/sum.Whole, sum.Whole); low <= want && want <= high {
			wilsons += 1 / float64(runs)
		}
	}
	return ours, wilsons
}

func TestIntervalCoversTheTruthOfDependentSeconds(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds int
		rho     float64
		least   float64
	}{
		{"Independent", 60, 0, 0.92},
		{"AMinuteOfSomeDependence", 60, 0.5, 0.88},
		{"AMinuteOfMuch", 60, 0.8, 0.80},
		{"FiveMinutesOfMuch", 300, 0.8, 0.90},
		{"AnHour", 3600, 0.9, 0.91},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, wilsons := coverage(400, c.seconds, c.rho)
			t.Logf("covers %.3f, Wilson's %.3f", ours, wilsons)
			if ours < c.least || ours > 0.995 {
				t.Errorf("the interval covers the truth in %.3f of the runs", ours)
			}
			if wilsons > 0.8 && c.rho > 0 {
				t.Errorf("the series does not tell the methods apart: Wilson's covers %.3f", wilsons)
			}
		})
	}
}

func TestBlocksAreAsLongAsTheDependence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mean := func(rho float64) (sum float64) {
		for range 50 {
			series, _ := simulated(random, 300, 50, rho)
			i, _ := BlockRatio(series)
			sum += float64(i.Block) / 50
		}
		return sum
	}
	none, some, much := mean(0), mean(0.5), mean(0.9)
	if none > 9 || some < 1.5*none || much < 1.5*some {
		t.Errorf("blocks of %.1f, %.1f and %.1f seconds", none, some, much)
	}
}

func TestRatioHoldsItsEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var series []Moment
		part, whole := 0.0, 0.0
		for range rapid.IntRange(0, 1500).Draw(t, "seconds") {
			n := rapid.IntRange(0, 9).Draw(t, "operations")
			k := rapid.IntRange(0, n).Draw(t, "satisfied")
			series = append(series, Moment{float64(k), float64(n)})
			part, whole = part+float64(k), whole+float64(n)
		}
		got, ok := BlockRatio(series)
		if ok != (len(series) >= MomentsMin && whole > 0) {
			t.Fatalf("%+v, %v from %d seconds, %v operations", got, ok, len(series), whole)
		}
		if !ok {
			return
		}
		const rounding = 1e-9
		if r := part / whole; got.Low > r+rounding || got.High < r-rounding || got.Low < 0 || got.High > 1+rounding {
			t.Fatalf("%+v around %v", got, r)
		}
		if again, _ := BlockRatio(series); again != got {
			t.Fatalf("%+v, then %+v", got, again)
		}
		if got.Moments < len(series) || got.Moments > len(series)+7 || got.Block > got.Moments/BlocksMin+8 {
			t.Fatalf("%+v from %d seconds", got, len(series))
		}
	})
}

func TestMeanOfARate(t *testing.T) {
	var slow []float64
	for i := range 40 { // it stands still for five of 40 seconds
		slow = append(slow, 100)
		if i >= 10 && i < 15 {
			slow[i] = 0
		}
	}
	got, ok := BlockMean(slow)
	if !ok || got.Low > 75 || got.High < 95 || got.Block < 2 {
		t.Errorf("want an interval around 75 to 95 by blocks, got %+v", got)
	}
	if _, ok := BlockMean(slow[:MomentsMin-1]); ok {
		t.Error("an interval from too little")
	}
}
