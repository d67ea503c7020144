// Package load owns the description of a load: one value that command-line flags fill, a run records, a search repeats
// with other numbers of users, and agents receive.
package load

import (
	"errors"
	"fmt"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
)

// Defaults of a load.
const (
	RampDefault     = 10 * time.Second
	DurationDefault = 30 * time.Second
	DrainDefault    = 30 * time.Second
	TimeoutDefault  = 60 * time.Second
	SeedDefault     = 1
)

// Load says who does what, how fast and for how long. Zero means zero, except Users and Think: those the scenario then
// decides. Default gives the usual values. Agents receive its JSON.
type Load struct {
	Scenario *scenario.Scenario `json:"scenario"`
	// Active users, of all generators together; with Arrivals the sessions that carry out the operations. 0: as many as
	// the scenario says.
	Users int `json:"users"`
	// Think, unless nil, replaces the think times of all roles.
	Think *users.Think `json:"think,omitempty"`
	// Arrivals, unless nil, make the model open: operations arrive at a rate, and nobody thinks.
	Arrivals *users.Arrivals `json:"arrivals,omitempty"`
	Seed     uint64          `json:"seed"`

	Ramp     time.Duration `json:"ramp_ns"`     // users enter evenly during it; 0: all at once
	Duration time.Duration `json:"duration_ns"` // of the steady state, which is measured
	Drain    time.Duration `json:"drain_ns"`    // longest wait for operations under way at the end; 0: none
	Timeout  time.Duration `json:"timeout_ns"`  // of one operation, from when it was sent
}

// Default is the ERP's own mix with the scenario's users.
func Default() Load {
	return Load{
		Scenario: scenario.Default(), Seed: SeedDefault,
		Ramp: RampDefault, Duration: DurationDefault, Drain: DrainDefault, Timeout: TimeoutDefault,
	}
}

// With is the load with the scenario of a file, if how its operations arrive is clear.
func (l Load) With(file string) (Load, error) {
	var err error
	if l.Scenario == nil || file != "" {
		if l.Scenario, err = scenario.Read(file); err != nil {
			return l, err
		}
	}
	if l.Scenario.Staged() {
		return l.staged()
	}
	switch a := l.Arrivals; {
	case a == nil:
		return l, nil
	case a.Spacing == "":
		return l, problem.New(problem.Usage, errors.New("--rate has no effect without --arrivals"),
			"add --arrivals poisson")
	case a.Rate == 0:
		return l, problem.New(problem.Usage, errors.New("--arrivals needs --rate"),
			"add --rate, operations per second")
	default:
		return l, problem.New(problem.Usage, a.Check(), "")
	}
}

// staged is the load with the length, and if they have one the rates, of the scenario's stages.
func (l Load) staged() (Load, error) {
	wrong := func(says, hint string) (Load, error) {
		return l, problem.New(problem.Usage, errors.New(says), hint)
	}
	l.Duration = l.Scenario.Length()
	rate := l.Scenario.PeakRate()
	switch a := l.Arrivals; {
	case rate == 0 && a != nil:
		return wrong("--arrivals has no effect: the stages of the scenario have users",
			"give the stages a rate instead of users")
	case rate == 0:
		return l, nil
	case a == nil:
		l.Arrivals = &users.Arrivals{Spacing: users.Poisson, Rate: rate}
	case a.Rate != 0:
		return wrong("--rate has no effect: the stages of the scenario have rates", "leave it out")
	default:
		l.Arrivals = &users.Arrivals{Spacing: a.Spacing, Rate: rate}
	}
	return l, problem.New(problem.Usage, l.Arrivals.Check(), "")
}

// Resolve fills in what is left to the scenario, so that all generators carry out the same load.
func (l Load) Resolve() Load {
	if l.Users == 0 && l.Scenario != nil {
		l.Users = l.Scenario.Users()
	}
	if l.Think != nil {
		think := l.Think.WithDefaults()
		l.Think = &think
	}
	return l
}

// Crowd is the active users.
func (l Load) Crowd() users.Crowd {
	c := l.Scenario.Crowd(l.Users, l.Think)
	c.Arrivals, c.Seed = l.Arrivals, l.Seed
	c.Ramp, c.Steady, c.Drain, c.Timeout = l.Ramp, l.Duration, l.Drain, l.Timeout
	return c
}

// Check says what is wrong with the load.
func (l Load) Check() error {
	switch {
	case l.Scenario == nil:
		return errors.New("no scenario")
	case l.Users < 0:
		return fmt.Errorf("%d users: must be at least 1", l.Users)
	}
	return l.Crowd().Check()
}

// End of the steady state, from the start of the ramp.
func (l Load) End() time.Duration { return l.Ramp + l.Duration }

// ThinkS is the mean think time over all users of the closed model, in seconds.
func (l Load) ThinkS() float64 {
	if l.Think != nil {
		return l.Think.Mean.Seconds()
	}
	sum, all := 0.0, 0
	for _, r := range l.Scenario.Roles {
		sum += float64(r.Users) * r.Think.Mean.Seconds()
		all += r.Users
	}
	return sum / float64(all)
}
