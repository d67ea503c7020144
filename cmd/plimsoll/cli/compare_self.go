package cli

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/session"
)

// compareSelf compares a system with itself many times and counts the verdicts.
func (a *app) compareSelf(ctx context.Context, o compareOptions, q compare.Request) error {
	t, err := q.SelfTest(ctx, compare.Planted(o.selfTest), o.trials, func(line string) { a.meter.Say("%s", line) })
	a.meter.End()
	if t == nil {
		return err
	}
	err = errors.Join(err, a.answer(t, t.Text))
	switch {
	case ctx.Err() != nil:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d of %d trials, which are kept",
			t.Done, t.Wanted), session.GoOn)
	case err != nil:
		return err
	case !t.Holds:
		return problem.New(problem.Threshold, errors.New(t.Says), "")
	}
	return nil
}
