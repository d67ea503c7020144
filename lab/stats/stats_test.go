package stats

import (
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		before := slices.Clone(c.of)
		if got := Median(c.of); got != c.want || !slices.Equal(c.of, before) {
			t.Errorf("the median of %v is %v, want %v", before, got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		of      []float64
		p, want float64
	}{{nil, 0.5, 0}, {[]float64{7}, 0.01, 7}, {[]float64{2, 1}, 0.5, 1}, {[]float64{2, 1}, 0.51, 2}, {hundred, 0.95,
		95}, {hundred, 0.07, 7}, {hundred, 0.951, 96}, {hundred, 1, 100}, {hundred, 0, 1}} {
		if got := Percentile(c.of, c.p); got != c.want {
			t.Errorf("the %v quantile of %d figures is %v, want %v", c.p, len(c.of), got, c.want)
		}
	}
	if got := Percentile([]time.Duration{time.Hour, time.Second, time.Minute}, 0.5); got != time.Minute {
		t.Errorf("of times: %v, want 1m", got)
	}
}

// Percentile by its definition, and gonum's.
func TestPercentile_IsTheLeastThatTheShareDoesNotExceed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(-10, 10), 1, 60).Draw(t, "figures")
		p := float64(rapid.IntRange(1, 999).Draw(t, "thousandths")) / 1000
		got := Percentile(figures, p)
		under := func(x float64) (n int) {
			for _, f := range figures {
				if f <= x {
					n++
				}
			}
			return n
		}
		const rounding = 1e-9
		if share := float64(under(got)) / float64(len(figures)); share < p-rounding {
			t.Fatalf("only %v of %v do not exceed %v, want %v", share, figures, got, p)
		}
		for _, f := range figures {
			if f < got && float64(under(f))/float64(len(figures)) >= p {
				t.Fatalf("%v of %v would do for %v, got %v", f, figures, p, got)
			}
		}
		slices.Sort(figures)
		if exact := p * float64(len(figures)); math.Abs(exact-math.Round(exact)) > rounding {
			if want := stat.Quantile(p, stat.Empirical, figures, nil); got != want {
				t.Fatalf("%v, gonum says %v", got, want)
			}
		}
	})
}

func TestWilson(t *testing.T) {
	// Of Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
	for _, c := range []struct{ events, n, low, high float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
	} {
		if low, high := Wilson(c.events/c.n, c.n); math.Abs(low-c.low) > 6e-5 || math.Abs(high-c.high) > 6e-5 {
			t.Errorf("%v of %v: %.4f to %.4f, want %v to %v", c.events, c.n, low, high, c.low, c.high)
		}
	}
}

func TestHolm(t *testing.T) {
	corrected, factors := Holm([]float64{0.03, 0.01, 0.04, 0.9})
	for i, want := range []float64{0.09, 0.04, 0.09, 0.9} {
		if math.Abs(corrected[i]-want) > 1e-12 {
			t.Errorf("p %d is corrected to %v, want %v", i, corrected[i], want)
		}
	}
	if !slices.Equal(factors, []float64{3, 4, 2, 1}) {
		t.Errorf("factors %v, want 3, 4, 2, 1", factors)
	}
}

func TestRising(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 5), 3, 20).Draw(t, "series")
		up := Rising(x)
		slices.Reverse(x)
		if down := Rising(x); up < 0 || up > 1 || min(up, down) < 0.5 && max(up, down) < 0.5 {
			t.Fatalf("%v rises with %v and falls with %v", x, down, up)
		}
	})
	// Four figures in order, s = 6 and its variance 26/3: z = 5/2.944 = 1.698.
	if p := Rising([]float64{1, 2, 3, 4}); math.Abs(p-0.0447) > 1e-4 {
		t.Errorf("four rising figures: %v, want 0.0447", p)
	}
	if p := Rising([]float64{2, 2, 2, 2}); p != 1 {
		t.Errorf("equal figures: %v, want 1", p)
	}
}
