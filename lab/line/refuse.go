package line

import (
	"errors"
	"fmt"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/session"
)

// Judge says why the answer is no: nil, if it is yes.
func (l *Line) Judge() error {
	switch {
	case l.Stopped == ByUser:
		return problem.New(problem.Interrupted,
			fmt.Errorf("stopped after %d trials, which are kept: %s", len(l.Trials), l.Statement()), session.GoOn)
	case !l.Complete:
		return problem.New(problem.Threshold,
			fmt.Errorf("the budget ended the search after %d trials: %s", len(l.Trials), l.Statement()), session.GoOn)
	case l.Open():
		hint := voidHint
		if l.Plan.Replay != nil {
			hint = "the base must be as it was when the log began, and at a higher pace sessions meet otherwise: " +
				"'plimsoll replay --speed' shows what differs"
		}
		return problem.New(problem.Threshold,
			fmt.Errorf("%s; %d trials were void: %s", l.Statement(), l.Unmeasured.Times, l.Unmeasured.Why), hint)
	case l.ServesNobody():
		return problem.New(problem.Threshold, errors.New(l.Statement()), "lower --target")
	case l.Answer == nil:
		return problem.New(problem.Threshold, errors.New(l.Statement()), evidenceHint)
	}
	return nil
}

// Judge says why the answer is no: nil, if it is yes.
func (c *Comparison) Judge() error {
	var none, void []string
	for _, one := range c.Lines {
		switch l := one.Line; {
		case l.Open():
			void = append(void, fmt.Sprintf("%s, %d users (%s)", l.Plan.Configuration, l.Unmeasured.Users,
				l.Unmeasured.Why))
		case l.Answer == nil:
			none = append(none, l.Plan.Configuration+": "+l.Statement())
		}
	}
	switch {
	case c.Stopped == ByUser:
		return problem.New(problem.Interrupted,
			fmt.Errorf("stopped after %d trials, which are kept: %s", c.Trials(), c.Statement()), session.GoOn)
	case !c.Complete:
		return problem.New(problem.Threshold,
			fmt.Errorf("the budget ended the search after %d trials: %s", c.Trials(), c.Statement()), session.GoOn)
	case len(void) > 0:
		return problem.New(problem.Threshold, fmt.Errorf("not measured: %s", strings.Join(void, "; ")),
			voidHint)
	case len(none) > 0:
		return problem.New(problem.Threshold,
			fmt.Errorf("no load line: %s", strings.Join(none, "; ")), "")
	case c.NothingFailed() != "":
		return problem.New(problem.Threshold, errors.New(c.NothingFailed()), NothingFailedHint)
	}
	return nil
}

// evidenceHint is the hint after a search whose trials show too little.
const evidenceHint = "let each trial have more operations: a longer --duration, or a shorter --think"

// voidHint is the hint about void trials.
const voidHint = "the same command without --resume starts over; use --from with fewer users, or --agents on other " +
	"machines if the generator falls behind"
