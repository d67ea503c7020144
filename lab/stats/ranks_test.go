package stats

import (
	"math"
	"testing"

	moremath "github.com/aclements/go-moremath/stats"
	"pgregory.net/rapid"
)

// testOf is the test of two sides in one stratum.
func testOf(a, b []float64) float64 { return RankTest([]Stratum{{a, b}}) }

// Ties decided a comparison: go-moremath said p = 0 of these figures, in one order of the sides.
func TestTheTestOfTies(t *testing.T) {
	ones, one := []float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 0.5}
	if p, swapped := testOf(ones, one), testOf(one, ones); p != swapped || math.Abs(p-4.0/9) > 1e-12 {
		t.Errorf("p %v, with the sides swapped %v: want 4/9 of both", p, swapped)
	}
	if p := testOf(ones, ones[:3]); p != 1 {
		t.Errorf("all equal: %v", p)
	}
	if p := testOf([]float64{1, 2, 3}, []float64{4, 5, 6, 7}); math.Abs(p-2.0/35) > 1e-12 {
		t.Errorf("apart: %v", p)
	}
}

// The test by its definition: in each way the figures of each stratum are dealt anew.
func TestTheTestCountsAllDeals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 2, 3, 5}), 1, 4)
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Stratum {
			return Stratum{side.Draw(t, "a"), side.Draw(t, "b")}
		}), 1, 3).Draw(t, "strata")
		off, deals := 0, []int{0} // how far the rank sums are from their mean: as drawn, and in each deal
		for _, s := range all {
			ranks, sum := doubledRanks(s.Base, s.Variant)
			mean := len(s.Base) * (len(ranks) + 1)
			off += sum - mean
			var next []int
			for deal := range 1 << len(ranks) {
				n, sum := 0, 0
				for i, r := range ranks {
					if deal>>i&1 == 1 {
						n, sum = n+1, sum+r
					}
				}
				if n != len(s.Base) {
					continue
				}
				for _, before := range deals {
					next = append(next, before+sum-mean)
				}
			}
			deals = next
		}
		far := 0
		for _, d := range deals {
			if max(d, -d) >= max(off, -off) {
				far++
			}
		}
		if p := RankTest(all); math.Abs(p-float64(far)/float64(len(deals))) > 1e-12 {
			t.Fatalf("%v, by all deals %d of %d", p, far, len(deals))
		}
	})
}

// The chances are those of Mann and Whitney's U, and the rank of an interval follows from them one by one, as the
// definition says.
func TestIntervalRank(t *testing.T) {
	sides := func(m, n int) []Stratum { return []Stratum{{make([]float64, m), make([]float64, n)}} }
	for m := 1; m <= 9; m++ {
		for n := 1; n <= 9; n++ {
			u, chances := moremath.UDist{N1: m, N2: n}, BelowAtMost(sides(m, n))
			for k := range chances {
				if math.Abs(chances[k]-u.CDF(float64(k))) > 1e-12 {
					t.Fatalf("%d, %d: P(U ≤ %d) is %v, want %v", m, n, k, chances[k], u.CDF(float64(k)))
				}
			}
			for _, alpha := range []float64{0.5, 0.1, 0.05, 0.01} {
				want := 1
				for want < m*n/2 && u.CDF(float64(want)) <= alpha/2+1e-12 { // 11 of 220 are 0.05
					want++
				}
				k, confidence := IntervalRank(chances, alpha)
				if k != want || math.Abs(confidence-1+2*u.CDF(float64(k-1))) > 1e-12 {
					t.Errorf("%d, %d, %v: %d with %v, want %d", m, n, alpha, k, confidence, want)
				}
			}
		}
	}
	// By the normal distribution k of 60 and 60 is near 60·60/2 − 1.96·sqrt(60·60·121/12) = 1426.6. A comparison asks a
	// hundred times.
	for range 100 {
		k, confidence := IntervalRank(BelowAtMost(sides(60, 60)), 0.05)
		if k < 1420 || k > 1433 || confidence < 0.95 || confidence > 0.952 {
			t.Fatal(k, confidence)
		}
	}
}
