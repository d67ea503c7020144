package cli

import (
	"cmp"
	"io"

	"plimsoll/lab/prove/compare"
	"plimsoll/lab/run/result"
)

// baselineUsage says what stored runs may be named by.
const baselineUsage = "an archive of 'plimsoll export', a folder of such archives, a run, latest:N for the newest N, " +
	"or a comparison, whose first side it is"

// comparePast compares stored runs, the newest one by default, with a stored baseline. It measures nothing.
func (a *app) comparePast(names []string, o compareOptions) error {
	p, err := compare.PastRequest{New: names, Baseline: o.baseline, Metric: o.Metric, Margin: o.Margin, Files: o.Files,
		Flags: given(o.flags), Stored: a.stored()}.Run()
	if err != nil {
		return err
	}
	return cmp.Or(a.answer(p, func(w io.Writer) error { return p.Text(w, o.details) }), p.Judge())
}

// loadRuns reads what each name stands for: one run, or several.
func (a *app) loadRuns(names []string) ([]*result.Result, error) {
	return compare.Runs(a.stored(), names)
}
