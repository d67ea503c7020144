package scenario

import (
	"fmt"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/users"
)

// Stage of the steady state: so many users are active, or so many operations arrive in a second.
type Stage struct {
	Duration time.Duration `json:"duration_ns"`
	// Ramp is the part of it in which the number goes evenly from that of the stage before; 0: at once.
	Ramp  time.Duration `json:"ramp_ns,omitempty"`
	Users int           `json:"users,omitempty"`
	Rate  float64       `json:"rate,omitempty"` // operations per second
}

// rateMax of a stage.
const rateMax = users.RateMax

// Staged says whether the load goes by stages.
func (s *Scenario) Staged() bool { return len(s.Stages) > 0 }

// Length of all stages.
func (s *Scenario) Length() (all time.Duration) {
	for _, stage := range s.Stages {
		all += stage.Duration
	}
	return all
}

// PeakRate is the highest rate of the stages; 0: they have users.
func (s *Scenario) PeakRate() (peak float64) {
	for _, stage := range s.Stages {
		peak = max(peak, stage.Rate)
	}
	return peak
}

func (s *Scenario) peakUsers() (peak int) {
	for _, stage := range s.Stages {
		peak = max(peak, stage.Users)
	}
	return peak
}

// presence is the share of the users that the stages have.
func (s *Scenario) presence() users.Pace {
	peak := float64(s.peakUsers())
	return s.course(peak, func(stage Stage) float64 { return float64(stage.Users) / peak })
}

// ratePace is the share of the highest rate that the stages have.
func (s *Scenario) ratePace() users.Pace {
	peak := s.PeakRate()
	return s.course(peak, func(stage Stage) float64 { return stage.Rate / peak })
}

// course of the levels of the stages: each holds its own, after a ramp from the one before, or a jump.
func (s *Scenario) course(peak float64, level func(Stage) float64) (p users.Pace) {
	if peak == 0 {
		return nil
	}
	var at time.Duration
	before, all := 0.0, float64(s.Length())
	add := func(at time.Duration, level float64) {
		p = append(p, users.PacePoint{At: float64(at) / all, Level: level})
	}
	for _, stage := range s.Stages {
		now := level(stage)
		if stage.Ramp > 0 {
			add(at, before)
		}
		add(at+stage.Ramp, now)
		at += stage.Duration
		add(at, now)
		before = now
	}
	p[len(p)-1].At = 1 // whatever the rounding
	return p
}

// stageKeys are those of [[stages]].
func stageKeys() []key {
	return []key{
		{"stages", false, stageList},
		{"stages.*", true, func(r *reader, e tomlfile.Entry) error {
			r.Stages = append(r.Stages, Stage{})
			r.lines[fmt.Sprint("stage ", len(r.Stages))] = e.Line
			return nil
		}},
		{"stages.*.duration", false, ofStage(duration, func(s *Stage, d time.Duration) { s.Duration = d })},
		{"stages.*.ramp", false, ofStage(func(set func(*reader, time.Duration)) setter { return span(0, set) },
			func(s *Stage, d time.Duration) { s.Ramp = d })},
		{"stages.*.users", false, ofStage(func(set func(*reader, int)) setter { return count(0, usersMax, set) },
			func(s *Stage, n int) { s.Users = n })},
		{"stages.*.rate", false, ofStage(func(set func(*reader, float64)) setter {
			return number("operations per second", 0, rateMax, set)
		}, func(s *Stage, x float64) { s.Rate = x })},
	}
}

// stageList is the list itself, which must have tables.
func stageList(r *reader, e tomlfile.Entry) error {
	for _, one := range asList(e.Raw) {
		if _, table := one.(map[string]any); !table {
			return r.wrong(e, fmt.Sprintf("takes tables, not %v", one), "[[stages]] begins each")
		}
	}
	if len(asList(e.Raw)) == 0 {
		return r.wrong(e, fmt.Sprintf("takes tables, not %v", e.Raw), "[[stages]] begins each")
	}
	return nil
}

func asList(raw any) []any {
	list, _ := raw.([]any)
	return list
}

func ofStage[T any](kind func(func(*reader, T)) setter, set func(*Stage, T)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		return kind(func(r *reader, value T) { set(&r.Stages[len(r.Stages)-1], value) })(r, e)
	}
}

// completeStages checks what spans several keys of the stages.
func (r *reader) completeStages() error {
	if err := r.checkDay(); err != nil {
		return err
	}
	if !r.Staged() {
		return nil
	}
	for i, stage := range r.Stages {
		wrong := func(says, hint string) error {
			return problem.New(problem.Usage, fmt.Errorf("%s: stages.%d: %s",
				r.lineOf("stage", fmt.Sprint(i+1)), i+1, says), hint)
		}
		switch {
		case stage.Duration == 0:
			return wrong("has no duration", `such as duration = "2m"`)
		case stage.Ramp > stage.Duration:
			return wrong("its ramp is longer than its duration", "the ramp is the first part of a stage")
		case stage.Users > 0 && stage.Rate > 0, r.peakUsers() > 0 && r.PeakRate() > 0:
			return wrong("stages have users or a rate, all the same of the two",
				"users think and wait for answers; operations of a rate come whatever happens")
		}
	}
	whole := func(says, hint string) error {
		return problem.New(problem.Usage, fmt.Errorf("%s: stages: %s", r.lineOf("stage", "1"), says), hint)
	}
	switch {
	case r.peakUsers() == 0 && r.PeakRate() == 0:
		return whole("no stage has users or a rate above 0", "such as users = 100")
	case len(r.Day) > 0:
		return whole("[day] varies the load, too", "leave one of the two out")
	}
	return nil
}
