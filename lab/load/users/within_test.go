package users

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/lab/load/tally"
)

// stepwise plays operations of three steps of 100 ms with think times of 3 s and 5 s between. The last step of every
// fifth operation fails; each goes on with its own random numbers.
type stepwise struct {
	doorman
	mu     sync.Mutex
	drawn  map[int][]uint64 // by user: a number for each step
	played int
	most   int // at once
	now    int
	wrong  []string
}

func (s *stepwise) Play(ctx context.Context, user, _ int, rng *rand.Rand) (tally.Outcome, error) {
	notes := tally.NotesOf(ctx)
	s.mu.Lock()
	s.drawn[user] = append(s.drawn[user], rng.Uint64())
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return tally.Failed, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	switch step := notes.Step(); step {
	case 0:
		notes.FirstByte(time.Now())
		notes.Pause(1, 3*time.Second)
	case 1:
		notes.Pause(2, 5*time.Second)
	case 2:
		if s.played++; s.played%5 == 0 {
			return tally.Failed, fmt.Errorf("no")
		}
	default:
		s.wrong = append(s.wrong, fmt.Sprint("step ", step))
	}
	return tally.OK, nil
}

func stepsCrowd(samples *[]tally.Sample) Crowd {
	return Crowd{Users: 20, Steady: 2 * time.Minute, Drain: 30 * time.Second, Timeout: time.Second, Seed: 1,
		InFlightMax: 4,
		Operations:  []Operation{{ID: "a", Target: 400 * time.Millisecond, Priority: 1, Weight: 1}},
		Think:       Think{Distribution: Constant, Mean: 2 * time.Second},
		Ended:       func(s tally.Sample) { *samples = append(*samples, s) }}
}

// The time that users think within an operation is no part of its latency, holds no slot and is not the generator's
// lag, though it is longer than the operation may take; operations are counted once, in the closed and the open model.
func TestThinkTimeWithinAnOperation(t *testing.T) {
	for name, arrivals := range map[string]*Arrivals{"Closed": nil, "Open": {Spacing: Even, Rate: 1.5}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []tally.Sample
				c := stepsCrowd(&all)
				c.Arrivals = arrivals
				player := &stepwise{drawn: map[int][]uint64{}}
				counts, err := c.Run(t.Context(), player)
				if err != nil || len(player.wrong) > 0 {
					t.Fatal(err, player.wrong)
				}
				op := counts.Operations[0]
				// a cycle takes 2 + 3 + 5 s and 300 ms; arrivals are 180, of which the first count 8 s later
				if n := op.N(); n < 160 || n > 240 ||
					op.Outcomes[tally.Failed] < n/5-1 || op.Outcomes[tally.Failed] > n/5+1 {
					t.Errorf("%d operations, %v", n, op.Outcomes)
				}
				if longest := op.Latency.Max(); longest < 290*time.Millisecond || longest > 800*time.Millisecond {
					t.Errorf("the longest took %v", longest)
				}
				if counts.InFlight > 4 || player.most > 4 {
					t.Errorf("%d at once, %d by the player's count", counts.InFlight, player.most)
				}
				for _, s := range all {
					if errors.Is(s.Err, errLeft) {
						if s.Due < counts.To {
							t.Errorf("who left counts in the window: %+v", s)
						}
						continue
					}
					if s.Sent < s.Due || s.FirstByte < s.Sent || s.FirstByte > s.Done ||
						s.Done-s.Sent < 300*time.Millisecond ||
						s.Done-s.Sent > 800*time.Millisecond {
						t.Errorf("%+v", s)
					}
				}
				for user, drawn := range player.drawn {
					seen := map[uint64]bool{}
					for _, x := range drawn {
						seen[x] = true
					}
					if len(seen) != len(drawn) {
						t.Errorf("user %d draws the same again: a part begins with fresh random numbers", user)
					}
				}
			})
		})
	}
}

// In the open model a user who thinks within an operation keeps its session: arrivals wait for one that is free, though
// slots are, and that is the backlog's and no lag of the generator.
func TestArrivalsWaitForUsersWhoThinkWithinAnOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []tally.Sample
		c := stepsCrowd(&all)
		c.Users, c.Steady, c.Arrivals = 6, time.Minute, &Arrivals{Spacing: Even, Rate: 1.5}
		counts, err := c.Run(t.Context(), &stepwise{drawn: map[int][]uint64{}})
		if err != nil {
			t.Fatal(err)
		}
		waited := false
		for _, s := range all {
			waited = waited || s.Held > 10*time.Second
			if s.Lag() > time.Second {
				t.Errorf("the generator lags: %+v", s)
			}
		}
		// six sessions do an operation each in 8.3 s
		if n := counts.Operations[0].N(); n < 30 || !waited || counts.Backlog < 20 {
			t.Errorf("%d operations, a backlog of %d, held %v", n, counts.Backlog, waited)
		}
	})
}

// Nobody's operation is lost: those that began and would count in the window all end, and each user that leaves in the
// middle is counted once, after the window.
func TestOperationsWithinWhichTheLoadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []tally.Sample
		c := stepsCrowd(&all)
		c.Steady, c.Drain = 20*time.Second, time.Second
		player := &stepwise{drawn: map[int][]uint64{}}
		counts, err := c.Run(t.Context(), player)
		if err != nil {
			t.Fatal(err)
		}
		left, busy := 0, map[int]int{}
		for _, s := range all {
			busy[s.User]++
			if errors.Is(s.Err, errLeft) {
				left++
			}
		}
		begun := 0
		for _, drawn := range player.drawn {
			begun += len(drawn)
		}
		if left == 0 || left > 20 || len(busy) != 20 {
			t.Errorf("%d left of %d users", left, len(busy))
		}
		if inside := counts.Operations[0].N(); inside < 20 || int64(len(all)-left) < inside {
			t.Errorf("%d counted, %d ended, %d left", inside, len(all), left)
		}
	})
}

// A pause of the load stops these think times too, and users that are no longer wanted end what they are in.
func TestControl_OfUsersWithinAnOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []tally.Sample
		c := stepsCrowd(&all)
		c.Steady, c.Control = 60*time.Second, &Control{}
		player := &stepwise{drawn: map[int][]uint64{}}
		go func() {
			time.Sleep(10*time.Second + 50*time.Millisecond)
			c.Control.Set(Load{Paused: true})
			time.Sleep(20 * time.Second)
			c.Control.Set(Load{Users: 5})
		}()
		if _, err := c.Run(t.Context(), player); err != nil {
			t.Fatal(err)
		}
		var late []string
		for _, s := range all {
			if errors.Is(s.Err, errLeft) {
				continue
			}
			if s.Latency() > time.Second {
				t.Errorf("the pause is in the latency: %+v", s)
			}
			if s.User >= 5 && s.Done > 45*time.Second {
				late = append(late, fmt.Sprint(s.User, " ", s.Done))
			}
		}
		if len(late) > 0 {
			t.Errorf("not wanted, and still there: %s", strings.Join(late, ", "))
		}
	})
}
