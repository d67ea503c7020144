package compare

import (
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
)

// A command generates its own load: with --control it would be measured at the same load again, and that called one
// user.
func TestControl_OfACommandIsRefused(t *testing.T) {
	o := programs(t, "120")
	o.Control = true
	c, err := Compare(t.Context(), o)
	if problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "a command generates its own load") {
		text := ""
		if c != nil && c.Findings[0].AtOneUser != nil {
			text = c.Findings[0].AtOneUser.Says
		}
		t.Errorf("%v %s", err, text)
	}
}

// What a single user sees, compared with what many see.
func TestControl_Says(t *testing.T) {
	for _, c := range []struct {
		alone, loaded verdict.Verdict
		want          string
	}{
		{verdict.Equal, verdict.Equal, "B equals A for a single user too: neither the operations nor their"},
		{verdict.Worse, verdict.Worse, "B is worse than A for a single user too: the operations themselves differ"},
		{verdict.Equal, verdict.Worse, "no difference for a single user: B is worse than A only under load"},
		{verdict.Better, verdict.Equal, "B is better than A for a single user, but equals A under load"},
		{verdict.Better, verdict.Worse, "B is better than A for a single user and worse under load: its operations " +
			"are better, and wait for each other more"},
		{verdict.Worse, verdict.Inconclusive, "B is worse than A for a single user; under load undecided"},
		{verdict.Inconclusive, verdict.Worse, "too few runs to distinguish slow operations from a full system"},
	} {
		if got := saysOfOneUser("B", c.alone, c.loaded); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s alone, %s under load: %q", c.alone, c.loaded, got)
		}
	}
}

// The control judges the metric that decides, by the same rules: here latency is the same, and processor time is not.
func TestControl_JudgesTheMetricAskedFor(t *testing.T) {
	c := &Comparison{Plan: Plan{Sides: make([]Described, 2), Metric: "database_cpu_ms", Margin: MarginDefault, Pairs: 4,
		Looks: verdict.Looks(4), Control: true}}
	for _, phase := range []Phase{Load, Control} {
		for round := 1; round <= 4; round++ {
			for side := range 2 {
				cpu := map[string]float64{"database_cpu_ms": float64(1+side) + float64(round)/100}
				c.Runs = append(c.Runs, Replica{Phase: phase, Round: round, Side: Letter(side),
					Figures: map[string]map[string]float64{"": cpu, "work": {MetricDefault: 10, weight: 1}}})
			}
		}
	}
	c.conclude()
	one := c.Findings[0].AtOneUser
	if one == nil || one.Verdict != verdict.Worse || one.Effect < 1.9 ||
		!strings.Contains(one.text(c.Plan.metric()), ": database CPU per operation +9") {
		t.Errorf("for one user: %+v, want it worse by twice the CPU", one)
	}
}

// A metric that no run has is refused before anything runs where that can be known, else after the first run.
func TestCompare_RefusesAWrongMetric(t *testing.T) {
	side := server(t)
	for metric, c := range map[string]struct {
		says, hint string
		runs       int
	}{
		"latencyms":   {`no metric "latencyms"`, "did you mean latency_ms?", 0},
		"round_trips": {`no figure "round_trips", which decides`, "there are: ", 1},
	} {
		runs := map[string]bool{}
		o := Options{Sides: []Side{side, side}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1, Metric: metric}
		o.Progress = func(p Progress) { runs[p.Side+string(rune('0'+p.Round))] = true }
		_, err := Compare(t.Context(), o)
		if err == nil || problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(problem.HintOf(err), c.hint) || len(runs) != c.runs {
			t.Errorf("%s: %v, hint %q, after runs of %v", metric, err, problem.HintOf(err), runs)
		}
	}
	o := programs(t, "100")
	o.Metric = "done_pers"
	if _, err := Compare(t.Context(), o); err == nil || problem.HintOf(err) != "did you mean done_per_s?" {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
}
