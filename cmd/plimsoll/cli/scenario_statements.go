package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/mix"
)

// importMix writes the scenario to stdout, and what was left out to stderr.
func (a *app) importMix(paths []string, file string) error {
	if file != "" {
		return problem.New(problem.Usage, errors.New("--from-statements makes a scenario, and FILE is one to check"),
			"leave one of them out")
	}
	if len(paths) > 2 || !mix.Is(paths) {
		return problem.New(problem.Usage, errors.New("--from-statements takes one or two snapshots of "+
			"pg_stat_statements"), "as CSV with a header or JSON; see 'plimsoll score --help'")
	}
	m, err := mix.Read(paths)
	var s *mix.Scenario
	if err == nil {
		s, err = m.Scenario()
	}
	switch {
	case err != nil:
		return problem.New(problem.Usage, fmt.Errorf("--from-statements: %w", err), "take a snapshot of a busy hour")
	case a.json:
		return a.emit(s)
	}
	a.meter.Say("%s with %s of the calls and %s of the time; %s to give", human.Count(s.Operations, "operation"),
		human.Percent(s.Calls), human.Percent(s.Time), human.Count(s.Values, "parameter"))
	for _, why := range slices.Sorted(maps.Keys(s.LeftOut)) {
		a.meter.Say("left out: %s %s", human.Count(s.LeftOut[why], "statement"), why)
	}
	_, err = fmt.Fprint(a.stdout, s.TOML)
	return err
}
