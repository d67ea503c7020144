package usl

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func measured(law Law, noise float64, each int, ns ...float64) (points []Point) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range ns {
		for range each {
			points = append(points, Point{n, law.At(n) * (1 + noise*rng.NormFloat64())})
		}
	}
	return points
}

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Max(want, 1e-12) {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

func TestPeak(t *testing.T) {
	for law, want := range map[Law]float64{{100, 0.5, 0.02}: 5, {100, 0.5, 0}: math.Inf(1), {100, 1, 0}: 0,
		{100, 1.2, 0}: 0, {100, 1.2, 0.1}: 0} {
		if got := law.Peak(); math.IsNaN(got) || math.Abs(got-want) > 1e-9 && got != want {
			t.Errorf("%+v has its peak at %v, want %v", law, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	ns := []float64{1, 2, 4, 8, 16, 32, 64}
	t.Run("FindsTheLawWithoutNoise", func(t *testing.T) {
		law := Law{100, 0.03, 0.0005}
		f, err := Of(measured(law, 0, 1, ns...), 1)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "γ", f.Gamma, law.Gamma, 1e-6)
		near(t, "σ", f.Sigma, law.Sigma, 1e-6)
		near(t, "κ", f.Kappa, law.Kappa, 1e-6)
		near(t, "peak", f.Peak(), 44.05, 1e-3)
	})
	t.Run("IntervalsHoldTheLawUnderNoise", func(t *testing.T) {
		law := Law{100, 0.05, 0.001}
		f, err := Of(measured(law, 0.02, 3, ns...), 1)
		if err != nil {
			t.Fatal(err)
		}
		for name, in := range map[string][3]float64{"γ": {f.GammaIn.Low, law.Gamma, f.GammaIn.High},
			"σ": {f.SigmaIn.Low, law.Sigma, f.SigmaIn.High}, "κ": {f.KappaIn.Low, law.Kappa, f.KappaIn.High}} {
			if !(in[0] <= in[1] && in[1] <= in[2]) {
				t.Errorf("%s: %v", name, in)
			}
		}
		if f.PeakIn == nil || f.PeakIn.Low > 30.8 || f.PeakIn.High < 30.8 {
			t.Errorf("peak %v, want one around 30.8", f.PeakIn)
		}
	})
	t.Run("RefusesAPeakWithoutKappa", func(t *testing.T) {
		for _, law := range []Law{{100, 0.05, 0}, {100, 0, 0}} {
			f, err := Of(measured(law, 0.02, 3, ns...), 1)
			if err != nil || f.PeakIn != nil {
				t.Errorf("%+v: peak %+v, κ in %+v, %v", law, f.PeakIn, f.KappaIn, err)
			}
		}
	})
	t.Run("NeverNegative", func(t *testing.T) {
		f, err := Of([]Point{{1, 10}, {2, 25}, {4, 60}, {8, 130}}, 1) // better than linear
		if err != nil || f.Sigma < 0 || f.Kappa < 0 || f.Gamma <= 0 {
			t.Errorf("%+v, %v", f, err)
		}
	})
	t.Run("NeedsFourLevels", func(t *testing.T) {
		if _, err := Of(measured(Law{100, 0, 0}, 0, 5, 1, 2, 4), 1); !errors.Is(err, ErrFewLevels) {
			t.Error(err)
		}
	})
}

// A resample without κ that goes wholly one at a time once made an interval of no number, which no JSON can hold.
func TestFitIsMadeOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var points []Point
		for range rapid.IntRange(4, 10).Draw(t, "points") {
			n := float64(rapid.IntRange(1, 60).Draw(t, "users"))
			points = append(points, Point{n, math.Min(10*n, rapid.Float64Range(60, 110).Draw(t, "rate"))})
		}
		f, err := Of(points, 1)
		if err != nil {
			t.Skip(err)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Fatalf("%v: %+v", err, points)
		}
	})
}
