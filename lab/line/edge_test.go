package line

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// noisy is a system that carries line users, more or less: each trial finds another number.
func noisy(random *rand.Rand, line, spread float64) func(n, _, _ int) Outcome {
	return func(n, _, _ int) Outcome {
		if math.Log(float64(n)) < math.Log(line)+spread*random.NormFloat64() {
			return Passes
		}
		return Fails
	}
}

func TestIntervalOfTheLineCoversIt(t *testing.T) {
	const searches = 100
	random := rand.New(rand.NewPCG(3, 5))
	for _, spread := range []float64{0.02, 0.1, 0.25} {
		t.Run(fmt.Sprint(spread), func(t *testing.T) {
			covered, bracketed, width := 0.0, 0.0, 0.0
			for range searches {
				line := 800 * math.Exp(random.Float64())
				log, trials := play(usual, 200, noisy(random, line, spread))
				if strings.Contains(log, "no end") {
					t.Fatal(log)
				}
				i := posteriorOf(trials).interval()
				if *i.Low <= line && line <= *i.High {
					covered += 1.0 / searches
				}
				low, high := usual.bracket(trials)
				if float64(low) <= line && line <= float64(high) {
					bracketed += 1.0 / searches
				}
				width += *i.High / *i.Low / searches
			}
			t.Logf("interval covers %.3f, ×%.2f wide; the bracket covers %.3f", covered, width, bracketed)
			if covered < 0.9 {
				t.Errorf("the interval covers the line in %.3f of the searches", covered)
			}
			if spread >= 0.1 && bracketed > 0.6 {
				t.Errorf("the simulation does not tell the methods apart: brackets cover %.3f", bracketed)
			}
		})
	}
}

func TestEqualSystemsDifferRarely(t *testing.T) {
	const pairs = 60
	random := rand.New(rand.NewPCG(13, 17))
	for _, spread := range []float64{0.05, 0.2} {
		differ, disjoint, found := 0.0, 0.0, 0.0
		for range pairs {
			search := func(line float64) []Trial {
				_, trials := play(usual, 200, noisy(random, line, spread))
				return trials
			}
			a, b, twice := search(1000), search(1000), search(3000)
			r := &Ratio{Users: 1}
			if r.addInterval(posteriorOf(a), posteriorOf(b)); r.Differs {
				differ += 1.0 / pairs
			}
			if r.addInterval(posteriorOf(a), posteriorOf(twice)); r.Differs {
				found += 1.0 / pairs
			}
			lowA, highA := usual.bracket(a)
			if lowB, highB := usual.bracket(b); highA <= lowB || highB <= lowA {
				disjoint += 1.0 / pairs
			}
		}
		t.Logf("spread %v: A/A differs %.3f, brackets are disjoint %.3f; threefold is found %.3f", spread, differ,
			disjoint,
			found)
		if differ > 0.05 || found < 0.9 {
			t.Errorf("spread %v: equal systems differ in %.3f of the pairs, threefold ones in %.3f", spread, differ,
				found)
		}
	}
}

func TestIntervalIsOpenWhereNothingBoundsIt(t *testing.T) {
	passed := []Trial{{Users: 100, Outcome: Passes}, {Users: 200, Outcome: Void}}
	if i := posteriorOf(passed).interval(); i.Low == nil || i.High != nil || i.Trials != 1 {
		t.Errorf("want a lower end only, from one trial, got %+v", i)
	}
	failed := []Trial{{Users: 100, Outcome: Fails}}
	if i := posteriorOf(failed).interval(); i.Low != nil || i.High == nil {
		t.Errorf("want an upper end only, got %+v", i)
	}
	if i := posteriorOf(nil).interval(); i != nil {
		t.Errorf("want no interval, got %+v", i)
	}
	low, high := posteriorOf(passed).ratioTo(posteriorOf(failed))
	if low == nil || high != nil {
		t.Errorf("quotient %v to %v", low, high)
	}
}

func TestBothEndsAreRepeated(t *testing.T) {
	tries := 0
	_, trials := play(usual, 100, func(n, _, _ int) Outcome {
		if n == 1260 { // passes once of four times
			if tries++; tries == 3 {
				return Passes
			}
		}
		return upTo(1259)(n, 0, 0)
	})
	low, high := usual.bracket(trials)
	at, over := levelOf(trials, low).repeats, levelOf(trials, high).repeats
	if high != 1260 || at != (Repeats{Passed: 3}) || over != (Repeats{Passed: 1, Failed: 2}) {
		t.Fatalf("%d to %d: %+v, %+v", low, high, at, over)
	}
	l := Line{Plan: Plan{Target: 0.85, Bounds: usual}, Trials: trials}
	l.conclude(0)
	text := strings.Join(l.details(), "\n")
	for _, part := range []string{"1,200 users passed in 3 of 3 repeated trials, 1,260 in 1 of 3",
		fmt.Sprintf("from how %d trials ended", len(trials))} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if i := l.Answer.Interval; *i.High < 1260 || *i.Low > 1260 {
		t.Errorf("%v to %v", *i.Low, *i.High)
	}
}

func TestBeyondThatStaysVoidEndsTheSearch(t *testing.T) {
	log, trials := play(usual, 60, func(n, _, trial int) Outcome {
		if n > 400 && trial > 8 {
			return Void
		}
		return upTo(410)(n, 0, 0)
	})
	if strings.Contains(log, "no end") {
		t.Fatalf("%d trials:\n%s", len(trials), log)
	}
}

// All trials passed: the line is somewhere above, and how far above nobody knows.
func TestAnOpenEndDoesNotMoveTheOther(t *testing.T) {
	trials := func(users, times int, o Outcome) (all []Trial) {
		for range times {
			all = append(all, Trial{Users: users, Outcome: o})
		}
		return all
	}
	passed, failed := posteriorOf(trials(10_000, 4, Passes)), posteriorOf(trials(10_000, 4, Fails))
	if i := passed.interval(); i.High != nil || *i.Low > 10_000 || *i.Low < 8_000 {
		t.Errorf("10,000 users passed, and the line lies above %v", *i.Low)
	}
	if i := failed.interval(); i.Low != nil || *i.High < 10_000 || *i.High > 12_000 {
		t.Errorf("10,000 users failed, and the line lies below %v", *i.High)
	}
	// The same system twice, whose line is the most that is tried: now it just fails, now it just passes.
	base := posteriorOf(append(trials(9_500, 4, Passes), trials(10_000, 4, Fails)...))
	r := &Ratio{Users: 1}
	if r.addInterval(base, passed); r.Differs {
		t.Errorf("it differs from itself: %v or more", *r.IntervalLow)
	}
	far := &Ratio{Users: 3}
	slow := posteriorOf(append(trials(3_000, 4, Passes), trials(3_150, 4, Fails)...))
	if far.addInterval(slow, passed); !far.Differs {
		t.Errorf("threefold is not found: %v or more", *far.IntervalLow)
	}
}
