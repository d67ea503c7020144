package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/lab/stats"
)

func TestRatioOf(t *testing.T) {
	for _, c := range []struct {
		name             string
		base, variant    []float64
		ratio, low, high float64
		confidence       float64
		sure             bool
	}{
		{"Same", []float64{2, 2, 2, 2}, []float64{2, 2, 2, 2}, 1, 1, 1, 1 - 2.0/70, true},
		{"Double", []float64{1, 1, 1, 1}, []float64{2, 2, 2, 2}, 2, 2, 2, 1 - 2.0/70, true},
		// 4+4 runs: P(U ≤ 0) = 1/70, P(U ≤ 1) = 2/70 > 0.025, so all quotients span it.
		{"FourRunsSpanAllQuotients", []float64{1, 2, 4, 8}, []float64{8, 8, 8, 8}, math.Sqrt(8), 1, 8, 1 - 2.0/70,
			true},
		// 5+5: P(U ≤ 1) = 2/252, P(U ≤ 2) = 4/252 ≤ 0.025 < P(U ≤ 3) = 7/252: the third from each end.
		{"FiveRunsCutTwoAtEachEnd", []float64{1, 2, 4, 8, 16}, []float64{1, 1, 1, 1, 1}, 1.0 / 4, 1.0 / 16, 1,
			1 - 8.0/252, true},
		{"ThreeRunsAreNotSure", []float64{1, 1, 1}, []float64{3, 3, 3}, 3, 3, 3, 0.9, false},
		{"OneRunSaysNothing", []float64{1}, []float64{3}, 3, 3, 3, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := stats.RatioOf(c.base, c.variant)
			if err != nil {
				t.Fatal(err)
			}
			if !near(r.Ratio, c.ratio) || !near(r.Low, c.low) || !near(r.High, c.high) ||
				!near(r.Confidence, c.confidence) || r.Sure() != c.sure {
				t.Errorf("ratio %+v, not that of the case", r)
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestRatioOf_RefusesFiguresThatHaveNoRatio(t *testing.T) {
	for _, pair := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{0, 1}, {1}}, {{1}, {-1}}, {{1}, {math.NaN()}},
		{{math.Inf(1)}, {1}}} {
		if r, err := stats.RatioOf(pair[0], pair[1]); err == nil {
			t.Errorf("%v gives %v", pair, r)
		}
	}
}

func TestRatioOf_InverseQuestionHasTheInverseAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 1, 9)
		a, b := figures.Draw(t, "a"), figures.Draw(t, "b")
		ab, _ := stats.RatioOf(a, b)
		ba, _ := stats.RatioOf(b, a)
		if !near(ab.Ratio*ba.Ratio, 1) || !near(ab.Low*ba.High, 1) || ab.Low > ab.Ratio || ab.Ratio > ab.High {
			t.Errorf("%v and %v", ab, ba)
		}
	})
}

// The interval must hold the truth about as often as it says.
func TestRatioOf_IntervalHoldsTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials, truth = 2000, 1.5
	held := 0
	for range trials {
		var base, variant []float64
		for range 6 {
			base = append(base, math.Exp(rng.NormFloat64()*0.4))
			variant = append(variant, truth*math.Exp(rng.NormFloat64()*0.4))
		}
		if r, _ := stats.RatioOf(base, variant); r.Low <= truth && truth <= r.High {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.94 || share > 0.985 {
		t.Errorf("held the truth in %.3f of the trials", share)
	}
}

// The tests and the interval say the same: an interval reaches to where a test of half the error would reject.
func TestRatioAtLeastAndBelow_AgreeWithTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(0.1, 10), stats.RunsMin, 9)
		a, b, bar := figures.Draw(t, "a"), figures.Draw(t, "b"), rapid.Float64Range(0.05, 20).Draw(t, "bar")
		interval, _ := stats.RatioOf(a, b)
		more, err := stats.RatioAtLeast(a, b, bar)
		less, errLess := stats.RatioBelow(a, b, bar)
		if err != nil || errLess != nil || (more <= stats.Tail) != (interval.Low >= bar) ||
			(less <= stats.Tail) != (interval.High < bar) {
			t.Errorf("%v: at least %g: %g, below: %g, %v", interval, bar, more, less, err)
		}
	})
}
