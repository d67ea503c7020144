package self

import (
	"testing"
	"time"

	"plimsoll/lab/run/result"
)

func TestIntervalsApart(t *testing.T) {
	to := func(low, high float64) *result.Range { return &result.Range{Low: low, High: &high} }
	open := &result.Range{Low: 5}
	for _, c := range []struct {
		name string
		a, b *result.Range
		want bool
	}{
		{"Apart", to(1, 2), to(3, 4), true},
		{"Touching", to(1, 3), to(3, 4), false},
		{"Within", to(1, 9), to(3, 4), false},
		{"OpenAbove", to(1, 9), open, false},
		{"BelowAnOpenOne", to(1, 4), open, true},
		{"Unknown", nil, to(3, 4), false},
	} {
		if disjoint(c.a, c.b) != c.want || disjoint(c.b, c.a) != c.want {
			t.Errorf("%s: apart %v, want %v", c.name, !c.want, c.want)
		}
	}
}

// TestPairsThatCannotBeMeasuredAreRepeated, up to twice as many as were asked for.
func TestPairsThatCannotBeMeasuredAreRepeated(t *testing.T) {
	s := &stage{}
	for _, c := range []struct {
		name              string
		voidBelow         int // numbers of pairs that are void
		made, void, tries int
	}{{"None", 0, 8, 0, 8}, {"Some", 3, 8, 3, 11}, {"All", 99, 0, 16, 16}} {
		tried := make([]int, 20)
		made, void, err := s.pairs(t.Context(), 8, func(n int) (claims, error) {
			tried[n]++ // each number once: no other writes there
			if n < c.voidBelow {
				return nil, nil
			}
			return claims{"line": n%2 == 0}, nil
		})
		sum := 0
		for n, times := range tried {
			sum += times
			if times > 1 {
				t.Errorf("%s: pair %d was made %d times", c.name, n, times)
			}
		}
		if err != nil || len(made) != c.made || void != c.void || sum != c.tries {
			t.Errorf("%s: %d made, %d void, %d tried, %v", c.name, len(made), void, sum, err)
		}
	}
}

// TestAClaimTooManyIsWrong: one of twenty equal pairs may differ, and most unequal ones must.
func TestAClaimTooManyIsWrong(t *testing.T) {
	pairs := func(all, differ int) (list []claims) {
		for n := range all {
			list = append(list, claims{"line": n < differ})
		}
		return list
	}
	for _, c := range []struct {
		name string
		f    Figure
		want Verdict
	}{
		{"NoneOfFew", claimed("line", pairs(4, 0)), Right},
		{"OneOfFew", claimed("line", pairs(4, 1)), Wrong},
		{"TwoOfForty", claimed("line", pairs(40, 2)), Right},
		{"ThreeOfForty", claimed("line", pairs(40, 3)), Wrong},
		{"NoPairs", claimed("line", nil), Wrong},
		{"HalfDistinguished", distinguished("line", pairs(10, 5)), Right},
		{"FewerDistinguished", distinguished("line", pairs(10, 4)), Wrong},
		{"TheOnlyOneIsNot", distinguished("line", pairs(1, 0)), Wrong},
	} {
		if v, why := judge(outcome{figures: []Figure{c.f}}); v != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, v, c.want, why)
		}
		if v, _ := judge(outcome{figures: []Figure{c.f}, disturbed: []string{"others"}}); v == Wrong {
			t.Errorf("%s: %s on a disturbed machine", c.name, v)
		}
	}
}

func TestLinesOfTheLongForm(t *testing.T) {
	plan := func(o Options) (lines int, takes time.Duration) {
		lines, takes, err := o.Plan()
		if err != nil {
			t.Error(err)
		}
		return lines, takes
	}
	short, takes := plan(Options{})
	all, longer := plan(Options{Long: true})
	few, less := plan(Options{Long: true, Pairs: 2})
	if short != len(tests) || all != len(tests)+len(long) || few != all || longer <= less || less <= takes {
		t.Errorf("%d lines in %s, %d in %s, %d in %s", short, takes, all, longer, few, less)
	}
	if one, _ := plan(Options{Only: []string{"pairs-line"}}); one != 1 {
		t.Errorf("%d lines, though one was named", one)
	}
	if _, err := Run(t.Context(), Options{Only: []string{"pairs-lime"}}); err == nil {
		t.Error("nothing is said of a line that there is not")
	}
}
