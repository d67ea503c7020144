package verdict

import (
	"math"
	"testing"

	"plimsoll/lab/stats"
)

// Ties decided a comparison: go-moremath says p = 0 of these figures, in one order of the sides.
func TestTiesDecideNothing(t *testing.T) {
	if row := Of([]float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 0.5}, Rule{Margin: 0.05}); row.Verdict != Inconclusive {
		t.Errorf("%+v, want inconclusive", row)
	}
}

// Without ties the test and the interval know the same distribution, that of U, for as many figures as there may be.
func TestTheTestOfManyFigures(t *testing.T) {
	for _, pairs := range []int{4, 9, 10, 16, 50, 1000} {
		var a, b []float64
		for i := range pairs {
			a, b = append(a, float64(2*i)), append(b, float64(2*i+1))
		}
		all := strata(a, b)
		chances := stats.BelowAtMost(all)
		below := 0
		for _, d := range stats.Differences(all) {
			if d < 0 {
				below++
			}
		}
		if p := stats.RankTest(all); math.Abs(p-min(1, 2*chances[below])) > 1e-9 {
			t.Errorf("%d pairs: %v, by U %v", pairs, p, 2*chances[below])
		}
		for i := range b {
			b[i] += 1e6
		}
		if p, want := stats.RankTest(strata(a, b)), separated(pairs); math.Abs(p/want-1) > 1e-9 && want > 1e-300 {
			t.Errorf("%d pairs, apart: %v, want %v", pairs, p, want)
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
