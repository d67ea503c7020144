package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
)

// Refuse what no run could answer, before anything starts.
func Refuse(metric string, control bool, sides []Side) error {
	commands := 0
	for _, s := range sides {
		if len(s.Command) > 0 {
			commands++
		}
	}
	switch {
	case commands < len(sides) && !slices.Contains(MetricNames(), metric):
		return problem.New(problem.Usage, fmt.Errorf("no metric %q", metric),
			human.NearestHint(metric, MetricNames(), "there are: "+strings.Join(MetricNames(), ", ")))
	case control && commands > 0:
		return problem.New(problem.Usage, errors.New("--control: a command generates its own load, so it cannot be "+
			"measured with a single user"), "leave out --control, or compare commands that have one user each")
	}
	return nil
}

// controlRounds is the number of rounds of the low-load control.
const controlRounds = verdict.RunsMin

// atOneUser says what the low-load control adds to the verdict under load, by the same metric.
func (c *Comparison) atOneUser(side int, loaded verdict.Verdict) *AtOneUser {
	j := c.judge(c.dataOf(Control, 0), 0)[side-1]
	if j.verdict == verdict.TooFew {
		return nil
	}
	one := &AtOneUser{Row: j.headline, Says: saysOfOneUser(Letter(side), j.verdict, loaded)}
	one.Verdict = j.verdict
	if j.because != "" {
		one.Says += " (" + j.because + ")"
	}
	return one
}

// saysOfOneUser tells a system whose operations differ from one in which they wait for each other.
func saysOfOneUser(name string, alone, loaded verdict.Verdict) string {
	switch {
	case undecided(alone):
		return "too few runs to distinguish slow operations from a full system"
	case undecided(loaded):
		return fmt.Sprintf("%s for a single user; under load undecided", comparedWithA(name, alone))
	case alone == loaded && alone == verdict.Equal:
		return fmt.Sprintf("%s equals A for a single user too: neither the "+
			"operations nor their waits for each other differ", name)
	case alone == loaded:
		return fmt.Sprintf("%s for a single user too: the operations themselves differ", comparedWithA(name, alone))
	case alone == verdict.Equal:
		return fmt.Sprintf("no difference for a single user: %s only under load, where operations wait for each other",
			comparedWithA(name, loaded))
	case loaded == verdict.Equal:
		return fmt.Sprintf("%s for a single user, but equals A under load: the difference of the operations is "+
			"hidden by their waits for each other", comparedWithA(name, alone))
	}
	return fmt.Sprintf("%s for a single user and %s under load: its operations are %s, and wait for each other %s",
		comparedWithA(name, alone), loaded, alone, map[verdict.Verdict]string{verdict.Better: "less",
			verdict.Worse: "more"}[loaded])
}

// comparedWithA is "B is worse than A" or "B equals A".
func comparedWithA(name string, v verdict.Verdict) string {
	if v == verdict.Equal {
		return name + " equals A"
	}
	return fmt.Sprintf("%s is %s than A", name, v)
}
