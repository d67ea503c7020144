package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/thorough"
)

var firstNight = time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)

// pastRun is a valid run whose operations take so many ms.
func pastRun(t *testing.T, id string, at time.Time, ms float64, change ...func(*result.Result)) *result.Result {
	t.Helper()
	r := ofTemplate(t)
	r.ID, r.Started, r.Finished = id, at, at.Add(2*time.Minute)
	r.InvalidReasons, r.InvalidCauses, r.Valid = nil, nil, true
	r.Operations = r.Operations[:3]
	r.Totals = result.Totals{}
	for i := range r.Operations {
		op := &r.Operations[i]
		op.Totals = result.Totals{Ops: 1000, OK: 1000}
		mean := ms * float64(1+i)
		op.Latency.Mean, op.LatencyAll = &mean, &op.Latency
		r.Ops, r.OK = r.Ops+1000, r.OK+1000
	}
	for _, do := range change {
		do(r)
	}
	return r
}

var storedRun = sync.OnceValue(func() (r result.Result) {
	if err := json.Unmarshal(resulttest.JSON, &r); err != nil {
		panic(err)
	}
	return r
})

// ofTemplate is resulttest.Overloaded, parsed once for thousands of runs.
func ofTemplate(t *testing.T) *result.Result {
	t.Helper()
	r := storedRun()
	r.Operations = slices.Clone(r.Operations)
	return &r
}

// nights are runs of one night each; evening are runs one after the other.
func nights(t *testing.T, n int, ms func(i int) float64, change ...func(*result.Result)) (all []*result.Result) {
	for i := range n {
		all = append(all, pastRun(t, fmt.Sprintf("night-%d", i), firstNight.AddDate(0, 0, i), ms(i), change...))
	}
	return all
}

func evening(t *testing.T, name string, day, n int, ms func(i int) float64,
	change ...func(*result.Result)) (all []*result.Result) {
	for i := range n {
		at := firstNight.AddDate(0, 0, day).Add(time.Duration(i) * 3 * time.Minute)
		all = append(all, pastRun(t, fmt.Sprintf("%s-%d", name, i), at, ms(i), change...))
	}
	return all
}

func about(ms float64) func(int) float64 {
	return func(i int) float64 { return ms * (1 + 0.001*float64(i%5)) }
}

func TestOfPast_Verdicts(t *testing.T) {
	failing := func(r *result.Result) {
		for i := range r.Operations {
			r.Operations[i].Totals = result.Totals{Ops: 1000, OK: 900, Errors: 100}
		}
		r.Totals = result.Totals{Ops: 3000, OK: 2700, Errors: 300}
	}
	for name, c := range map[string]struct {
		stored, fresh []*result.Result
		want          verdict.Verdict
		says          string
	}{
		"OneNightMore": {nights(t, 19, about(100)), evening(t, "new", 30, 1, about(100)), verdict.NotWorse,
			"not worse than the baseline: mean latency"},
		"OneSlowNight": {nights(t, 19, about(100)), evening(t, "new", 30, 1, about(130)), verdict.Worse,
			"worse than the baseline: mean latency +29"},
		"TooFewNights": {nights(t, 18, about(100)), evening(t, "new", 30, 1, about(130)), verdict.TooFew,
			"1 new session against 18 stored cannot show a difference; 1 more new or 1 more stored would"},
		"OneSession": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(100)),
			verdict.NotWorse, ""},
		"OneSlowSession": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(120)), verdict.Worse, ""},
		"Nothing":        {nil, evening(t, "new", 1, 4, about(100)), verdict.TooFew, "no valid run in the baseline"},
		"Fails": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(50), failing), verdict.Worse,
			"10.0 % of the operations failed, 0.0 % in the baseline"},
		"NewIsNotValid": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(100),
			func(r *result.Result) { r.Valid, r.InvalidReasons = false, []string{"the machine slept"} }),
			verdict.Inconclusive, "run new-0 is not valid: the machine slept"},
		"OtherEngine": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(100),
			func(r *result.Result) { r.Conditions.Engine.Version = "19.0" }), verdict.Inconclusive,
			"recorded with other settings: engine PostgreSQL"},
		"OtherScenario": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(100),
			func(r *result.Result) { r.Conditions.Load.Scenario = &result.Scenario{Digest: "abc"} }),
			verdict.Inconclusive, "scenario"},
		"OtherMachine": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(100),
			func(r *result.Result) { r.Conditions.Machine.Cores++ }), verdict.Inconclusive, "processor"},
		"MoreUsers": {evening(t, "old", 0, 8, about(100)), evening(t, "new", 1, 4, about(100),
			func(r *result.Result) { r.Users++ }), verdict.Inconclusive, "users"},
	} {
		t.Run(name, func(t *testing.T) {
			p := OfPast(c.stored, c.fresh, MetricDefault, 0.10)
			if p.Verdict != c.want || !strings.Contains(p.Says, c.says) {
				t.Errorf("%s: %s\n%+v", p.Verdict, p.Says, p.Headline)
			}
		})
	}
}

// A run is compared neither with itself nor with one that is not valid, and none counts twice.
func TestOfPast_EachRunOnce(t *testing.T) {
	stored := evening(t, "old", 0, 6, about(100))
	stored[5].Valid = false
	fresh := evening(t, "new", 1, 4, about(100))
	p := OfPast(append(append(stored, stored[0]), fresh...), fresh, MetricDefault, 0.10)
	if len(p.Stored) != 5 || len(p.LeftOut) != 1 || !strings.Contains(p.LeftOut[0], "old-5: not valid") {
		t.Errorf("%d stored, left out %v", len(p.Stored), p.LeftOut)
	}
}

// Several sessions of several runs: where sessions differ, their runs are no independent witnesses.
func TestOfPast_SessionsThatDiffer(t *testing.T) {
	stored := append(evening(t, "a", 0, 5, about(100)), evening(t, "b", 1, 5, about(112))...)
	p := OfPast(stored, evening(t, "new", 2, 4, about(125)), MetricDefault, 0.10)
	if p.Verdict != verdict.Inconclusive || !strings.Contains(p.Says, "2 sessions differ from each other") ||
		!strings.Contains(p.Says, "19 are needed") {
		t.Errorf("%s: %s", p.Verdict, p.Says)
	}
	alike := append(evening(t, "a", 0, 5, about(100)), evening(t, "b", 1, 5, about(100))...)
	p = OfPast(alike, evening(t, "new", 2, 4, about(125)), MetricDefault, 0.10)
	if p.Verdict != verdict.Worse || len(p.Warnings) != 1 {
		t.Errorf("%s: %s, %v", p.Verdict, p.Says, p.Warnings)
	}
}

// A system beside its own past, on a machine whose nights differ by 5 % and whose runs differ by 3 %: four runs each
// night count as one, and one of twenty comparisons fails.
func TestOfPast_ItsErrorOnNightsThatDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	trials, wrong := thorough.Or(2000, 200), 0
	for range trials {
		var stored []*result.Result
		for night := range 20 {
			pace := 100 * math.Exp(0.05*rng.NormFloat64())
			stored = append(stored, evening(t, fmt.Sprint("night-", night), night, 2,
				func(int) float64 { return pace * math.Exp(0.03*rng.NormFloat64()) })...)
		}
		pace := 100 * math.Exp(0.05*rng.NormFloat64())
		fresh := evening(t, "new", 40, 4, func(int) float64 { return pace * math.Exp(0.03*rng.NormFloat64()) })
		if p := OfPast(stored, fresh, MetricDefault, 0.10); p.Verdict == verdict.Worse {
			wrong++
		}
	}
	share := float64(wrong) / float64(trials)
	if t.Logf("%d of %d", wrong, trials); share > verdict.Alpha+3*math.Sqrt(0.05*0.95/float64(trials)) {
		t.Errorf("%.1f %% of the comparisons of a system with its own past fail", 100*share)
	}
}

func TestOfPast_TextFitsOnAScreen(t *testing.T) {
	p := OfPast(nights(t, 19, about(100)), evening(t, "new", 30, 1, about(130)), MetricDefault, 0.10)
	var short, long strings.Builder
	if err := p.Text(&short, false); err != nil {
		t.Fatal(err)
	}
	if err := p.Text(&long, true); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(short.String(), "\n"); n > 25 ||
		!strings.Contains(short.String(), "worse than the baseline") || strings.Contains(short.String(), "night-3") ||
		!strings.Contains(long.String(), "night-3") {
		t.Errorf("%d lines\n%s", n, short.String())
	}
}
