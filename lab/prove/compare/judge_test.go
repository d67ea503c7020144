package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/test/thorough"
)

// outcomes gives all operations of a run the same counts, and the run their sum.
func outcomes(ok, refused, failed, overload int64) func(*result.Result) {
	return func(r *result.Result) {
		r.Totals = result.Totals{}
		for i := range r.Operations {
			op := &r.Operations[i]
			op.Totals = result.Totals{Ops: ok + refused + failed + overload, OK: ok, Refused: refused, Errors: failed,
				Overload: overload}
			r.Ops, r.OK, r.Refused = r.Ops+op.Ops, r.OK+ok, r.Refused+refused
			r.Errors, r.Overload = r.Errors+failed, r.Overload+overload
		}
		r.OpsPerS = float64(r.OK+r.Refused) / r.DurationS
	}
}

// A system must not win by failing operations. Each side is faster in what it answers.
func TestCompare_WhoLeavesWorkUndoneDoesNotWin(t *testing.T) {
	all := outcomes(1000, 0, 0, 0)
	for name, c := range map[string]struct {
		a, b   func(*result.Result)
		metric string
		want   verdict.Verdict
		says   string
	}{
		"Overload": {all, outcomes(50, 0, 0, 950), "", verdict.Worse,
			"95.0 % of its operations failed, 0.0 % of those of A"},
		"OverloadByCPU": {all, outcomes(50, 0, 0, 950), "workers_cpu_ms", verdict.Worse,
			"95.0 % of its operations failed"},
		"FewErrors": {all, outcomes(970, 0, 30, 0), "database_cpu_ms", verdict.Worse,
			"3.0 % of its operations failed"},
		"TheFirstFails": {outcomes(900, 0, 0, 100), all, "database_cpu_ms", verdict.Better,
			"10.0 % of the operations of A failed"},
		"Percentile": {all, outcomes(900, 0, 0, 100), "latency_ms_p95", verdict.Worse,
			"10.0 % of its operations failed"},
		"Refuses": {all, outcomes(600, 400, 0, 0), "", verdict.Inconclusive, "a control refused 40.0 %"},
	} {
		t.Run(name, func(t *testing.T) {
			o := programs(t, "")
			o.Metric = c.metric
			cpu := func(ms float64, change func(*result.Result)) func(*result.Result) {
				return func(r *result.Result) {
					change(r)
					r.Cost.DatabaseMS, r.Cost.WorkersMS = &ms, &ms
				}
			}
			o.Sides[0].Command, o.Sides[1].Command = reporting(t, "130", cpu(2, c.a)), reporting(t, "100", cpu(1, c.b))
			got := compared(t, o)
			if f := got.Findings[0]; f.Verdict != c.want || !strings.Contains(got.Statement(), c.says) {
				t.Errorf("%s: %s, want %s and %q", f.Verdict, got.Statement(), c.want, c.says)
			}
		})
	}
}

// simulated comparisons of a system with itself: the runs of a quiet machine, which spread by 4 %. Their failed shares
// are drawn, too, if they fail at all.
func simulatedAA(rng *rand.Rand, pairs int, fails float64) *Comparison {
	c := &Comparison{Plan: Plan{Sides: make([]Described, 2), Metric: MetricDefault, Margin: MarginDefault, Pairs: pairs,
		Looks: verdict.Looks(pairs)}}
	for round := range pairs {
		for side := range 2 {
			failed := math.Max(0, fails*(1+rng.NormFloat64()/2))
			all := map[string]float64{MetricDefault: 10*math.Exp(0.04*rng.NormFloat64()) + 1000*failed, weight: 1}
			made := map[string]map[string]float64{"": {failedShare: failed}, "work": all}
			c.Runs = append(c.Runs, Replica{Phase: Load, Round: round + 1, Side: Letter(side), Figures: made})
		}
	}
	return c
}

// everywhere are so many of the comparisons stopped; the others at each look. Between looks nothing may change.
const everywhere = 100

// wrongOf so many comparisons of a system with itself counts those that call it better or worse when they are stopped
// at any pair.
func wrongOf(t *testing.T, trials int, fails float64) (wrong int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	for trial := range trials {
		whole := simulatedAA(rng, pairsAA, fails)
		isWrong, atLook := false, verdict.Inconclusive
		for pairs := verdict.RunsMin; pairs <= pairsAA; pairs++ {
			look := verdict.Passed(whole.Plan.Looks, pairs) == pairs
			if !look && trial >= everywhere {
				continue
			}
			c := *whole
			c.Runs = whole.Runs[:2*pairs]
			all, _, _ := c.judged()
			v := all[0].verdict
			if look {
				atLook = v
			} else if !undecided(v) && v != atLook {
				t.Errorf("stopped after %d pairs: %s, at the look before: %s", pairs, v, atLook)
			}
			isWrong = isWrong || v == verdict.Better || v == verdict.Worse
		}
		if isWrong {
			wrong++
		}
	}
	return wrong
}

const pairsAA = 16

// Only planned looks decide, at whatever pair a comparison is stopped.
func TestStopped_AnywhereKeepsItsError(t *testing.T) {
	for name, c := range map[string]struct {
		trials int
		fails  float64
	}{"NothingFails": {3000, 0}, "OneInTwentyFails": {thorough.Or(3000, 600), 0.05}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := wrongOf(t, c.trials, c.fails)
			share := float64(wrong) / float64(c.trials)
			if t.Logf("%d of %d are wrong: %.1f %%", wrong, c.trials, 100*share); share > verdict.Alpha {
				t.Errorf("%.1f %% of the comparisons of a system with itself are wrong, at most %.0f %% were asked for",
					100*share, 100*verdict.Alpha)
			}
		})
	}
}

// stopped is a comparison of programs that the user stops after so many runs.
func stopped(t *testing.T, o Options, runs int) *Comparison {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := 0
	o.Progress = func(p Progress) {
		if p.Ended != nil && p.Ended.Void == "" {
			if ended++; ended == runs {
				stop()
			}
		}
	}
	c, err := Compare(ctx, o)
	if err != nil || c.Stopped != ByUser {
		t.Fatalf("%v %+v", err, c)
	}
	return c
}

// Before the first look nothing is decided, however clear it seems; after it the last look counts.
func TestStopped_BetweenLooks(t *testing.T) {
	o := programs(t, "120")
	o.Pairs = 32
	c := stopped(t, o, 12)
	if f := c.Findings[0]; f.Verdict != verdict.Inconclusive || c.JudgedAfter != 0 ||
		!strings.HasPrefix(c.Statement(), "B against A is provisional: the first planned look is after 8 pairs, so ") {
		t.Errorf("%+v, %s", f.Headline, c.Statement())
	}
	for _, table := range c.Findings[0].Tables {
		for _, r := range table.Rows {
			if !undecided(r.Verdict) {
				t.Errorf("%s of %q is %s before the first look", table.Name, r.Operation, r.Verdict)
			}
		}
	}
	o = noisy(t, 16)
	c = stopped(t, o, 20)
	if f := c.Findings[0]; f.Verdict != verdict.Inconclusive || c.JudgedAfter != 8 || f.Headline.Runs[0] != 8 {
		t.Errorf("judged after %d: %+v", c.JudgedAfter, f.Headline)
	}
	var text strings.Builder
	if err := c.Text(&text); err != nil || !strings.Contains(text.String(),
		"10 of at most 16 pairs") || !strings.Contains(text.String(), "the planned look after 8 pairs") {
		t.Errorf("%v\n%s", err, text.String())
	}
}
