package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare"
)

// compareSelf compares a system with itself many times and counts the verdicts.
func (a *app) compareSelf(ctx context.Context, o compareOptions, options compare.Options) error {
	options.Progress = a.compareProgress(fmt.Sprintf("%d comparisons, about %s at most", o.trials,
		(time.Duration(o.trials) * options.Estimate()).Round(time.Minute)))
	t, err := compare.SelfTest(ctx, options, compare.Planted(o.selfTest), o.trials, func(line string) {
		a.meter.Say("%s", line)
	})
	a.meter.End()
	if t == nil {
		return err
	}
	if a.json {
		err = errors.Join(err, a.emit(t))
	} else {
		err = errors.Join(err, t.Text(a.stdout))
	}
	switch {
	case ctx.Err() != nil:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d of %d trials, which are kept",
			t.Done, t.Wanted), goOn)
	case err != nil:
		return err
	case !t.Holds:
		return problem.New(problem.Threshold, errors.New(t.Says), "")
	}
	return nil
}
