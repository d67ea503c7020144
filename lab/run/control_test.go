package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
)

// step is what a person does when the steady state shows what the previous step did: of two changes that the loop finds
// at once it makes only the last.
type step struct {
	when func(Progress) bool
	do   func() error
}

func anytime(Progress) bool { return true }

// steps lets a person act once for each look at the steady state, in order.
func steps(t *testing.T, all ...step) func(Progress) {
	next := 0
	return func(p Progress) {
		if p.Phase != Steady || p.Ops == 0 || next == len(all) || !all[next].when(p) {
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
	users := func(n int) func(Progress) bool { return func(p Progress) bool { return p.Users == n } }
	paused := func(want bool) func(Progress) bool {
		return func(Progress) bool { return picture.Snapshot().State.Paused == want }
	}
	pictured := func(Progress) bool {
		d, _ := picture.Since(0)
		cpu, database, workers := knownSeconds(d)
		return min(cpu, database, workers) > 0
	}
	var shown *live.Diagnosis
	diagnosed := func(Progress) bool {
		d, _ := picture.Since(0)
		shown = d.Diagnosis
		return shown != nil && shown.All.TotalS > 0 && len(shown.Operations) > 0
	}
	wait := func() error { return nil }
	o.Progress = steps(t, step{anytime, tooMany}, step{pictured, wait}, step{diagnosed, wait},
		step{users(50), func() error { return hand.SetUsers(80) }},
		step{users(80), func() error { return hand.SetUsers(20) }}, // they have logged in
		step{users(20), func() error { return hand.Pause(true) }},
		step{paused(true), func() error { return hand.Pause(false) }},
		step{paused(false), func() error { return hand.End() }},
	)
	if err := hand.SetUsers(10); !errors.Is(err, ErrNoActiveUsers) {
		t.Errorf("before the run: %v", err)
	}
	r := mustRun(t, t.Context(), o)
	if err := hand.Pause(true); !errors.Is(err, ErrNoActiveUsers) {
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
		!strings.Contains(reasons, "changed by the user, at ") ||
		!strings.Contains(reasons, "80 users instead of 50") ||
		!strings.Contains(reasons, "stopped by the user") {
		t.Errorf("valid %v, interrupted %v, reasons %q", r.Valid, r.Interrupted, r.InvalidReasons)
	}
	events := resulttest.Events(r)
	if len(events) != 4 || events[2].Text != "paused by the user" || !r.Audit.Clean || resulttest.Errors(r) != 0 {
		t.Errorf("events %+v, audit %+v, %+v", r.Events, r.Audit, r.Operations)
	}
	if most := peak(r.Series); most != 80 {
		t.Errorf("at most %d users were active", most)
	}
	d, _ := picture.Since(0)
	t.Run("PictureShowsTheLedger", func(t *testing.T) { showsTheLedger(t, shown) })
	t.Run("PictureAgreesWithTheResult", func(t *testing.T) { pictureAgrees(t, d, r) })
}

func peak(s result.Series) (most int64) {
	for _, n := range s.Users {
		most = max(most, n)
	}
	return most
}

// knownSeconds are those in which the processors, the database and the workers are known.
func knownSeconds(d live.Delta) (cpu, database, workers int) {
	for _, p := range d.Seconds {
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
	return cpu, database, workers
}

func pictureAgrees(t *testing.T, d live.Delta, r *result.Result) {
	var answered, failed, want, wantFailed int64
	for _, p := range d.Seconds {
		answered += p.OK + p.Refused
		failed += p.Errors + p.Overload
	}
	for i := range r.Series.OK {
		want += r.Series.OK[i] + r.Series.Refused[i]
		wantFailed += r.Series.Errors[i] + r.Series.Overload[i]
	}
	if answered == 0 || answered != want || failed != wantFailed {
		t.Errorf("%d answers in the picture, %d in the series; %d and %d failures", answered, want, failed, wantFailed)
	}
	if cpu, database, workers := knownSeconds(d); cpu == 0 || database == 0 || workers == 0 {
		t.Errorf("of %d seconds %d know the processors, %d the database, %d the workers", len(d.Seconds), cpu, database,
			workers)
	}
	if len(d.Plan.Operations) != len(r.Operations) || d.Plan.ID != r.ID || !d.State.ByUser {
		t.Errorf("%+v %+v", d.Plan, d.State)
	}
	if d.State.Ops != r.Ops || d.State.Failed != r.Errors+r.Overload || d.State.Apdex == nil || r.Apdex == nil ||
		*d.State.Apdex != *r.Apdex || *d.State.Interval != *r.Interval {
		t.Errorf("the picture ends with %+v, the result is %+v, %v", d.State, r.Totals, r.Apdex)
	}
}

func TestUsersOfOpenArrivalsAreNotChanged(t *testing.T) {
	o := ownRun(t, none1)
	o.DSN = clustertest.Database(t).Secret()
	hand := &LoadControl{}
	o.Control, o.UsersMost, o.Arrivals = hand, 100, &users.Arrivals{Spacing: users.Poisson, Rate: 40}
	o.Progress = steps(t, step{anytime, func() error {
		if err := hand.SetUsers(90); err == nil {
			t.Error("the number of sessions was changed")
		}
		return nil
	}})
	if r := mustRun(t, t.Context(), o); len(r.Conditions.Load.Changes) != 0 {
		t.Errorf("want no change, got %+v", r.Conditions.Load.Changes)
	}
}
