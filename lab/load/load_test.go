package load

import (
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
)

func TestResolve_TakesFromTheScenarioWhatIsLeftOpen(t *testing.T) {
	l := Default().Resolve()
	if l.Users != scenario.UsersDefault || l.Think != nil {
		t.Errorf("%d users, think %v", l.Users, l.Think)
	}
	given := users.Think{Mean: time.Second}
	l = Load{Scenario: scenario.Default(), Users: 7, Think: &given}.Resolve()
	if l.Users != 7 || l.Think.Cap != users.ThinkCapFactor*time.Second || l.Think.Distribution != users.Lognormal {
		t.Errorf("%d users, think %+v", l.Users, l.Think)
	}
	if given.Cap != 0 {
		t.Error("the caller's think time was changed")
	}
}

func TestThinkS_IsTheMeanOverUsersUnlessGiven(t *testing.T) {
	s := scenario.Default()
	s.Roles = []scenario.Role{{Name: "a", Users: 30, Think: users.Think{Mean: 10 * time.Second}},
		{Name: "b", Users: 10, Think: users.Think{Mean: 2 * time.Second}}}
	if got := (Load{Scenario: s}).ThinkS(); got != 8 {
		t.Errorf("mean of the roles: %v", got)
	}
	if got := (Load{Scenario: s, Think: &users.Think{}}).ThinkS(); got != 0 {
		t.Errorf("nobody thinks: %v", got)
	}
}

func TestCheck_SaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Load)
		says   string
	}{
		{"NoScenario", func(l *Load) { l.Scenario = nil }, "no scenario"},
		{"NegativeUsers", func(l *Load) { l.Users = -1 }, "-1 users"},
		{"NoDuration", func(l *Load) { l.Duration = 0 }, "duration"},
		{"NoTimeout", func(l *Load) { l.Timeout = 0 }, "timeout"},
		{"NegativeRamp", func(l *Load) { l.Ramp = -time.Second }, "ramp"},
		{"NoRate", func(l *Load) { l.Arrivals = &users.Arrivals{Spacing: users.Poisson} }, "arrivals per second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Default()
			c.change(&l)
			if err := l.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	if err := Default().Check(); err != nil {
		t.Errorf("the default: %v", err)
	}
}

// Stages have the length of the load, and the rates of those that have some.
func TestWith_StagesDecideLengthAndRate(t *testing.T) {
	staged := func(stages ...scenario.Stage) Load {
		l := Default()
		l.Scenario.Stages = stages
		return l
	}
	people, rates := scenario.Stage{Duration: time.Minute, Users: 5}, scenario.Stage{Duration: time.Hour, Rate: 7}
	l, err := staged(people, people).With("")
	if err != nil || l.Duration != 2*time.Minute || l.Arrivals != nil || l.Resolve().Users != 5 {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = staged(rates).With("")
	if err != nil || l.Duration != time.Hour || *l.Arrivals != (users.Arrivals{Spacing: users.Poisson, Rate: 7}) {
		t.Errorf("%+v, %v", l.Arrivals, err)
	}
	even := staged(rates)
	even.Arrivals = &users.Arrivals{Spacing: users.Even}
	if l, err = even.With(""); err != nil || *l.Arrivals != (users.Arrivals{Spacing: users.Even, Rate: 7}) {
		t.Errorf("%+v, %v", l.Arrivals, err)
	}
	even.Arrivals.Rate = 3
	if _, err = even.With(""); err == nil || !strings.Contains(err.Error(), "--rate has no effect") {
		t.Error(err)
	}
	both := staged(people)
	both.Arrivals = &users.Arrivals{Spacing: users.Even, Rate: 3}
	if _, err = both.With(""); err == nil || !strings.Contains(err.Error(), "--arrivals has no effect") {
		t.Error(err)
	}
}
