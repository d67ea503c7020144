package users

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load/tally"
)

// TestPresence lets three of ten users work, then all, then two.
func TestPresence(t *testing.T) {
	c := crowd(10)
	c.Ramp = time.Second
	c.Think = Think{Mean: 500 * time.Millisecond}
	c.Presence = Pace{{0, 0.3}, {0.25, 0.3}, {0.25, 1}, {0.55, 1}, {0.55, 0.2}, {1, 0.2}}
	var active []int
	c.EachSecond = func(l Second) {
		if !l.Page.Rest {
			active = append(active, l.Page.Users)
		}
	}
	samples, _ := film(t, c, &server{service: 20 * time.Millisecond}, nil)
	if diff := cmp.Diff([]int{3, 3, 3, 10, 10, 10, 2, 2, 2, 2, 2}, active); diff != "" {
		t.Errorf("active users by second:\n%s", diff)
	}
	acted := map[string]map[int]bool{"few": {}, "all": {}, "two": {}}
	for _, s := range samples {
		switch {
		case s.Due < 3500*time.Millisecond:
			acted["few"][s.User] = true
		case s.Due < 6500*time.Millisecond:
			acted["all"][s.User] = true
		default:
			acted["two"][s.User] = true
		}
	}
	if len(acted["few"]) != 3 || len(acted["all"]) != 10 || len(acted["two"]) != 2 {
		t.Errorf("%d, %d and %d users acted, want 3, 10 and 2", len(acted["few"]), len(acted["all"]), len(acted["two"]))
	}
}

// What a person changes by hand does not reach the number of users that a plan sets; a pause does.
func TestPresenceAndControl(t *testing.T) {
	c := crowd(4)
	c.Presence = Pace{{0, 0.5}, {0.3, 0.5}, {0.3, 1}, {1, 1}}
	c.Control, c.UsersMost = &Control{}, 8
	most := 0
	c.EachSecond = func(l Second) { most = max(most, l.Page.Users) }
	var changes []Change
	c.Changed = func(change Change) { changes = append(changes, change) }
	samples, _ := film(t, c, &server{service: 20 * time.Millisecond}, guide(&c,
		func() { c.Control.Set(Load{Users: 8}) }, func() { c.Control.Set(Load{Paused: true}) }))
	if most != 4 || len(changes) != 1 || !changes[0].Paused {
		t.Errorf("%d users, changes %+v", most, changes)
	}
	for _, s := range samples {
		if s.Due > 4800*time.Millisecond {
			t.Errorf("user %d acts at %v, in a pause", s.User, s.Due)
		}
	}
}

func TestPaceJumps(t *testing.T) {
	p := Pace{{0, 1}, {0.5, 1}, {0.5, 0}, {0.8, 0}, {0.8, 2}, {1, 2}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	clock := newClock(p, 0, 10*time.Second)
	for _, c := range []struct{ from, think, want time.Duration }{
		{4 * time.Second, 500 * time.Millisecond, 4500 * time.Millisecond},
		{4 * time.Second, 2 * time.Second, 8500 * time.Millisecond}, // a second, a gap, half of one at level 2
		{6 * time.Second, 2 * time.Second, 9 * time.Second},
		{5 * time.Second, time.Second, 8500 * time.Millisecond},
		{20 * time.Second, time.Second, 20500 * time.Millisecond},
	} {
		if got := clock.after(c.from, c.think); got != c.want {
			t.Errorf("%v of thinking from %v ends at %v, want %v", c.think, c.from, got, c.want)
		}
	}
	for part, want := range map[float64]float64{0: 1, 0.4: 1, 0.5: 0, 0.7: 0, 0.8: 2, 1: 2} {
		if got := p.at(part); got != want {
			t.Errorf("level %v at %v, want %v", got, part, want)
		}
	}
	if (Pace{{0.5, 1}, {0.2, 1}}).Check() == nil {
		t.Error("a pace that goes back in time is taken")
	}
}

func TestBetweenSumsUpIntervals(t *testing.T) {
	c := crowd(20)
	c.Steady = 4 * time.Second
	samples, got := film(t, c, &server{service: 20 * time.Millisecond}, nil)
	for _, window := range [][2]time.Duration{{0, time.Second}, {time.Second, 3 * time.Second}, {0, time.Minute},
		{time.Hour, 2 * time.Hour}} {
		var want int64
		for _, s := range samples {
			if s.Done >= window[0] && s.Done < window[1] {
				want++
			}
		}
		sum, err := got.Timeline.Between(window[0], window[1])
		if err != nil || sum.Outcomes[tally.OK] != want || sum.Apdex.N() != want ||
			(sum.P95 == tally.NoPercentile) != (want == 0) {
			t.Errorf("%v: %d of %d operations, p95 %v, %v", window, sum.Outcomes[tally.OK], want, sum.P95, err)
		}
	}
}
