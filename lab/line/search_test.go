package line

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/lab/system"
	"plimsoll/test/golden"
)

// play searches a system that answers by a rule and writes down what was tried.
func play(b Bounds, most int, rule func(n, longer, trial int) Outcome) (string, []Trial) {
	var out strings.Builder
	var trials []Trial
	for len(trials) < most {
		left := b.Left(trials)
		purpose, n, longer := b.Next(trials)
		if n == 0 {
			low, high := b.bracket(trials)
			fmt.Fprintf(&out, "answer [%d, %d)\n", low, high)
			return out.String(), trials
		}
		t := Trial{Users: n, Purpose: purpose, Longer: longer, Again: voidRepeats(trials),
			Outcome: rule(n, longer, len(trials))}
		if t.Outcome == tooShort {
			t.Outcome, t.Short = Void, true
		}
		t.decide()
		fmt.Fprintf(&out, "%2d  %-7s %6d  x%d  %-8s  about %d left%s\n", len(trials)+1, purpose, n, 1<<longer,
			t.Outcome, left, strings.Repeat(", again", min(1, t.Again)))
		trials = append(trials, t)
	}
	out.WriteString("no end\n")
	return out.String(), trials
}

// tooShort stands for a trial that is void for want of operations.
const tooShort Outcome = "too short"

func upTo(line int) func(n, _, _ int) Outcome {
	return func(n, _, _ int) Outcome {
		if n <= line {
			return Passes
		}
		return Fails
	}
}

var usual = Bounds{First: 100, Most: 30_000, Resolution: 0.05, Confirmations: 3}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name   string
		bounds Bounds
		rule   func(n, longer, trial int) Outcome
	}{
		{"line_at_1234", usual, upTo(1234)},
		{"first_fails", usual, upTo(17)},
		{"nobody_is_carried", usual, upTo(0)},
		{"one_user", usual, upTo(1)},
		{"beyond_the_most", Bounds{100, 1000, 0.05, 3}, upTo(5000)},
		{"first_is_the_most", Bounds{100, 50, 0.05, 2}, upTo(5000)},
		{"confirmation_fails", usual, func(n, _, trial int) Outcome {
			if n > 1000 || n > 900 && trial == 10 {
				return Fails
			}
			return Passes
		}},
		{"unsteady_then_steady", usual, func(n, longer, _ int) Outcome {
			if n > 300 && n <= 400 && longer < 1 {
				return Unsteady
			}
			return upTo(450)(n, 0, 0)
		}},
		{"never_steady", usual, func(n, _, _ int) Outcome {
			if n > 150 && n < 300 {
				return Unsteady
			}
			return upTo(500)(n, 0, 0)
		}},
		{"void_once", usual, func(n, _, trial int) Outcome {
			if trial == 1 || trial == 8 {
				return Void
			}
			return upTo(333)(n, 0, 0)
		}},
		{"void_from_250", usual, func(n, _, _ int) Outcome {
			if n >= 250 {
				return Void
			}
			return Passes
		}},
		{"void_between", usual, func(n, _, _ int) Outcome {
			if n > 250 && n < 350 {
				return Void
			}
			return upTo(300)(n, 0, 0)
		}},
		{"too_short", usual, func(n, longer, _ int) Outcome {
			if longer < 2 {
				return tooShort
			}
			return upTo(130)(n, 0, 0)
		}},
		{"always_void", usual, func(int, int, int) Outcome { return Void }},
		{"fails_then_void", usual, func(n, _, _ int) Outcome {
			if n > 60 {
				return Fails
			}
			return Void
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := play(c.bounds, 60, c.rule)
			golden.Compare(t, "testdata/"+c.name+".golden", got)
		})
	}
}

func TestSearchEndsAtTheLineOfAnySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bounds{rapid.IntRange(1, 5000).Draw(t, "first"), rapid.IntRange(1, 30_000).Draw(t, "most"),
			rapid.Float64Range(0.01, 0.5).Draw(t, "resolution"), rapid.IntRange(1, 5).Draw(t, "confirmations")}
		line := rapid.IntRange(0, 40_000).Draw(t, "line")
		log, trials := play(b, 100, upTo(line))
		low, high := b.bracket(trials)
		switch {
		case strings.Contains(log, "no end"):
			t.Fatalf("no end:\n%s", log)
		case low > line || high != 0 && high <= line || low > b.Most:
			t.Fatalf("line %d, answer [%d, %d)\n%s", line, low, high, log)
		case high != 0 && high-low > b.Step(max(1, low)) && high != 1:
			t.Fatalf("line %d, answer [%d, %d) is wider than a step\n%s", line, low, high, log)
		case low > 0 && levelOf(trials, low).repeats.Passed != b.Confirmations:
			t.Fatalf("%+v at the lower end\n%s", levelOf(trials, low).repeats, log)
		}
	})
}

// A system that passes by chance near its line: the search must end, and below what ever failed.
func TestSearchEndsOnANoisySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		log, trials := play(usual, 200, func(n, _, _ int) Outcome {
			if float64(n) < 1000*(1+0.1*rng.NormFloat64()) {
				return Passes
			}
			return Fails
		})
		low, high := usual.bracket(trials)
		if strings.Contains(log, "no end") || low >= high || low == 0 {
			t.Fatalf("[%d, %d)\n%s", low, high, log)
		}
	})
}

// Nothing but the numbers that stayed void may lie between what passed and what failed.
func TestSearchTakesNoVoidTrialForAFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		share, line := rapid.Float64Range(0, 1).Draw(t, "void"), rapid.IntRange(1, 20_000).Draw(t, "line")
		log, trials := play(usual, 200, func(n, _, _ int) Outcome {
			if rng.Float64() < share {
				return Void
			}
			return upTo(line)(n, 0, 0)
		})
		low, _ := usual.bracket(trials)
		high := usual.leastFailed(trials)
		if strings.Contains(log, "no end") || low > line || high > 0 && high <= line {
			t.Fatalf("line %d, [%d, %d)\n%s", line, low, high, log)
		}
		for i, trial := range trials {
			if trial.Again > repeatMost || trial.Again > 0 &&
				(trials[i-1].Outcome != Void || trials[i-1].Users != trial.Users) {
				t.Fatalf("trial %d\n%s", i+1, log)
			}
		}
	})
}

func TestDriftTellsAQueueThatGrows(t *testing.T) {
	series := func(f func(i int) int64) result.Series {
		s := result.Series{IntervalS: 1, SteadyFromS: 10, SteadyToS: 70}
		for i := range 80 {
			s.T, s.InFlight = append(s.T, float64(i)), append(s.InFlight, f(i))
		}
		return s
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		s     result.Series
		worse bool
	}{
		{"Flat", series(func(int) int64 { return 5 }), false},
		{"Noise", series(func(int) int64 { return 20 + rng.Int64N(10) }), false},
		{"Grows", series(func(i int) int64 { return int64(i) + rng.Int64N(10) }), true},
		{"GrowsInTheRampAndDrainOnly", series(func(i int) int64 {
			if i < 10 {
				return int64(i)
			}
			return 10 + rng.Int64N(3)
		}), false},
		{"Falls", series(func(i int) int64 { return 100 - int64(i) }), false},
		{"ByOneOperation", series(func(i int) int64 { return 1 + int64(i)/40 }), false},
		{"TooShort", result.Series{IntervalS: 1, SteadyToS: 5, T: []float64{0, 1, 2, 3, 4},
			InFlight: []int64{1, 10, 20, 30, 40}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := driftOf(c.s); d.Worsening() != c.worse {
				t.Errorf("want a growing queue or not, as the series has it, got %+v", d)
			}
		})
	}
}

func TestTrialIsJudged(t *testing.T) {
	good := func() *result.Result {
		score := 0.9
		r := &result.Result{Valid: true, Apdex: &score, Totals: result.Totals{Ops: 100, OK: 95, Errors: 5}}
		r.Conditions.Load.LagLimitS = 0.1
		// 60 of 100 within T, 25 within 4T: 0.725
		r.Operations = []result.Operation{{TargetMS: 500, Priority: 1, HistogramT: apdex.Histogram{60, 10, 10, 5, 10},
			Totals: result.Totals{Ops: 100, OK: 95, Errors: 5}}}
		return r
	}
	spoilt := func(change func(*result.Result), causes ...result.Cause) func(*result.Result) {
		return func(r *result.Result) {
			r.Valid, r.InvalidCauses = false, causes
			for _, c := range causes {
				r.InvalidReasons = append(r.InvalidReasons, "reason: "+string(c))
			}
			change(r)
		}
	}
	lag := func(ms float64) func(*result.Result) {
		return func(r *result.Result) { r.Generator.LagMSP99 = ms }
	}
	all := func(changes ...func(*result.Result)) func(*result.Result) {
		return func(r *result.Result) {
			for _, change := range changes {
				change(r)
			}
		}
	}
	within := func(low, high float64) *apdex.Interval { return &apdex.Interval{Low: low, High: high} }
	few := func(r *result.Result) {
		r.Totals = result.Totals{Ops: 1, Errors: 1}
		r.Interval = within(0, 0.79)
	}
	score := func(x float64) func(*result.Result) { return func(r *result.Result) { r.Apdex = &x } }
	answered := func(units ...int64) func(*result.Result) {
		return func(r *result.Result) {
			op := &r.Operations[0]
			op.HistogramT = apdex.Histogram{}
			op.Ops = 0
			op.OK = 0
			op.Errors = 0
			for i, n := range units {
				op.HistogramT[i] = n
				op.Ops, op.OK = op.Ops+n, op.OK+n
			}
		}
	}
	// Of 100,000 operations, 1,000 have priority 1 and satisfy nobody, the others have priority 5: the one in 100 that
	// was later than the lag's p99 may be all of the first.
	important := func(satisfied int64) func(*result.Result) {
		return func(r *result.Result) {
			r.Ops = 100_000
			r.Operations = []result.Operation{
				{TargetMS: 500, Priority: 5, HistogramT: apdex.Histogram{satisfied, 0, 0, 0, 99_000 - satisfied}},
				{TargetMS: 500, Priority: 1, HistogramT: apdex.Histogram{0, 0, 0, 0, 1000}}}
		}
	}
	failing := func(r *result.Result) {
		op := &r.Operations[0]
		op.HistogramT = apdex.Histogram{60}
		op.Ops = 100
		op.OK = 60
		op.Errors = 5
		op.Overload = 35
	}
	for _, c := range []struct {
		name    string
		change  func(*result.Result)
		outcome Outcome
		unmade  bool
	}{
		{"Passes", func(*result.Result) {}, Passes, false},
		{"BelowTheTarget", func(r *result.Result) { *r.Apdex, r.Interval = 0.8, within(0.75, 0.84) }, Fails, false},
		{"BelowTheTargetAndNotForSure", func(r *result.Result) { *r.Apdex, r.Interval = 0.84, within(0.8, 0.88) },
			Undecided, false},
		{"OneOperationAlwaysFails", func(r *result.Result) {
			r.Operations = append(r.Operations, result.Operation{ID: "b", Totals: result.Totals{Ops: 10, Errors: 10}})
		}, Fails, false},
		{"OneOperationFailedByChance", func(r *result.Result) {
			r.Operations = append(r.Operations, result.Operation{ID: "b", Totals: result.Totals{Ops: 9, Errors: 9}})
		}, Passes, false},
		{"NoScore", func(r *result.Result) { r.Apdex = nil }, Void, false},
		{"GeneratorLagged", spoilt(all(lag(101), answered(80, 20)), result.ByGenerator), Void, true},
		{"GeneratorLaggedAndTheScoreMayBeItsFault",
			spoilt(all(lag(101), score(0.5), answered(10, 80, 10)), result.ByGenerator), Void, true},
		{"GeneratorLaggedBySeveralTargets", spoilt(all(lag(2000), score(0), answered(0, 0, 0, 0, 100)),
			result.ByGenerator), Void, true},
		{"GeneratorLaggedAndTheServerWasSlowAnyhow",
			spoilt(all(lag(101), score(0.2), answered(0, 10, 80, 10)), result.ByGenerator), Fails, true},
		{"GeneratorLaggedAndTheServerRefused", spoilt(all(lag(101), score(0.8), failing), result.ByGenerator), Fails,
			true},
		{"GeneratorWasLateInWhatCountsMost", spoilt(all(score(0.8), important(86_000)), result.ByGenerator),
			Void, true},
		{"GeneratorWasLateInWhatCountsMostAndTheRestFailed",
			spoilt(all(score(0.5), important(80_000)), result.ByGenerator), Fails, true},
		{"GeneratorTookTheProcessors", spoilt(
			all(func(r *result.Result) { r.Generator.CPUShare = share(0.6) }, score(0.2), answered(0, 0, 0, 0, 100)),
			result.ByGenerator), Void, true},
		{"GeneratorTookTheProcessorsAndTheServerRefused",
			spoilt(all(func(r *result.Result) { r.Generator.CPUShare = share(0.6) }, score(0.2), failing),
				result.ByGenerator), Fails, true},
		{"GeneratorStoodStill", spoilt(all(func(r *result.Result) { r.Generator.LagMSMax = 5001 }, answered(80, 20)),
			result.ByGenerator), Void, true},
		{"WorkerDied", spoilt(score(0.1), result.ByAccident), Void, false},
		{"WorkerDiedAndNothingWasAnswered", spoilt(score(0), result.ByAccident, result.BySystem), Void, false},
		{"Disturbed", spoilt(score(0.1), result.ByDisturbance), Void, false},
		{"NotAudited", spoilt(score(0.99), result.ByBooks), Void, false},
		{"NothingWasAnswered", spoilt(score(0), result.BySystem), Fails, false},
		{"TooFewBecauseUsersWaited", spoilt(score(0.5), result.ByFewness), Fails, false},
		{"OneOperationAndItFailed", spoilt(all(score(0), few), result.ByFewness, result.BySystem), Void, false},
		{"OneOperationAndTheGeneratorWasLate", spoilt(all(score(0), few), result.ByFewness, result.ByGenerator), Void,
			true},
		{"TooFewToTell", spoilt(all(score(0.7), func(r *result.Result) { r.Ops, r.Interval = 20, within(0.5, 0.88) }),
			result.ByFewness), Void, false},
		{"TooFewBecauseUsersThink", spoilt(score(0.99), result.ByFewness), Void, false},
		{"NothingCameToPass", spoilt(func(r *result.Result) { r.Apdex = nil }, result.ByFewness), Void, false},
		{"QueueGrew", func(r *result.Result) {
			r.Series = result.Series{IntervalS: 1, SteadyToS: 24}
			for i := range 24 {
				r.Series.T, r.Series.InFlight = append(r.Series.T, float64(i)), append(r.Series.InFlight, int64(3*i))
			}
		}, Unsteady, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			c.change(r)
			if got := trialOf(r, 0.85); got.Outcome != c.outcome || got.GeneratorLate != c.unmade ||
				(got.Outcome != Passes) != (got.Why != "") {
				t.Errorf("want outcome and reason of the case, got %+v", got)
			}
		})
	}
}

func TestBooksOfCopiesAreAuditedBeforeTheFirstTrialOnly(t *testing.T) {
	s := &search{Line: &Line{}}
	if o := s.runOptions("", attempt{Coarse, 10, 0}); o.AuditedBefore != nil {
		t.Errorf("%+v before the first trial", o.AuditedBefore)
	}
	before := &result.Audit{Done: true, Clean: true}
	for reset, want := range map[system.Reset]*result.Audit{system.ResetFilled: before, system.ResetCopy: before,
		system.ResetNone: nil, system.ResetSQL: nil} {
		s := &search{Options: Options{Reset: reset}, Line: &Line{}}
		s.keepAudit(&result.Result{AuditBefore: before})
		if o := s.runOptions("", attempt{Coarse, 10, 0}); o.AuditedBefore != want {
			t.Errorf("%s: %+v", reset, o.AuditedBefore)
		}
	}
}
