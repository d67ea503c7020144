package ratio_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/aclements/go-moremath/stats"
	"pgregory.net/rapid"

	"plimsoll/lab/prove/ratio"
)

func TestOf(t *testing.T) {
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
			r, err := ratio.Of(c.base, c.variant)
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

func TestOf_RefusesFiguresThatHaveNoRatio(t *testing.T) {
	for _, pair := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{0, 1}, {1}}, {{1}, {-1}}, {{1}, {math.NaN()}},
		{{math.Inf(1)}, {1}}} {
		if r, err := ratio.Of(pair[0], pair[1]); err == nil {
			t.Errorf("%v gives %v", pair, r)
		}
	}
}

func TestOf_InverseQuestionHasTheInverseAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 1, 9)
		a, b := figures.Draw(t, "a"), figures.Draw(t, "b")
		ab, _ := ratio.Of(a, b)
		ba, _ := ratio.Of(b, a)
		if !near(ab.Ratio*ba.Ratio, 1) || !near(ab.Low*ba.High, 1) || ab.Low > ab.Ratio || ab.Ratio > ab.High {
			t.Errorf("%v and %v", ab, ba)
		}
	})
}

// The interval must hold the truth about as often as it says.
func TestOf_IntervalHoldsTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials, truth = 2000, 1.5
	held := 0
	for range trials {
		var base, variant []float64
		for range 6 {
			base = append(base, math.Exp(rng.NormFloat64()*0.4))
			variant = append(variant, truth*math.Exp(rng.NormFloat64()*0.4))
		}
		if r, _ := ratio.Of(base, variant); r.Low <= truth && truth <= r.High {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.94 || share > 0.985 {
		t.Errorf("held the truth in %.3f of the trials", share)
	}
}

func TestTurns_AreBalancedAndMirrored(t *testing.T) {
	orders := map[ratio.Side]int{}
	for seed := range uint64(200) {
		for pairs := 1; pairs <= 7; pairs++ {
			turns := ratio.Turns(pairs, seed)
			var n [2]int
			place := [2]int{}
			for i, s := range turns {
				n[s]++
				place[s] += i
			}
			if n[0] != pairs || n[1] != pairs {
				t.Fatalf("%d pairs: %v", pairs, turns)
			}
			if pairs%2 == 0 && place[0] != place[1] {
				t.Fatalf("a side comes earlier: %v", turns)
			}
			orders[turns[0]]++
		}
	}
	if orders[ratio.Base] < 500 || orders[ratio.Variant] < 500 {
		t.Errorf("who begins is not by chance: %v", orders)
	}
}

func TestMeasure_KeepsWhatWasMadeWhenStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	made := 0
	figures, _, err := ratio.Measure(ctx, ratio.Turns(4, 1), func(_ context.Context, side ratio.Side) (float64, error) {
		if made++; made == 3 {
			cancel()
		}
		return float64(side) + 1, nil
	})
	if !errors.Is(err, context.Canceled) || len(figures[0])+len(figures[1]) != 3 {
		t.Errorf("%v %v", figures, err)
	}
}

func TestRotation_IsBalancedAndMirrored(t *testing.T) {
	for seed := range uint64(50) {
		for rounds := 1; rounds <= 6; rounds++ {
			var n, place [3]int
			for i, side := range ratio.Rotation(3, rounds, seed) {
				n[side]++
				place[side] += i
			}
			if n != [3]int{rounds, rounds, rounds} || rounds%2 == 0 && (place[0] != place[1] || place[1] != place[2]) {
				t.Fatalf("%d rounds: %v times, places %v", rounds, n, place)
			}
		}
	}
}

func TestRank(t *testing.T) {
	// One by one, as the definition says.
	for m := 1; m <= 9; m++ {
		for n := 1; n <= 9; n++ {
			for _, aim := range []float64{0.5, 0.9, 0.95, 0.99} {
				u, k := stats.UDist{N1: m, N2: n}, 1
				for k < m*n/2 && u.CDF(float64(k)) <= (1-aim)/2 {
					k++
				}
				if got, confidence := ratio.Rank(m, n, aim); got != k || !near(confidence, 1-2*u.CDF(float64(k-1))) {
					t.Errorf("%d, %d, %v: %d, want %d", m, n, aim, got, k)
				}
			}
		}
	}
	// A comparison has a hundred rows, each with its interval. By the normal distribution k of 60 and 60 is near
	// 60·60/2 − 1.96·sqrt(60·60·121/12) = 1426.6.
	for range 1000 { // takes hours if each asks the distribution for each k
		if k, confidence := ratio.Rank(60, 60, 0.95); k < 1420 || k > 1433 || confidence < 0.95 || confidence > 0.952 {
			t.Fatal(k, confidence)
		}
	}
}

// The tests and the interval say the same: an interval reaches to where a test of half the error would reject.
func TestAtLeastAndBelow_AgreeWithTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(0.1, 10), ratio.RunsMin, 9)
		a, b, bar := figures.Draw(t, "a"), figures.Draw(t, "b"), rapid.Float64Range(0.05, 20).Draw(t, "bar")
		interval, _ := ratio.Of(a, b)
		more, err := ratio.AtLeast(a, b, bar)
		less, errLess := ratio.Below(a, b, bar)
		if err != nil || errLess != nil || (more <= ratio.Tail) != (interval.Low >= bar) ||
			(less <= ratio.Tail) != (interval.High < bar) {
			t.Errorf("%v: at least %g: %g, below: %g, %v", interval, bar, more, less, err)
		}
	})
}
