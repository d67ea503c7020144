package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/test/thorough"
)

// planned pairs of a comparison by default.
const planned = 32

// simulated returns runs that vary lognormally, on a machine that drifts by 5 % over the session, with an occasional
// run that is slow for no visible reason.
type simulated struct {
	rng    *rand.Rand
	spread float64
	// wander is how far the machine's pace strays from its mean; from round to round it keeps nine tenths of that.
	wander float64
}

func (s simulated) run(level, at float64) float64 {
	x := math.Log(level) + s.spread*s.rng.NormFloat64() + 0.05*at
	if s.rng.Float64() < 0.03 {
		x += 4 * s.spread
	}
	return math.Exp(x)
}

// trial is a comparison at the default number of pairs that stops at a look.
func (s simulated) trial(factor float64) Row {
	looks := Looks(planned)
	var a, b []float64
	pace := s.wander * s.rng.NormFloat64()
	for n := 1; ; n++ {
		at := float64(n) / planned
		pace = 0.9*pace + math.Sqrt(1-0.9*0.9)*s.wander*s.rng.NormFloat64()
		a, b = append(a, s.run(10*math.Exp(pace), at)), append(b, s.run(10*factor*math.Exp(pace), at))
		if Passed(looks, n) != n {
			continue
		}
		r := Of(a, b, Rule{Margin: 0.05, Alpha: AlphaAt(looks, n)})
		if r.Verdict != Inconclusive || n >= planned {
			return r
		}
	}
}

// The spread of runs of 20 s on a quiet machine is near 3 %, on a busy one near 5 %.
func TestTrials(t *testing.T) {
	trials := thorough.Or(400, 100)
	for _, spread := range []float64{0.01, 0.03, 0.05, 0.08, 0.12} {
		s := simulated{rand.New(rand.NewPCG(7, uint64(1000*spread))), spread, 0}
		wrong, found, equal, made := 0, 0, 0, 0
		for range trials {
			r := s.trial(1)
			switch r.Verdict {
			case Better, Worse:
				wrong++
			case Equal:
				equal++
			}
			made += r.Runs[0]
			if s.trial(1.1).Verdict == Worse {
				found++
			}
		}
		t.Logf("spread %g: A/A wrong %d, equal %d, after %.0f pairs; slowdown of 10 %% found %d, of %d", spread, wrong,
			equal, float64(made)/float64(trials), found, trials)
		if wrong > trials/20 {
			t.Errorf("spread %g: A/A is called better or worse in %d of %d", spread, wrong, trials)
		}
		if spread <= 0.08 && found < trials*9/10 {
			t.Errorf("spread %g: a slowdown of 10 %% is found in %d of %d", spread, found, trials)
		}
	}
}

// A virtual machine has neighbours: its pace strays, by minutes, further than its runs spread.
func TestTrials_OfAMachineWhosePaceWanders(t *testing.T) {
	trials := thorough.Or(400, 100)
	s := simulated{rand.New(rand.NewPCG(5, 6)), 0.04, 0.12}
	wrong, found := 0, 0
	for range trials {
		if v := s.trial(1).Verdict; v == Better || v == Worse {
			wrong++
		}
		if s.trial(1.1).Verdict == Worse {
			found++
		}
	}
	t.Logf("A/A wrong %d, slowdown of 10 %% found %d, of %d", wrong, found, trials)
	if wrong > trials/20 || found < trials*19/20 {
		t.Errorf("A/A is called better or worse in %d, a slowdown of 10 %% is found in %d of %d", wrong, found, trials)
	}
}

// Systems that differ by exactly the margin are called equal at most as often as the error allows.
func TestEqual_HoldsItsError(t *testing.T) {
	trials := thorough.Or(400, 100)
	s := simulated{rand.New(rand.NewPCG(3, 4)), 0.02, 0}
	equal := 0
	for range trials {
		if s.trial(1.05).Verdict == Equal {
			equal++
		}
	}
	if t.Logf("equal %d of %d", equal, trials); equal > trials/20 {
		t.Errorf("a difference of the margin is called equal in %d of %d", equal, trials)
	}
}

func TestLooks_SpendTheErrorOnce(t *testing.T) {
	for pairs := RunsMin; pairs <= 40; pairs++ {
		sum, last := 0.0, 0
		for _, l := range Looks(pairs) {
			if sum += l.Alpha; l.Pairs <= last || l.Alpha <= 0 {
				t.Errorf("%d pairs: %+v", pairs, Looks(pairs))
			}
			last = l.Pairs
		}
		if math.Abs(sum-Alpha) > 1e-12 || last != pairs {
			t.Errorf("%d pairs spend %v until %d", pairs, sum, last)
		}
	}
}

func figures(t *rapid.T, name string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(0.5, 200), RunsMin, 12).Draw(t, name)
}

func TestOf(t *testing.T) {
	t.Run("SwappedSidesSwapTheVerdict", rapid.MakeCheck(func(t *rapid.T) {
		a, b := figures(t, "a"), figures(t, "b")
		one, other := Of(a, b, Rule{Margin: 0.05}), Of(b, a, Rule{Margin: 0.05})
		swapped := map[Verdict]Verdict{Better: Worse, Worse: Better}[other.Verdict]
		if swapped == "" {
			swapped = other.Verdict
		}
		// within 5 % in one direction is within 4.8 % in the other: the margin is a ratio, log(1.05) both ways
		if one.Verdict != swapped || math.Abs(one.Effect*other.Effect-1) > 1e-9 {
			t.Fatalf("%+v\n%+v", one, other)
		}
	}))
	t.Run("UnitsDoNotMatter", rapid.MakeCheck(func(t *rapid.T) {
		a, b := figures(t, "a"), figures(t, "b")
		scaled := func(all []float64) (s []float64) {
			for _, v := range all {
				s = append(s, v*1024)
			}
			return s
		}
		one, other := Of(a, b, Rule{Margin: 0.05}), Of(scaled(a), scaled(b), Rule{Margin: 0.05})
		if one.Verdict != other.Verdict || math.Abs(one.Effect/other.Effect-1) > 1e-9 {
			t.Fatalf("%+v\n%+v", one, other)
		}
	}))
	t.Run("EffectLiesInItsInterval", rapid.MakeCheck(func(t *rapid.T) {
		r := Of(figures(t, "a"), figures(t, "b"), Rule{Margin: 0.05})
		if !(r.Low <= r.Effect && r.Effect <= r.High) {
			t.Fatalf("the effect lies outside its interval: %+v", r)
		}
	}))
}

func TestOf_Cases(t *testing.T) {
	low, high := []float64{1, 1.1, 1.2, 1.3}, []float64{2, 2.1, 2.2, 2.3}
	for name, c := range map[string]struct {
		a, b []float64
		rule Rule
		want Verdict
	}{
		"HigherIsWorse":    {low, high, Rule{Margin: 0.05}, Worse},
		"HigherIsBetter":   {low, high, Rule{Margin: 0.05, HigherBetter: true}, Better},
		"TooFew":           {low[:3], high, Rule{Margin: 0.05}, TooFew},
		"Nothing":          {nil, high, Rule{Margin: 0.05}, TooFew},
		"TheSame":          {[]float64{3, 3, 3, 3}, []float64{3, 3, 3, 3}, Rule{Margin: 0.05}, Equal},
		"NoneOnEitherSide": {make([]float64, 4), make([]float64, 4), Rule{Margin: 0.05}, Equal},
		"SeenInAFewRuns": {make([]float64, 16), append(make([]float64, 13), 100, 110, 120), Rule{Margin: 0.05},
			Inconclusive},
		"SmallDifferenceEquals": {[]float64{100, 100.1, 100.2, 100.3}, []float64{101, 101.1, 101.2, 101.3},
			Rule{Margin: 0.05}, Equal},
		"Amount": {low, high, Rule{Margin: 2, Amount: true}, Equal},
		"LessByMoreThanTheMargin": {[]float64{100, 100.1, 100.2, 100.3}, []float64{92, 92.1, 92.2, 92.3},
			Rule{Margin: 0.05}, Better},
		"RunsWithoutTheFigure": {[]float64{math.NaN(), 1, 1.1, math.NaN(), 1.2, 1.3},
			[]float64{2, 2.1, math.NaN(), 2.2, 2.3, math.NaN()}, Rule{Margin: 0.05}, Worse},
		"HardlyAnyRunHasIt": {[]float64{1, math.NaN(), 1.1, math.NaN(), 1.2, math.NaN()}, []float64{2, 2, 2, 2, 2, 2},
			Rule{Margin: 0.05}, TooFew},
		"NeverInTheSameStretch": {append(slices.Repeat([]float64{math.NaN()}, 5), 1, 1, 1, 1, 1),
			append([]float64{2, 2, 2, 2, 2}, slices.Repeat([]float64{math.NaN()}, 5)...), Rule{Margin: 0.05}, TooFew},
		"Noise": {[]float64{1, 9, 2, 8}, []float64{3, 7, 4, 12}, Rule{Margin: 0.05}, Inconclusive},
	} {
		r := Of(c.a, c.b, c.rule)
		if r.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", name, r, c.want)
		}
		if r.Verdict == Inconclusive && r.MorePairs < 1 {
			t.Errorf("%s: %d more pairs", name, r.MorePairs)
		}
	}
}

func TestOf_RoundingIsNoEffect(t *testing.T) {
	r := Of([]float64{0.075, 0.2, 0.025, 0.025}, []float64{0.7, 0.05, 0, 0.05}, Rule{Margin: 0.05})
	if r.Effect != 0 {
		t.Fatalf("two opposite differences are in the middle: %+v", r)
	}
}

// One of twenty rows without any difference would look significant by chance.
func TestHolm(t *testing.T) {
	var rows []*Row
	for range 20 {
		r := Of([]float64{1, 1.1, 1.2, 1.3}, []float64{2, 2.1, 2.2, 2.3}, Rule{Margin: 0.05})
		rows = append(rows, &r)
	}
	if Holm(rows); rows[0].Verdict != Inconclusive || rows[0].PHolm <= rows[0].P {
		t.Errorf("corrected for twenty: %+v, want it inconclusive with a larger p", rows[0])
	}
	one := Of([]float64{1, 1.1, 1.2, 1.3}, []float64{2, 2.1, 2.2, 2.3}, Rule{Margin: 0.05})
	if Holm([]*Row{&one}); one.Verdict != Worse {
		t.Errorf("corrected for one: %+v, want it worse", one)
	}
}

// A row of a family needs more pairs than one that is alone, and with as many more it is decided.
func TestHolm_MorePairsCountTheFamily(t *testing.T) {
	side := func(level float64, n int) (all []float64) {
		for i := range n {
			all = append(all, level+0.1*float64(i%4))
		}
		return all
	}
	family := func(pairs int) *Row {
		rows := make([]*Row, 20)
		for i := range rows {
			r := Of(side(1, pairs), side(2, pairs), Rule{Margin: 0.05})
			rows[i] = &r
		}
		Holm(rows)
		return rows[0]
	}
	few := family(RunsMin)
	if few.Verdict != Inconclusive || few.MorePairs < 2 {
		t.Fatalf("few pairs: %+v, want it inconclusive, with more pairs needed", few)
	}
	if r := family(RunsMin + few.MorePairs); r.Verdict != Worse {
		t.Errorf("with %d more pairs: %+v", few.MorePairs, r)
	}
	if r := family(RunsMin + few.MorePairs - 1); r.Verdict != Inconclusive {
		t.Errorf("fewer would do: %+v", r)
	}
}

// One of many rows that all differ by the margin would be called equal by chance.
func TestHolm_OfEqualVerdicts(t *testing.T) {
	a, b := []float64{100, 100.1, 100.2, 100.3}, []float64{101, 101.1, 101.2, 101.3}
	var rows []*Row
	for range 20 {
		r := Of(a, b, Rule{Margin: 0.05})
		rows = append(rows, &r)
	}
	if rows[0].Verdict != Equal {
		t.Fatalf("before the correction: %+v, want it equal", rows[0])
	}
	if Holm(rows); rows[0].Verdict == Equal || rows[0].PEqualHolm <= rows[0].PEqual {
		t.Errorf("corrected for many: %+v, want it not equal, with a larger p", rows[0])
	}
	one := Of(a, b, Rule{Margin: 0.05})
	if Holm([]*Row{&one}); one.Verdict != Equal {
		t.Errorf("corrected for one: %+v, want it equal", one)
	}
}

func TestExtended(t *testing.T) {
	for _, c := range []struct{ before, made, pairs int }{{16, 16, 24}, {16, 9, 24}, {16, 9, 12}, {16, 12, 12},
		{8, 0, 16}, {4, 4, 5}, {40, 39, 200}} {
		before := Looks(c.before)
		all := Extended(before, c.made, c.pairs)
		last := 0
		for _, l := range all {
			if l.Pairs <= last || l.Alpha <= 0 {
				t.Errorf("%+v: %+v", c, all)
			}
			last = l.Pairs
		}
		for i, l := range before {
			if l.Pairs <= c.made && l.Pairs < c.pairs && all[i] != l {
				t.Errorf("%+v: a look that was made has changed: %+v, was %+v", c, all, before)
			}
		}
		want := Alpha
		if c.made == c.before && c.pairs > c.made {
			want = 1.5 * Alpha
		}
		if last != c.pairs || math.Abs(Spent(all)-want) > 1e-9 {
			t.Errorf("%+v: until %d, error %v, want %v", c, last, Spent(all), want)
		}
	}
	looks := Looks(4)
	for pairs := 6; pairs < 60; pairs += 2 {
		looks = Extended(looks, pairs-2, pairs)
	}
	if Spent(looks) >= 2*Alpha {
		t.Errorf("many extensions spend %v", Spent(looks))
	}
}

func TestFloor(t *testing.T) {
	s := simulated{rand.New(rand.NewPCG(1, 2)), 0.05, 0}
	var side []float64
	for range 12 {
		side = append(side, s.run(10, 0))
	}
	floor, known := Floor(side, false, 1)
	if !known || floor < 0.01 || floor > 0.12 {
		t.Errorf("floor %v, known %v: want 0.01 to 0.12", floor, known)
	}
	if _, known := Floor(side[:3], false, 1); known {
		t.Error("three runs have a floor")
	}
}
