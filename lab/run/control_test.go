package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
)

// step is what a person does when the steady state shows this number of users at work; 0: any number.
type step struct {
	users int
	do    func() error
}

// steps lets a person act once for each look at the steady state, in order.
func steps(t *testing.T, all ...step) func(Progress) {
	next := 0
	return func(p Progress) {
		if p.Phase != Steady || p.Ops == 0 || next == len(all) || all[next].users > 0 && all[next].users != p.Users {
			return
		}
		if err := all[next].do(); err != nil {
			t.Errorf("step %d: %v", next, err)
		}
		next++
	}
}

func TestLoadChangedByHandIsInTheResult(t *testing.T) {
	o := base(t)
	hand, picture := &LoadControl{}, live.New(nil)
	o.Users = 50
	o.UsersMost = 100
	o.Control = hand
	o.Live = picture
	endless(&o)
	tooMany := func() error {
		if err := hand.SetUsers(101); err == nil || !strings.Contains(err.Error(), "between 1 and 100") {
			t.Errorf("101 users: %v", err)
		}
		return nil
	}
	o.Progress = steps(t, step{0, tooMany},
		step{50, func() error { return hand.SetUsers(80) }},
		step{80, func() error { return hand.SetUsers(20) }}, // they have logged in
		step{20, func() error { return hand.Pause(true) }}, step{0, func() error { return hand.Pause(false) }},
		step{0, func() error { return hand.End() }},
	)
	if err := hand.SetUsers(10); !errors.Is(err, ErrNotAtWork) {
		t.Errorf("before the run: %v", err)
	}
	r := mustRun(t, t.Context(), o)
	if err := hand.Pause(true); !errors.Is(err, ErrNotAtWork) {
		t.Errorf("after the run: %v", err)
	}
	changes := r.Conditions.Load.Changes
	var messages []string
	for _, c := range changes {
		messages = append(messages, fmt.Sprintf("%d %v", c.Users, c.Paused))
	}
	if got := strings.Join(messages, ", "); got != "80 false, 20 false, 20 true, 20 false" {
		t.Errorf("changes %s", got)
	}
	if reasons := fmt.Sprint(r.InvalidReasons); r.Valid || !r.Interrupted ||
		!strings.Contains(reasons, "changed by hand, at ") || !strings.Contains(reasons, "80 users instead of 50") ||
		!strings.Contains(reasons, "stopped by hand") {
		t.Errorf("valid %v, interrupted %v, reasons %q", r.Valid, r.Interrupted, r.InvalidReasons)
	}
	events := resulttest.Events(r)
	if len(events) != 4 || events[2].Text != "paused by hand" || !r.Audit.Clean || r.Errors != 0 {
		t.Errorf("events %+v, audit %+v, errors %d", r.Events, r.Audit, r.Errors)
	}
	if most := peak(r.Series); most != 80 {
		t.Errorf("at most %d users were at work", most)
	}
	d, _ := picture.Since(0)
	t.Run("PictureAgreesWithTheResult", func(t *testing.T) { pictureAgrees(t, d, r) })
}

func peak(s result.Series) (most int64) {
	for _, n := range s.Users {
		most = max(most, n)
	}
	return most
}

func pictureAgrees(t *testing.T, d live.Delta, r *result.Result) {
	var answered, failed int64
	var cpu, database, workers int
	for _, p := range d.Seconds {
		answered += p.OK + p.Refused
		failed += p.Errors + p.Overload
		if p.CPU.Database != nil && p.CPU.Machine != nil && p.CPU.Generator != nil && p.CPU.Workers != nil {
			cpu++
		}
		if p.Database != nil && p.Database.WALBytes != nil {
			database++
		}
		if p.Workers != nil && p.Workers.Statements > 0 {
			workers++
		}
	}
	var want int64
	for i := range r.Series.OK {
		want += r.Series.OK[i] + r.Series.Refused[i]
	}
	if answered == 0 || answered != want || failed != 0 {
		t.Errorf("%d answers in the picture, %d in the series", answered, want)
	}
	if cpu == 0 || database == 0 || workers == 0 {
		t.Errorf("of %d seconds %d know the processors, %d the database, %d the workers", len(d.Seconds), cpu, database,
			workers)
	}
	if len(d.Plan.Operations) != len(r.Operations) || d.Plan.ID != r.ID || !d.State.ByHand {
		t.Errorf("%+v %+v", d.Plan, d.State)
	}
	if d.State.Ops != r.Ops || d.State.Failed != r.Errors+r.Overload || d.State.Apdex == nil || r.Apdex == nil ||
		*d.State.Apdex != *r.Apdex || *d.State.Interval != *r.Interval {
		t.Errorf("the picture ends with %+v, the result is %+v, %v", d.State, r.Totals, r.Apdex)
	}
}

func TestUsersOfOpenArrivalsAreNotChanged(t *testing.T) {
	o := base(t)
	hand := &LoadControl{}
	o.Control, o.UsersMost, o.Arrivals, o.Duration = hand, 1000, &users.Arrivals{Spacing: users.Poisson, Rate: 40},
		3*time.Second
	o.Progress = steps(t, step{0, func() error {
		if err := hand.SetUsers(500); err == nil {
			t.Error("the number of sessions was changed")
		}
		return nil
	}})
	if r := mustRun(t, t.Context(), o); len(r.Conditions.Load.Changes) != 0 {
		t.Errorf("%+v", r.Conditions.Load.Changes)
	}
}
