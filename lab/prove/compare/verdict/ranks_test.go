package verdict

import (
	"math"
	"testing"

	"github.com/aclements/go-moremath/stats"
	"pgregory.net/rapid"
)

// testOf is the test of two sides in one stratum.
func testOf(a, b []float64) float64 { return test([]stratum{{a, b}}) }

// Ties decided a comparison: go-moremath said p = 0 of these figures, in one order of the sides.
func TestTheTestOfTies(t *testing.T) {
	ones, one := []float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 0.5}
	if p, swapped := testOf(ones, one), testOf(one, ones); p != swapped || math.Abs(p-4.0/9) > 1e-12 {
		t.Errorf("%v, %v", p, swapped)
	}
	if row := Of(ones, one, Rule{Margin: 0.05}); row.Verdict != Inconclusive {
		t.Errorf("one pair: %+v, want it inconclusive", row)
	}
	if p := testOf(ones, ones[:3]); p != 1 {
		t.Errorf("all equal: %v", p)
	}
	if p := testOf([]float64{1, 2, 3}, []float64{4, 5, 6, 7}); math.Abs(p-2.0/35) > 1e-12 {
		t.Errorf("apart: %v", p)
	}
}

// The test by its definition: for each way to deal out the figures of each stratum again.
func TestTheTestCountsAllDeals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 2, 3, 5}), 1, 4)
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) stratum {
			return stratum{side.Draw(t, "a"), side.Draw(t, "b")}
		}), 1, 3).Draw(t, "strata")
		off, deals := 0, []int{0} // how far the rank sums are from their mean: as drawn, and in each deal
		for _, s := range all {
			ranks, sum := doubledRanks(s.base, s.variant)
			mean := len(s.base) * (len(ranks) + 1)
			off += sum - mean
			var next []int
			for deal := range 1 << len(ranks) {
				n, sum := 0, 0
				for i, r := range ranks {
					if deal>>i&1 == 1 {
						n, sum = n+1, sum+r
					}
				}
				if n != len(s.base) {
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
		if p := test(all); math.Abs(p-float64(far)/float64(len(deals))) > 1e-12 {
			t.Fatalf("%v, by all deals %d of %d", p, far, len(deals))
		}
	})
}

// Without ties the test and the interval know the same distribution, that of U, for as many figures as there may be.
func TestTheTestOfManyFigures(t *testing.T) {
	for _, pairs := range []int{4, 9, 10, 16, 50, 1000} {
		var a, b []float64
		for i := range pairs {
			a, b = append(a, float64(2*i)), append(b, float64(2*i+1))
		}
		all := strata(a, b)
		chances := atMost(all)
		below := 0
		for _, d := range differences(all) {
			if d < 0 {
				below++
			}
		}
		if p := test(all); math.Abs(p-min(1, 2*chances[below])) > 1e-9 {
			t.Errorf("%d pairs: %v, by U %v", pairs, p, 2*chances[below])
		}
		for i := range b {
			b[i] += 1e6
		}
		if p, want := test(strata(a, b)), separated(pairs); math.Abs(p/want-1) > 1e-9 && want > 1e-300 {
			t.Errorf("%d pairs, apart: %v, want %v", pairs, p, want)
		}
		if one := (stats.UDist{N1: pairs, N2: pairs}); pairs < 10 && math.Abs(chances[3]-one.CDF(3)) > 1e-12 {
			t.Errorf("%d pairs: %v, want %v", pairs, chances[3], one.CDF(3))
		}
	}
}

// The median difference of these figures is 0, and yet one side is higher: 7 of 32 figures differ, all on one side.
func TestTheDirectionIsThatOfTheRanks(t *testing.T) {
	side := func(many, few float64) (all []float64) {
		for i := range 16 {
			if all = append(all, many); i < 7 {
				all[i] = few
			}
		}
		return all
	}
	score, none := Rule{Margin: 0.02, Amount: true, HigherBetter: true}, Rule{Margin: 0.05}
	for name, c := range map[string]struct {
		a, b []float64
		rule Rule
		want Verdict
	}{
		"ScoreRises":   {side(1, 0.9), side(1, 1), score, Better},
		"ScoreFalls":   {side(1, 1), side(1, 0.9), score, Worse},
		"WaitAppears":  {side(0, 0), side(0, 5), none, Worse},
		"WaitVanishes": {side(0, 5), side(0, 0), none, Better},
	} {
		if r := Of(c.a, c.b, c.rule); r.Verdict != c.want || r.Effect != 0 {
			t.Errorf("%s: %+v, want %s", name, r, c.want)
		}
	}
}
