package cli

import (
	"fmt"
	"io"
	"slices"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/checks"
)

// ofPast are the flags of compare that apply to stored runs.
var ofPast = []string{"baseline", "metric", "margin", "details", "junit", "markdown", "json", "quiet", "config"}

// comparePast compares stored runs, the newest one by default, with a stored baseline. It measures nothing.
func (a *app) comparePast(names []string, o compareOptions) error {
	for _, name := range given(o.flags) {
		if !slices.Contains(ofPast, name) {
			return problem.New(problem.Usage, fmt.Errorf("--%s has no effect with --baseline, which measures nothing",
				name), "leave it out")
		}
	}
	if err := compare.Refuse(o.metric, false, make([]compare.Side, 2)); err != nil {
		return err
	}
	if err := o.files.Check(); err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{store.Latest}
	}
	fresh, err := a.loadRuns(names)
	if err != nil {
		return err
	}
	stored, err := a.loadRuns(o.baseline)
	if err != nil {
		return err
	}
	margin := o.margin
	if !o.flags.Changed("margin") {
		margin = compare.PastMarginDefault
	}
	p := compare.OfPast(stored, fresh, o.metric, margin)
	if err := o.files.Write(pastReport(p)); err != nil {
		return err
	}
	if err := a.answer(p, func(w io.Writer) error { return p.Text(w, o.details) }); err != nil {
		return err
	}
	return judgePast(p)
}

// pastReport is what a CI server reads.
func pastReport(p *compare.Past) checks.Report {
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
