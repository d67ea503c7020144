package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/archive"
	"plimsoll/lab/view/checks"
)

// PastRequest is a comparison of stored runs as a person asks for it.
type PastRequest struct {
	New      []string // names of runs; none: the last one
	Baseline []string
	Metric   string
	Margin   float64 // if it is not among the flags: PastMarginDefault
	Files    checks.Files
	Flags    []string // on the command line
	Stored   archive.Named
}

// pastFlags are the flags of a comparison that apply to stored runs.
var pastFlags = []string{"baseline", "metric", "margin", "details", "junit", "markdown", "json", "quiet", "config"}

// Run reads the runs, compares them, and writes the files. It measures nothing.
func (q PastRequest) Run() (*Past, error) {
	for _, name := range q.Flags {
		if !slices.Contains(pastFlags, name) {
			return nil, problem.New(problem.Usage,
				fmt.Errorf("--%s has no effect with --baseline, which measures nothing", name), "leave it out")
		}
	}
	if err := Refuse(q.Metric, false, make([]Side, 2)); err != nil {
		return nil, err
	}
	if err := q.Files.Check(); err != nil {
		return nil, err
	}
	if len(q.New) == 0 {
		q.New = []string{store.Latest}
	}
	fresh, err := Runs(q.Stored, q.New)
	if err != nil {
		return nil, err
	}
	stored, err := Runs(q.Stored, q.Baseline)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(q.Flags, "margin") {
		q.Margin = PastMarginDefault
	}
	p := OfPast(stored, fresh, q.Metric, q.Margin)
	return p, q.Files.Write(p.report())
}

// Runs reads what each name stands for: one run or several, or those of a comparison's first side.
func Runs(from archive.Named, names []string) (all []*result.Result, err error) {
	for _, name := range names {
		some, err := from.Runs(name)
		if err != nil && name != store.Latest {
			if c, failed := DefaultStore().Load(name); failed == nil {
				some, err = c.runsOfSide()
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// runsOfSide are those of a comparison's first side that count.
func (c *Comparison) runsOfSide() (all []*result.Result, err error) {
	for _, r := range c.Runs {
		if r.Side != Letter(0) || r.Phase != Load || r.Void != "" {
			continue
		}
		one, err := store.Default().Load(r.Run)
		if err != nil {
			return nil, problem.New(problem.Usage, fmt.Errorf("comparison %s: %w", c.ID, err),
				"its runs are no longer stored")
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		err = problem.New(problem.Usage, fmt.Errorf("comparison %s has no run of its first side", c.ID), "")
	}
	return all, err
}

// Against adds what a baseline of these names says to the gates of a run.
func Against(r *result.Result, names []string, stored []*result.Result, margin float64) *Past {
	p := OfPast(stored, []*result.Result{r}, MetricDefault, margin)
	one := result.Gate{Gate: "worse than " + strings.Join(names, ", "), Figure: p.Metric.Name, Unit: gate.Ratio,
		Limit: 1, Operations: r.Ops, Because: strings.TrimPrefix(p.Says, "cannot be decided: ")}
	if h := p.Headline; h.Scale == verdict.Ratio && h.Runs[0] > 0 {
		one.Measured, one.Interval = &h.Effect, &result.Range{Low: h.Low, High: &h.High}
	}
	switch p.Verdict {
	case verdict.NotWorse:
		one.Verdict = result.GatePassed
	case verdict.Worse:
		one.Verdict = result.GateFailed
	default:
		one.Verdict = result.GateUndecided
	}
	r.Gates = append(slices.Clip(r.Gates), one)
	return p
}

// Judge says why the new runs do not pass; nil: they do.
func (p *Past) Judge() error {
	switch p.Verdict {
	case verdict.NotWorse:
		return nil
	case verdict.Worse:
		return problem.New(problem.Threshold, errors.New(p.Says), "")
	}
	hint := "what cannot be decided does not pass: make more runs, or raise --margin"
	if len(p.Differences) > 0 {
		hint = "'plimsoll compare A B' measures both in turns under the same conditions; else begin a new baseline"
	}
	return problem.New(problem.Threshold, errors.New(p.Says), hint)
}

// report is what a CI server reads.
func (p *Past) report() checks.Report {
	r := checks.Report{Command: "plimsoll compare", Headline: p.Says, Facts: p.Warnings}
	if n := len(p.New); n > 0 {
		r.ID, r.Started = p.New[n-1].ID, p.New[n-1].Started
	}
	outcome := map[verdict.Verdict]checks.Outcome{verdict.NotWorse: checks.Passed, verdict.Worse: checks.Failed}
	of := func(v verdict.Verdict) checks.Outcome {
		if o, known := outcome[v]; known {
			return o
		}
		return checks.Undecided
	}
	r.Checks = append(r.Checks, checks.Check{Group: "baseline", Name: "not worse than the baseline",
		Outcome: of(p.Verdict), Says: p.Says})
	r.Tables = append(r.Tables, p.Table())
	return r
}
