package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/advise"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
)

// adviseCheck compares the server as it was with the server as it is, and notes the gain in the journal.
func (a *app) adviseCheck(ctx context.Context, h advise.Applier, o adviseOptions) error {
	j, err := h.Journal(ctx)
	if err != nil {
		return err
	}
	if len(j.Applied()) == 0 {
		return problem.New(problem.Usage, errors.New("nothing is applied to this database"),
			"plimsoll advise --apply ID, then --check")
	}
	args := []string{"compare"}
	if h.Cluster != "" {
		args = append(args, h.Cluster)
	} else {
		args = append(args, "--dsn-a", h.DSN, "--reset", "template")
	}
	args = slices.Concat(args, j.Comparison(), o.compareArgs)
	a.meter.Say("%s", j.Command())
	began := time.Now().Add(-time.Second)
	compared := func() error { return a.runCompare(ctx, args) }
	if h.Cluster == "" {
		err = compared()
	} else {
		err = a.restart(ctx, h.Cluster, compared) // compare starts it itself, and may then restart it with settings
	}
	if err != nil {
		return err
	}
	c, err := compare.DefaultStore().Load("latest")
	if err != nil {
		return err
	}
	if c.Started.Before(began) || len(c.Findings) == 0 {
		return errors.New("the comparison stored no result")
	}
	return a.measured(ctx, h, o, c)
}

func (a *app) measured(ctx context.Context, h advise.Applier, o adviseOptions, c *compare.Comparison) error {
	again, err := a.applierFor(ctx, o.target) // a cluster may have come up on another port
	if err != nil {
		return err
	}
	j, err := again.Measured(ctx, gainOf(c))
	if err != nil {
		return err
	}
	if a.json {
		return a.emit(j)
	}
	fmt.Fprintln(a.stdout, "\nEXPECTED AND ACTUAL GAIN")
	for _, s := range j.Applied() {
		fmt.Fprintf(a.stdout, "  %s: %s\n", s.Advice, s.GainText())
	}
	return c.Judge()
}

// gainOf the second side over the first, in the deciding metric.
func gainOf(c *compare.Comparison) advise.Actual {
	f := c.Findings[0]
	m := slices.IndexFunc(compare.Metrics, func(m compare.Metric) bool { return m.Name == c.Plan.Metric })
	return advise.Actual{Comparison: c.ID, Verdict: string(f.Verdict), Metric: c.Plan.Metric,
		HigherBetter: m >= 0 && compare.Metrics[m].HigherBetter, Amount: f.Headline.Scale == verdict.Difference,
		Confidence: f.Headline.Confidence}.Effect(f.Headline.Effect, f.Headline.Low, f.Headline.High)
}

// runCompare runs 'plimsoll compare'. The answer "not decided" is not an error.
func (a *app) runCompare(ctx context.Context, args []string) error {
	var out io.Writer = a.rawOut
	if a.json {
		out = a.rawErr // stdout is for the one document
	}
	if a.quiet {
		args = append(args, "--quiet")
	}
	inner := newApp(a.stdin, out, a.rawErr)
	inner.root.SetArgs(args)
	err := inner.root.ExecuteContext(ctx)
	inner.meter.End()
	if problem.ClassOf(err) == problem.Threshold {
		return nil
	}
	return err
}
