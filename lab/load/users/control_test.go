package users

import (
	"context"
	"fmt"
	"testing"
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/test/golden"
)

// guide changes a crowd's load at moments of its run.
func guide(c *Crowd, steps ...func()) func(context.CancelFunc) {
	return func(context.CancelFunc) {
		for _, step := range steps {
			time.Sleep(2400 * time.Millisecond) // never at the end of a second, which a look counts
			step()
		}
	}
}

func TestControl(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps []Load
	}{
		{"fewer_then_more_by_hand", []Load{{Users: 1}, {Users: 6}}},
		{"paused_for_2.4_seconds", []Load{{Paused: true}, {}}},
		{"more_in_a_pause", []Load{{Paused: true}, {Users: 8, Paused: true}, {Users: 8}}},
		{"paused_to_the_end", []Load{{Paused: true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := crowd(4)
			c.Control, c.UsersMost = &Control{}, 8
			var changes []Change
			var users []int
			c.Changed = func(change Change) { changes = append(changes, change) }
			c.EachSecond = func(l Second) {
				if !l.Page.Rest {
					users = append(users, l.Page.Users)
				}
			}
			var steps []func()
			for _, load := range test.steps {
				steps = append(steps, func() { c.Control.Set(load) })
			}
			samples, _ := film(t, c, &server{service: 150 * time.Millisecond}, guide(&c, steps...))
			golden.Compare(t, "testdata/"+test.name+".golden", script(samples)+changesText(changes, users))
			for _, s := range samples {
				if s.Latency() != 150*time.Millisecond {
					t.Errorf("user %d due at %v waited %v: what the user changed is no latency", s.User, s.Due,
						s.Latency())
				}
			}
		})
	}
}

func TestControlOfOpenArrivalsPausesThemOnly(t *testing.T) {
	c := crowd(4)
	c.Arrivals, c.Control, c.UsersMost = &Arrivals{Even, 2}, &Control{}, 100
	samples, _ := film(t, c, &server{service: 150 * time.Millisecond},
		guide(&c, func() { c.Control.Set(Load{Users: 90, Paused: true}) }, func() { c.Control.Set(Load{}) }))
	inPause := func(s tally.Sample) bool { return s.Due > 2400*time.Millisecond && s.Due < 4800*time.Millisecond }
	for _, s := range samples {
		if inPause(s) || s.User >= 4 || s.Latency() != 150*time.Millisecond {
			t.Errorf("want nobody due in the pause and 150 ms each, got %+v", s)
		}
	}
	if len(samples) != 15 { // two a second for 10 s less 2.4 s, from half a second on
		t.Errorf("%d arrivals", len(samples))
	}
}

func changesText(changes []Change, users []int) string {
	text := fmt.Sprintf("active users by second: %d\n", users)
	for _, c := range changes {
		text += fmt.Sprintf("%.1f s: %d users, paused %v\n", c.At.Seconds(), c.Users, c.Paused)
	}
	return text
}
