package verdict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Ties decided a comparison: go-moremath said p = 0 of these figures, in one order of the sides.
func TestTheTestOfTies(t *testing.T) {
	ones, one := []float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 0.5}
	if p, swapped := test(ones, one), test(one, ones); p != swapped || math.Abs(p-4.0/9) > 1e-12 {
		t.Errorf("%v, %v", p, swapped)
	}
	if row := Of(ones, one, Rule{Margin: 0.05}); row.Verdict != Inconclusive {
		t.Errorf("%+v", row)
	}
	if p := test(ones, ones[:3]); p != 1 {
		t.Errorf("all equal: %v", p)
	}
	if p := test([]float64{1, 2, 3}, []float64{4, 5, 6, 7}); math.Abs(p-2.0/35) > 1e-12 {
		t.Errorf("apart: %v", p)
	}
}

// The test by its definition: all figures are dealt anew in each way.
func TestTheTestCountsAllDeals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 2, 3, 5}), 1, 6)
		a, b := side.Draw(t, "a"), side.Draw(t, "b")
		ranks, sum := doubledRanks(a, b)
		mean, far, all := len(a)*(len(ranks)+1), 0, 0
		for deal := range 1 << len(ranks) {
			n, s := 0, 0
			for i, r := range ranks {
				if deal>>i&1 == 1 {
					n, s = n+1, s+r
				}
			}
			if n != len(a) {
				continue
			}
			if all++; math.Abs(float64(s-mean)) >= math.Abs(float64(sum-mean)) {
				far++
			}
		}
		if p := test(a, b); math.Abs(p-float64(far)/float64(all)) > 1e-12 {
			t.Fatalf("%v, by all deals %d of %d", p, far, all)
		}
	})
}

// Without ties both tests are the same, and beyond the exact one it is the approximation.
func TestTheTestOfManyFigures(t *testing.T) {
	var a, b []float64
	for i := range exactMost / 2 {
		a, b = append(a, float64(i)), append(b, float64(i)+6.5)
	}
	exact := test(a, b)
	if more := test(append(a, 200), append(b, 201)); exact < 0.001 || exact > 0.1 || math.Abs(exact-more) > 0.01 {
		t.Errorf("%v, %v", exact, more)
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
