package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"plimsoll/test/thorough"
)

// systemRuns of two systems whose figures vary by so much; the new one is slower by a share.
func systemRuns(rng *rand.Rand, n int, spread, slower float64) (all []float64) {
	for range n {
		all = append(all, 100*(1+slower)*math.Exp(spread*rng.NormFloat64()))
	}
	return all
}

var tenPercent = Rule{Margin: 0.10}

// shares of the verdicts in so many comparisons.
func shares(n, m int, spread, slower float64) map[Verdict]float64 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	trials, all := thorough.Or(20_000, 4000), map[Verdict]float64{}
	for range trials {
		p := OfPast(systemRuns(rng, n, spread, 0), systemRuns(rng, m, spread, slower), tenPercent)
		all[p.Verdict] += 1 / float64(trials)
	}
	return all
}

// tolerance of a share in so many simulations: three standard deviations of 5 %.
func tolerance() float64 { return 3 * math.Sqrt(0.05*0.95/float64(thorough.Or(20_000, 4000))) }

// sets of stored and new runs, and how much these vary.
var sets = []struct {
	n, m   int
	spread float64
}{{19, 1, 0.03}, {19, 1, 0.08}, {40, 1, 0.03}, {8, 4, 0.03}, {8, 4, 0.08}, {5, 2, 0.02}, {20, 10, 0.08}}

// A system that is compared with its own past fails in at most one of twenty.
func TestPast_OfItselfIsCalledWorseAsRarelyAsItSays(t *testing.T) {
	for _, s := range sets {
		all := shares(s.n, s.m, s.spread, 0)
		t.Logf("%d stored, %d new, spread %v: %v", s.n, s.m, s.spread, all)
		if all[Worse] > Alpha+tolerance() {
			t.Errorf("%d stored and %d new runs: %.1f %% are called worse", s.n, s.m, 100*all[Worse])
		}
		if s.spread <= 0.03 && s.n+s.m > 10 && all[NotWorse] < 0.5 {
			t.Errorf("%d stored and %d new runs that vary by %v decide nothing: %v", s.n, s.m, s.spread, all)
		}
	}
}

// A slowdown by the margin is found where the runs can show it, and seldom passes where they cannot.
func TestPast_FindsASlowdown(t *testing.T) {
	for _, s := range sets {
		all := shares(s.n, s.m, s.spread, 0.10)
		t.Logf("%d stored, %d new, spread %v: %v", s.n, s.m, s.spread, all)
		if all[NotWorse] > 0.20+tolerance() {
			t.Errorf("%d stored and %d new runs: 10 %% slower passes in %.1f %%", s.n, s.m, 100*all[NotWorse])
		}
	}
	if all := shares(8, 4, 0.03, 0.10); all[Worse] < 0.8 {
		t.Errorf("8 stored and 4 new runs find it in %.1f %%", 100*all[Worse])
	}
	if all := shares(19, 1, 0.03, 0.20); all[Worse] < 0.9 {
		t.Errorf("one run finds 20 %% in %.1f %%", 100*all[Worse])
	}
}

func TestPast_TooFewSaysHowMany(t *testing.T) {
	for _, c := range []struct{ n, m, moreNew, moreStored int }{{18, 1, 1, 1}, {4, 1, 2, 15}, {1, 1, 18, 18},
		{3, 2, 1, 2}} {
		stored, fresh := make([]float64, c.n), make([]float64, c.m)
		for i := range stored {
			stored[i] = 100 + 0.01*float64(i)
		}
		for i := range fresh {
			fresh[i] = 300 // however clear it seems
		}
		p := OfPast(stored, fresh, tenPercent)
		if p.Verdict != TooFew || p.MoreNew != c.moreNew || p.MoreStored != c.moreStored {
			t.Errorf("%d stored, %d new: %s, %d more new or %d stored; want %d, %d", c.n, c.m, p.Verdict, p.MoreNew,
				p.MoreStored, c.moreNew, c.moreStored)
		}
	}
	if p := OfPast([]float64{1, 2, 3}, nil, tenPercent); p.Verdict != TooFew {
		t.Errorf("nothing new is %s", p.Verdict)
	}
}

// Small but certain differences are within the margin; more of what is better is not worse.
func TestPast_DirectionAndMargin(t *testing.T) {
	steady := func(at float64) (all []float64) {
		for i := range 10 {
			all = append(all, at+0.01*float64(i))
		}
		return all
	}
	for name, c := range map[string]struct {
		fresh float64
		rule  Rule
		want  Verdict
	}{
		"WithinTheMargin": {102, tenPercent, NotWorse},
		"Beyond":          {130, tenPercent, Worse},
		"Faster":          {70, tenPercent, NotWorse},
		"LessThroughput":  {70, Rule{Margin: 0.1, HigherBetter: true}, Worse},
		"MoreThroughput":  {130, Rule{Margin: 0.1, HigherBetter: true}, NotWorse},
		"Amount":          {101.5, Rule{Margin: 1, Amount: true}, Worse},
	} {
		if p := OfPast(steady(100), steady(c.fresh), c.rule); p.Verdict != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, p.Verdict, c.want, p)
		}
	}
}
