package run

import (
	"math"
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// stages of the load with what was measured in each; those that the run did not reach are left out. None of a run whose
// process died: its scenario is not known.
func (r *record) stages() (all []result.Stage) {
	if r.Scenario == nil || !r.Scenario.Staged() {
		return nil
	}
	counts := r.made.Tally
	stretch := float64(r.Duration) / float64(r.Scenario.Length())
	peak, at := r.Scenario.Users(), r.Ramp
	for _, planned := range r.Scenario.Stages {
		from := at
		at += time.Duration(float64(planned.Duration) * stretch)
		to := min(at, counts.To)
		if from >= to {
			break
		}
		s := result.Stage{FromS: from.Seconds(), ToS: to.Seconds(), RampS: planned.Ramp.Seconds() * stretch}
		if rate := planned.Rate; r.Arrivals != nil {
			s.RatePerS = &rate
		} else {
			users := int(math.Round(float64(planned.Users) * float64(r.Users) / float64(peak)))
			s.Users = &users
		}
		seen, err := counts.Timeline.Between(from, to)
		if err != nil {
			return nil
		}
		addStage(&s, seen, to-from)
		all = append(all, s)
	}
	return all
}

func addStage(s *result.Stage, seen tally.Interval, length time.Duration) {
	for outcome, n := range seen.Outcomes {
		s.Ops += n
		if !tally.Outcome(outcome).Answered() {
			s.Failed += n
		}
	}
	s.OpsPerS = float64(seen.Answered()) / length.Seconds()
	if score, ok := seen.Apdex.Score(); ok {
		s.Apdex = &score
	}
	s.P50MS, s.P95MS, s.P99MS = percentile(seen.P50), percentile(seen.P95), percentile(seen.P99)
}
