package cli

import (
	"cmp"
	"context"
	"errors"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/load"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// The comparison of a case: some hundred operations a second need no long runs.
const (
	cureRun    = 10 * time.Second
	cureRamp   = 2 * time.Second
	cureBudget = 10 * time.Minute // unless another one is asked for
)

// proveCure plays one incident to its end: planted, diagnosed, cured, and both compared.
func (a *app) proveCure(ctx context.Context, o proveOptions, options confusion.Options) (err error) {
	a.meter.Phase("case", 1, "")
	c, err := confusion.PlayCure(ctx, options, o.cure)
	a.meter.End()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if !a.json {
		if err := c.Text(a.stdout); err != nil {
			return err
		}
	}
	found, err := a.compareCure(ctx, o, c)
	if found == nil {
		return err
	}
	shown := a.answer(struct {
		*confusion.Cure
		Comparison *compare.Comparison `json:"comparison"`
	}{c, found}, found.Text)
	undecided := found.Judge()
	if problem.ClassOf(undecided) == problem.Threshold { // its databases end with this command
		undecided = problem.WithHint(undecided, "on a quiet machine, or with a larger --budget")
	}
	return cmp.Or(err, shown, undecided)
}

// compareCure compares the database as it was planted with the cured one, under the load of the incident.
func (a *app) compareCure(ctx context.Context, o proveOptions, c *confusion.Cure) (*compare.Comparison, error) {
	l := load.Default()
	l.Users, l.Duration, l.Ramp, l.Seed = 0, cureRun, cureRamp, c.Seed
	q := compare.Request{
		Options: compare.Options{Metric: compare.MetricDefault, Pairs: compare.PairsDefault,
			Margin: compare.MarginDefault, Seed: c.Seed, Budget: cmp.Or(o.budget, cureBudget),
			Store: compare.DefaultStore(), Title: "case " + c.Fault, Version: software().Version},
		System: system.Spec{Run: run.Options{Load: l, DisturbedLimit: o.disturbed, Software: software().Version}},
		Reset:  system.ResetNone, Local: a.local(),
	}
	q.Progress, q.Planned = a.compareProgress()
	for i := range q.Own {
		q.Own[i].Sampling = diagnose.RateDefault
	}
	q.Own[0].Name, q.Own[0].DSN, q.Own[0].Scenario = "as planted", c.Sick.DSN, c.Sick.Scenario
	q.Own[1].Name, q.Own[1].DSN, q.Own[1].Scenario = "cured", c.Whole.DSN, c.Whole.Scenario
	found, err := q.Run(ctx)
	a.meter.End()
	return found, err
}
