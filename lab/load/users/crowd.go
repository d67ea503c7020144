package users

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"plimsoll/lab/load/tally"
)

const (
	// InFlightMaxDefault bounds the operations under way at once, and with them
	// goroutines, connections and ports. Users beyond it wait; the wait is in their
	// latency and in the generator's lag.
	InFlightMaxDefault = 8192
	// InterruptedDrainMax is how long a run that its user stopped still waits
	// for operations under way.
	InterruptedDrainMax = 5 * time.Second
)

// Crowd is a number of users and the operations they carry out. They log in before the
// load (LogIn), so that logging in is not part of it.
type Crowd struct {
	Users      int
	Operations []Operation
	Think      Think     // of all users when there are no roles
	Roles      []Role    // how users differ; none: all do the operations by their weights
	Pace       Pace      // over the steady state
	Presence   Pace      // likewise, which share of the users is active; none: all
	Arrivals   *Arrivals // nil: the closed model
	Seed       uint64

	Ramp    time.Duration // users enter evenly over it; 0: all at once
	Steady  time.Duration // measured
	Drain   time.Duration // longest wait for operations under way at the end
	Timeout time.Duration // of one operation, from its sending

	InFlightMax int // Defaults to InFlightMaxDefault.

	// Segment is the part of the crowd that is active here; zero is all of it.
	Segment Segment
	// Start is when the clock of the crowd begins to run, by the machine's; zero is at once.
	Start time.Time

	// Control, if not nil, changes the load during the run.
	Control *Control
	// UsersMost is how many users Control may set, in all segments. Defaults to Users.
	UsersMost int
	// Changed, if not nil, is called by the loop for each change that it has made; it
	// must not wait for anything.
	Changed func(Change)

	// EachSecond, if not nil, is called once a second by the loop, which it holds up: it
	// must not wait for anything.
	EachSecond func(Second)
	// Ended, likewise, is called for each operation that has ended.
	Ended func(tally.Sample)
}

// Second is what one second of the load brought.
type Second struct {
	At    time.Duration // since the start
	Page  tally.Page    // of the second that has just ended; of the rest of one at the very end
	Tally *tally.Tally  // all so far; only to be read, and only during the call
}

// Check says what is wrong with the crowd.
func (c Crowd) Check() error {
	switch {
	case c.Users < 1:
		return fmt.Errorf("%d users: must be at least 1", c.Users)
	case c.Ramp < 0 || c.Drain < 0:
		return fmt.Errorf("ramp %v, drain %v: must be 0 or more", c.Ramp, c.Drain)
	case c.Steady <= 0:
		return fmt.Errorf("duration %v: must be above 0", c.Steady)
	case c.Timeout <= 0:
		return fmt.Errorf("timeout %v: must be above 0", c.Timeout)
	}
	if err := errors.Join(c.Pace.Check(), c.Presence.Check(), c.Segment.check(c.Users)); err != nil {
		return err
	}
	if c.Arrivals != nil {
		if err := c.Arrivals.Check(); err != nil {
			return err
		}
	}
	return c.checkRoles()
}

// Run lets the users work and returns what was counted. When ctx is done before
// the end, the steady state ends there, operations under way are given a short
// time, and what was counted so far is returned; no error.
func (c Crowd) Run(ctx context.Context, player Player) (*tally.Tally, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l, err := newLoop(c, player)
	if err != nil {
		return nil, err
	}
	return l.run(ctx)
}

// user is one virtual user: the schedule and the content of its operations have
// random numbers of their own, so that no answer of the server changes who comes when.
type user struct {
	schedule rand.PCG
	content  rand.PCG
	role     uint8
	removed  bool // removed by Control
}

func newUser(seed uint64, number int) user {
	seeds := rand.NewPCG(seed, uint64(number))
	var u user
	u.schedule.Seed(seeds.Uint64(), seeds.Uint64())
	u.content.Seed(seeds.Uint64(), seeds.Uint64())
	return u
}

// enters is when a user enters: evenly over the ramp.
func (c Crowd) enters(number int) time.Duration {
	return time.Duration(float64(c.Ramp) * float64(number) / float64(max(1, c.first())))
}

// activeAt is how many users of the segment have entered by then.
func (c Crowd) activeAt(at time.Duration) int {
	entered := c.Users
	if at < c.Ramp && c.Arrivals == nil {
		first := c.first()
		entered = min(first, 1+int(float64(at)/float64(c.Ramp)*float64(first)))
	}
	return c.Segment.Of(entered)
}
