package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/users"
)

// LoadControl changes a run's load while users are active. Changes are listed in the result, which is then not valid.
// It is safe for concurrent use; one LoadControl serves one run.
type LoadControl struct {
	mu       sync.Mutex
	load     users.Load
	target   *controlTarget // nil: no users are active
	entering bool           // users log in
	ended    bool
	logIns   sync.WaitGroup
}

// controlTarget is what can be changed.
type controlTarget struct {
	ctx      context.Context
	control  *users.Control
	end      context.CancelFunc
	logIn    func(ctx context.Context, from, to int) error
	say      func(string)
	loggedIn int
	most     int
	open     bool
	staged   bool
}

// ErrNoActiveUsers is returned for a change that comes too early or too late.
var ErrNoActiveUsers = errors.New("no users are active")

// SetUsers sets the number of active users. New ones log in first, which is not part of the load.
func (c *LoadControl) SetUsers(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.target
	switch {
	case t == nil:
		return ErrNoActiveUsers
	case t.open:
		return problem.New(problem.Usage, errors.New(
			"arrivals are open: their rate is the load, not the number of sessions"), "")
	case t.staged:
		return problem.New(problem.Usage, errors.New("the stages of the scenario set the number of users"), "")
	case n < 1 || n > t.most:
		return problem.New(problem.Usage, fmt.Errorf("%d users: must be between 1 and %d", n, t.most), "")
	case c.entering:
		return errors.New("users are still logging in; try again in a moment")
	case n <= t.loggedIn:
		c.load.Users = n
		t.control.Set(c.load)
		return nil
	}
	c.entering = true
	t.say(fmt.Sprintf("%d users log in", n-t.loggedIn))
	c.logIns.Add(1)
	go func() {
		defer c.logIns.Done()
		c.enter(t, n)
	}()
	return nil
}

func (c *LoadControl) enter(t *controlTarget, n int) {
	err := t.logIn(t.ctx, t.loggedIn, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entering = false
	switch {
	case c.target == nil:
	case err != nil:
		t.say("the number of users stays the same: " + err.Error())
	default:
		t.loggedIn, c.load.Users = n, n
		t.control.Set(c.load)
	}
}

// Pause stops users from starting operations, or lets them continue.
func (c *LoadControl) Pause(paused bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil {
		return ErrNoActiveUsers
	}
	c.load.Paused = paused
	c.target.control.Set(c.load)
	return nil
}

// End ends the steady state now; what was measured is kept.
func (c *LoadControl) End() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil {
		return ErrNoActiveUsers
	}
	c.ended = true
	c.target.end()
	return nil
}

// attach allows changes from here on, while users are active.
func (c *LoadControl) attach(t *controlTarget) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target = t
}

// detach ends that and reports whether the user ended the load. Without a control it never is.
func (c *LoadControl) detach() (ended bool) {
	if c == nil {
		return false
	}
	c.mu.Lock()
	ended, t := c.ended, c.target
	c.target = nil
	c.mu.Unlock()
	if t == nil { // the load never started
		return false
	}
	t.end() // also of users who are still logging in
	c.logIns.Wait()
	return ended
}
