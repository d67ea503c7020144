package run

import (
	"context"

	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/data"
	"plimsoll/lab/load/tally"
)

// readData reads the rows that are queried, and refuses too few of them, before anybody logs in.
func (s *setup) readData(ctx context.Context) error {
	own, actions := s.Scenario.Own, s.Scenario.Actions()
	if len(own.Data) == 0 {
		return nil
	}
	if err := own.ReadData(ctx, s.DSN); err != nil {
		return err
	}
	if err := custom.CheckData(own, actions, s.Users); err != nil {
		return err
	}
	return custom.CheckEnough(own, actions, s.operationsExpected())
}

// operationsExpected of each kind in the whole load, as if the server took no time; none is known of users who do not
// think.
func (s *setup) operationsExpected() []float64 {
	all := make([]float64, len(s.crowd.Operations))
	if s.Arrivals == nil {
		for _, r := range s.crowd.Roles {
			if r.Users > 0 && r.Think.Mean < thinkLeast {
				return all
			}
		}
	}
	sum := Plan{Load: s.Load, UsersMost: s.usersMost()}.operations()
	for i, op := range s.crowd.Operations {
		all[i] = op.Weight * sum
	}
	return all
}

// shortOfRows is the error of an operation of this second for which no row was left. From then on operations fail that
// the system never sees, and the run is not valid: to go on would only hide when that was.
func shortOfRows(p tally.Page) string {
	for i := range p.Judged {
		for _, c := range []tally.Cell{p.Judged[i], p.Others[i]} {
			for text := range c.Errors {
				if data.IsUsedUp(text) {
					return text
				}
			}
		}
	}
	return ""
}

// sharedRows are sources that have fewer rows than users; none of a run whose process died.
func (r *record) sharedRows() []string {
	if r.Scenario == nil {
		return nil
	}
	return r.Scenario.Own.SharedRows(r.Users)
}
