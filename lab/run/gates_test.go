package run

import (
	"errors"
	"testing"
	"time"

	"plimsoll/lab/load/gate"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// judgedRun is a run of 30 s in which "look" was answered in so many ms, one after the other, negative ones failed, and
// nobody did "buy".
func judgedRun(t *testing.T, gates []string, ms ...int) *result.Result {
	t.Helper()
	operations := []users.Operation{{ID: "look", Target: time.Second, Priority: 1, Weight: 1},
		{ID: "buy", Target: time.Second, Priority: 1, Weight: 0.1}}
	const steady = 30 * time.Second
	r := &record{Options: Options{}}
	r.Scenario, r.Duration = scenario.Default(), steady
	r.crowd.Operations = operations
	r.made.Tally = users.NewTally(operations, 0, steady)
	for _, text := range gates {
		g, err := gate.Parse(text, []string{"look", "buy", "sell"})
		if err != nil {
			t.Fatal(err)
		}
		r.Gates = append(r.Gates, g)
	}
	per := len(ms)/30 + 1
	for second := range 30 {
		page := tally.NewPage(second, len(operations))
		for _, one := range ms[min(len(ms), second*per):min(len(ms), (second+1)*per)] {
			due := time.Duration(second) * time.Second
			took := time.Duration(max(1, one)) * time.Millisecond
			s := tally.Sample{Due: due, Sent: due, Done: due + took, Outcome: tally.OK}
			if one < 0 {
				s.Outcome, s.Err = tally.Failed, errors.New("no")
			} else {
				page.Answered++
			}
			page.Judged[0].Count(s, time.Second)
		}
		if err := r.made.Tally.Add(page); err != nil {
			t.Fatal(err)
		}
	}
	all := &result.Result{Valid: true, DurationS: steady.Seconds(), Operations: r.perOperation(r.made.Tally)}
	all.Totals = totals(r.made.Tally.Outcomes())
	all.OpsPerS = float64(all.OK) / all.DurationS
	addIntervals(all, r.made.Tally)
	r.score(all)
	r.judgeGates(all)
	return all
}

func times(n, ms int) (all []int) {
	for range n {
		all = append(all, ms)
	}
	return all
}

func TestGates_Verdicts(t *testing.T) {
	const few = "1,000 operations, at least 3,838 are needed"
	for name, c := range map[string]struct {
		ms    []int
		gates []result.Gate
	}{
		"Answered": {append(times(990, 100), times(10, 900)...), []result.Gate{
			{Gate: "look: p95 > 200ms", Verdict: result.GatePassed},
			{Gate: "look: p99.5 > 200ms", Verdict: result.GateFailed},
			{Gate: "look: p99.9 > 1s", Verdict: result.GateUndecided, Because: few},
			{Gate: "look: p99.9 > 200ms", Verdict: result.GateFailed}, // what was measured lies beyond the limit
			{Gate: "look: max > 1s", Verdict: result.GatePassed},
			{Gate: "look: max > 500ms", Verdict: result.GateFailed},
			{Gate: "look: mean > 105ms", Verdict: result.GateFailed},
			{Gate: "look: errors > 0%", Verdict: result.GatePassed},
			{Gate: "errors > 0.1%", Verdict: result.GateUndecided, Because: few},
			{Gate: "refused > 1%", Verdict: result.GatePassed},
			{Gate: "throughput < 20/s", Verdict: result.GatePassed},
			{Gate: "throughput < 50/s", Verdict: result.GateFailed},
			{Gate: "look: throughput < 2/s", Verdict: result.GatePassed},
			{Gate: "look: apdex < 0.9", Verdict: result.GatePassed},
			{Gate: "buy: p50 > 1h", Verdict: result.GateUndecided, Because: "nothing was measured"},
			{Gate: "buy: throughput < 1/h", Verdict: result.GateUndecided, Because: "nothing was measured"},
			{Gate: "sell: p50 > 1h", Verdict: result.GateUndecided, Because: "nobody does it in this load"},
		}},
		"Failing": {append(times(980, 100), times(20, -1)...), []result.Gate{
			{Gate: "look: p99 > 1m", Verdict: result.GateFailed, Because: "it is an operation that failed"},
			{Gate: "look: p95 > 150ms", Verdict: result.GatePassed},
			{Gate: "errors > 1%", Verdict: result.GateFailed},
			{Gate: "errors > 5%", Verdict: result.GatePassed},
			{Gate: "apdex < 0.995", Verdict: result.GateFailed},
		}},
		"Few": {times(20, 100), []result.Gate{
			{Gate: "look: apdex < 0.99", Verdict: result.GateUndecided,
				Because: "20 operations, at least 381 are needed"},
		}},
		"NobodyServed": {nil, []result.Gate{
			{Gate: "throughput < 1/h", Verdict: result.GateFailed},
			{Gate: "apdex < 0.1", Verdict: result.GateUndecided, Because: "nothing was measured"},
		}},
	} {
		var texts []string
		for _, g := range c.gates {
			texts = append(texts, g.Gate)
		}
		got := judgedRun(t, texts, c.ms...).Gates // once for all of them: its intervals take long
		if len(got) != len(c.gates) {
			t.Fatalf("%s: %d gates, want %d", name, len(got), len(c.gates))
		}
		for i, want := range c.gates {
			if g := got[i]; g.Verdict != want.Verdict || g.Because != want.Because {
				t.Errorf("%s, %s: %+v", name, want.Gate, g)
			}
		}
	}
}

func TestGates_OfEachOperation(t *testing.T) {
	all := judgedRun(t, []string{"*: p50 > 1h", "errors > 50%"}, times(500, 100)...).Gates
	if len(all) != 3 || all[0].Operation != "look" || all[1].Gate != "buy: p50 > 1h" || all[2].Operation != "" {
		t.Errorf("%+v", all)
	}
}

func TestGates_HaveAnInterval(t *testing.T) {
	all := judgedRun(t, []string{"look: p95 > 200ms", "errors > 5%", "throughput < 1/s", "apdex < 0.5"},
		append(times(980, 100), times(20, -1)...)...).Gates
	for _, g := range all {
		if g.Interval == nil || g.Measured == nil || g.Interval.Low > *g.Measured || g.Interval.High != nil &&
			*g.Interval.High < *g.Measured {
			t.Errorf("%+v %+v", g, g.Interval)
		}
	}
}

func TestGates_ARunThatIsNotValidPassesNone(t *testing.T) {
	r := &record{}
	r.Scenario = scenario.Default()
	r.Scenario.Gates = []gate.Gate{{Figure: gate.Errors, Limit: 0.5}, {Figure: gate.Errors, Limit: 0.01}}
	r.made.Tally = users.NewTally(nil, 0, time.Second)
	all := &result.Result{Totals: result.Totals{Ops: 1000, OK: 900, Errors: 100}}
	r.judgeGates(all)
	if all.Gates[0].Verdict != result.GateUndecided || all.Gates[0].Because != "the run is not valid" ||
		all.Gates[1].Verdict != result.GateFailed {
		t.Errorf("%+v", all.Gates)
	}
	if planned := r.plannedGates(); len(planned) != 2 || planned[0].Verdict != result.GateUndecided {
		t.Errorf("%+v", planned)
	}
}
