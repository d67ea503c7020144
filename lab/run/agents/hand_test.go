package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/lab/run"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result/resulttest"
)

// TestHandReachesAllAgents takes the next step when the pages of all agents together show the previous one.
func TestHandReachesAllAgents(t *testing.T) {
	o := base(t)
	f := fleet(t, fleetOptions(3))
	defer f.Dismiss()
	hand, picture := &run.LoadControl{}, live.New(nil)
	o.Generator = f
	o.Control = hand
	o.Live = picture
	o.UsersMost = 120
	endless(&o.Load)
	always := func(run.Snapshot) bool { return true }
	users := func(n int) func(run.Snapshot) bool { return func(s run.Snapshot) bool { return s.Page.Users == n } }
	// A busy machine has seconds without an answer as well; of two changes at once only the last is made.
	paused := func(run.Snapshot) bool { return picture.Snapshot().State.Paused }
	works := func(s run.Snapshot) bool { return s.Phase == run.Steady && s.Page.Ended() > 0 }
	steps := []struct {
		when func(run.Snapshot) bool
		do   func() error
	}{
		{works, func() error {
			if err := hand.SetUsers(121); err == nil {
				t.Error("121 users are taken")
			}
			return nil
		}},
		{always, func() error { return hand.SetUsers(120) }},
		{users(120), func() error { return hand.SetUsers(31) }},
		{users(31), func() error { return hand.Pause(true) }},
		{paused, func() error { return hand.Pause(false) }},
		{func(s run.Snapshot) bool { return !paused(s) && works(s) }, hand.End},
	}
	o.Snapshot = func(s run.Snapshot) {
		if len(steps) > 0 && steps[0].when(s) {
			if err := steps[0].do(); err != nil {
				t.Error(err)
			}
			steps = steps[1:]
		}
	}
	r := mustRun(t, t.Context(), o)
	var messages []string
	for _, c := range r.Conditions.Load.Changes {
		messages = append(messages, fmt.Sprintf("%d %v", c.Users, c.Paused))
	}
	if got := strings.Join(messages, ", "); got != "120 false, 31 false, 31 true, 31 false" {
		t.Errorf("changes %s", got)
	}
	if r.Valid || !r.Interrupted || len(resulttest.Events(r)) != 4 || resulttest.Errors(r) != 0 || !r.Audit.Clean ||
		slices.Max(r.Series.Users) != 120 {
		t.Errorf("valid %v, interrupted %v, events %+v, %+v, users %v", r.Valid, r.Interrupted, r.Events, r.Totals,
			r.Series.Users)
	}
	d, _ := picture.Since(0)
	agrees(t, d, r.Series.OK, r.Series.Refused)
	if d.State.Ops != r.Ops || d.State.Apdex == nil || *d.State.Apdex != *r.Apdex || !d.State.ByUser ||
		d.State.Wanted != 31 || d.State.LoggedIn != 90 {
		t.Errorf("the picture ends with %+v, the result with %+v", d.State, r.Totals)
	}
}

func agrees(t *testing.T, d live.Delta, columns ...[]int64) {
	t.Helper()
	var seen, want int64
	for _, p := range d.Seconds {
		seen += p.OK + p.Refused
		if p.CPU.Generator != nil {
			t.Errorf("what the coordinator takes is shown as the generator's: %v", *p.CPU.Generator)
		}
	}
	for _, column := range columns {
		for _, n := range column {
			want += n
		}
	}
	if seen == 0 || seen != want {
		t.Errorf("%d answers in the picture, %d in the series", seen, want)
	}
}
