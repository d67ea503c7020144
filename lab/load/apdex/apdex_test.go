package apdex

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/lab/stats"
)

const target = 500 * time.Millisecond

func TestZones(t *testing.T) {
	for _, c := range []struct {
		name    string
		latency time.Duration
		want    Counts
	}{
		{"ZeroSatisfies", 0, Counts{Satisfied: 1}},
		{"JustUnderTSatisfies", target - 1, Counts{Satisfied: 1}},
		{"TIsTolerated", target, Counts{Tolerating: 1}},
		{"JustUnder4TIsTolerated", 4*target - 1, Counts{Tolerating: 1}},
		{"4TFrustrates", 4 * target, Counts{Frustrated: 1}},
		{"HoursFrustrate", 5 * time.Hour, Counts{Frustrated: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Counts
			if got.Time(c.latency, target); got != c.want {
				t.Errorf("%v counts as %+v", c.latency, got)
			}
		})
	}
	t.Run("FailureFrustratesHoweverFast", func(t *testing.T) {
		var got Counts
		if got.Fail(); got != (Counts{Frustrated: 1}) {
			t.Errorf("want one frustrated, got %+v", got)
		}
	})
}

func TestScore(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts Counts
		score  float64
		band   Band
	}{
		{"AllSatisfied", Counts{Satisfied: 7}, 1, Excellent},
		{"AllTolerating", Counts{Tolerating: 7}, 0.5, Poor},
		{"AllFrustrated", Counts{Frustrated: 7}, 0, Unacceptable},
		{"ExampleOfTheSpecification", Counts{60, 30, 10}, 0.75, Fair},
		{"94IsExcellent", Counts{94, 0, 6}, 0.94, Excellent},
		{"85IsGood", Counts{85, 0, 15}, 0.85, Good},
		{"JustUnder85IsFair", Counts{849_999, 0, 150_001}, 0.849999, Fair},
		{"70IsFair", Counts{70, 0, 30}, 0.70, Fair},
		{"50IsPoor", Counts{50, 0, 50}, 0.50, Poor},
		{"ScoreOfTheReport", Counts{858, 0, 142}, 0.858, Good},
	} {
		t.Run(c.name, func(t *testing.T) {
			if score, ok := c.counts.Score(); !ok || score != c.score || BandOf(score) != c.band {
				t.Errorf("%+v scores %v, %s; want %v, %s", c.counts, score, BandOf(score), c.score, c.band)
			}
		})
	}
	t.Run("NothingHasNoScore", func(t *testing.T) {
		if _, ok := (Counts{}).Score(); ok {
			t.Error("a score out of nothing")
		}
	})
}

// latencies draws times around the limits of the zones, where errors live.
func latencies(t *rapid.T, label string) []time.Duration {
	edge := rapid.SampledFrom([]time.Duration{0, target, 2 * target, 3 * target, 4 * target})
	near := rapid.Custom(func(t *rapid.T) time.Duration {
		return max(0, edge.Draw(t, "edge")+time.Duration(rapid.IntRange(-2, 2).Draw(t, "off")))
	})
	anywhere := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(10*target)).Draw(t, "ns"))
	})
	return rapid.SliceOf(rapid.OneOf(near, anywhere)).Draw(t, label)
}

func TestCountsEqualARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two, failed := latencies(t, "one"), latencies(t, "two"), rapid.IntRange(0, 9).Draw(t, "failed")
		var a, b Counts
		var h, k Histogram
		for _, l := range one {
			a.Time(l, target)
			h.Time(l, target)
		}
		for _, l := range two {
			b.Time(l, target)
			k.Time(l, target)
		}
		for range failed {
			b.Fail()
		}
		a.Add(b)
		h.Add(k)

		points, units := 0.0, Histogram{}
		for _, l := range append(one, two...) {
			in := l.Seconds() / target.Seconds()
			switch {
			case l < target:
				points++
			case l < 4*target:
				points += 0.5
			}
			units[int(math.Min(4, math.Floor(in+1e-12)))]++
		}
		if n := len(one) + len(two) + failed; a.N() != int64(n) {
			t.Fatalf("%d counted, %d happened", a.N(), n)
		} else if score, ok := a.Score(); ok && math.Abs(score-points/float64(n)) > 1e-12 {
			t.Fatalf("score %v, recount %v", score, points/float64(n))
		}
		if h != units {
			t.Fatalf("histogram %v, recount %v", h, units)
		}
		if h[0] != a.Satisfied || h[1]+h[2]+h[3] != a.Tolerating || h[4]+int64(failed) != a.Frustrated {
			t.Fatalf("histogram %v contradicts zones %+v", h, a)
		}
	})
}

func counts(t *rapid.T) Counts {
	n := rapid.Int64Range(0, 5000)
	return Counts{n.Draw(t, "satisfied"), n.Draw(t, "tolerating"), n.Draw(t, "frustrated")}
}

func TestInterval(t *testing.T) {
	t.Run("KnownValues", func(t *testing.T) {
		// Wilson's limits for 81 of 263 (R. G. Newcombe, Statistics in Medicine 17, 1998,
		// table I): 0.2553 to 0.3662.
		got := Counts{Satisfied: 81, Frustrated: 182}.Interval()
		if math.Abs(got.Low-0.2553) > 5e-5 || math.Abs(got.High-0.3662) > 5e-5 {
			t.Errorf("want 0.2553 to 0.3662, got %+v", got)
		}
	})
	t.Run("HoldsTheScoreAndStaysInside", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c := counts(t)
			limits := c.Interval()
			score, ok := c.Score()
			if ok && (limits.Low > score+1e-12 || limits.High < score-1e-12) || limits.Low < 0 || limits.High > 1 {
				t.Fatalf("%+v: %v in %+v", c, score, limits)
			}
			if ok && limits.High-limits.Low <= 0 {
				t.Fatalf("%+v: no width", c)
			}
		})
	})
	t.Run("CoversTheTruthAtLeastAsOftenAsItSays", func(t *testing.T) {
		// Exact coverage for three-valued operations, summed over all outcomes of n.
		for _, p := range [][2]float64{{0.9, 0.08}, {0.7, 0.2}, {0.4, 0.4}} {
			if got := coverage(60, p[0], p[1]); got < stats.Confidence-0.01 {
				t.Errorf("satisfied %v, tolerating %v: covers %.4f", p[0], p[1], got)
			}
		}
	})
}

func coverage(n int64, s, tol float64) (sum float64) {
	truth := s + tol/2
	for a := range n + 1 {
		for b := range n - a + 1 {
			limits := Counts{a, b, n - a - b}.Interval()
			if limits.Low <= truth && truth <= limits.High {
				sum += multinomial(n, a, b, s, tol)
			}
		}
	}
	return sum
}

func multinomial(n, a, b int64, s, tol float64) float64 {
	ln := func(k int64) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	return math.Exp(ln(n) - ln(a) - ln(b) - ln(n-a-b) + float64(a)*math.Log(s) + float64(b)*math.Log(tol) +
		float64(n-a-b)*math.Log(1-s-tol))
}

func TestOverall(t *testing.T) {
	t.Run("EqualPrioritiesPoolTheCounts", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b, priority := counts(t), counts(t), rapid.IntRange(1, 5).Draw(t, "priority")
			got, _, ok := Overall([]Weighed{{a, priority}, {b, priority}})
			a.Add(b)
			want, any := a.Score()
			if ok != any || ok && math.Abs(got-want) > 1e-12 {
				t.Fatalf("%v, want %v", got, want)
			}
		})
	})
	for _, c := range []struct {
		name string
		ops  []Weighed
		want float64
	}{
		{"PriorityTwoCountsHalf", []Weighed{{Counts{Satisfied: 100}, 1}, {Counts{Frustrated: 100}, 2}}, 2.0 / 3},
		{"PriorityZeroDoesNotCount", []Weighed{{Counts{Satisfied: 1}, 1}, {Counts{Frustrated: 100}, 0}}, 1},
		{"NotMeasuredDoesNotCount", []Weighed{{Counts{Tolerating: 5}, 1}, {Counts{}, 1}}, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, limits, ok := Overall(c.ops)
			if !ok || math.Abs(got-c.want) > 1e-12 || limits.Low > got || limits.High < got {
				t.Errorf("%v in %+v, want %v", got, limits, c.want)
			}
		})
	}
	t.Run("NothingHasNoScore", func(t *testing.T) {
		if _, _, ok := Overall([]Weighed{{Counts{Satisfied: 3}, 0}}); ok {
			t.Error("a score without a priority")
		}
	})
}
