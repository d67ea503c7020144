package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"plimsoll/lab/live"
	"plimsoll/lab/result"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// Hand lets somebody change a run's load while users are at work. What it changes is in
// the result, and the run is then not the one that was asked for. It is safe for
// concurrent use; one Hand is for one run.
type Hand struct {
	mu       sync.Mutex
	load     users.Load
	grip     *grip // nil: nobody is at work
	entering bool  // users log in
	ended    bool
	logIns   sync.WaitGroup
}

// grip is what a hand moves.
type grip struct {
	ctx      context.Context
	control  *users.Control
	end      context.CancelFunc
	logIn    func(ctx context.Context, from, to int) error
	say      func(string)
	loggedIn int
	most     int
	open     bool
}

// ErrNotAtWork is behind a change that comes too early or too late.
var ErrNotAtWork = errors.New("users are not at work")

// SetUsers asks for a number of users at work. Those who are new log in first, which is no part of the load.
func (h *Hand) SetUsers(n int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.grip
	switch {
	case g == nil:
		return ErrNotAtWork
	case g.open:
		return problem.New(problem.Usage, errors.New("arrivals are open: their rate is the load, not the number of sessions"), "")
	case n < 1 || n > g.most:
		return problem.New(problem.Usage, fmt.Errorf("%d users: must be between 1 and %d", n, g.most), "")
	case h.entering:
		return errors.New("users log in just now: try again when they are in")
	case n <= g.loggedIn:
		h.load.Users = n
		g.control.Set(h.load)
		return nil
	}
	h.entering = true
	g.say(fmt.Sprintf("%d users log in", n-g.loggedIn))
	h.logIns.Add(1)
	go func() {
		defer h.logIns.Done()
		h.enter(g, n)
	}()
	return nil
}

func (h *Hand) enter(g *grip, n int) {
	err := g.logIn(g.ctx, g.loggedIn, n)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entering = false
	switch {
	case h.grip == nil:
	case err != nil:
		g.say("the number of users stays: " + err.Error())
	default:
		g.loggedIn, h.load.Users = n, n
		g.control.Set(h.load)
	}
}

// Pause lets nobody begin anything, or go on.
func (h *Hand) Pause(paused bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grip == nil {
		return ErrNotAtWork
	}
	h.load.Paused = paused
	h.grip.control.Set(h.load)
	return nil
}

// End ends the steady state now; what was measured is kept.
func (h *Hand) End() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grip == nil {
		return ErrNotAtWork
	}
	h.ended = true
	h.grip.end()
	return nil
}

// take gives the hand its hold while users are at work; release takes it back and says
// whether the hand has ended the load.
func (h *Hand) take(g *grip) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grip = g
}

func (h *Hand) release() (ended bool) {
	h.mu.Lock()
	ended, end := h.ended, h.grip.end
	h.grip = nil
	h.mu.Unlock()
	end() // of those who still log in, too
	h.logIns.Wait()
	return ended
}

// changesTold one by one in the reason why a run is not valid; the result has all.
const changesTold = 4

// changes of the load as the result tells them.
func changes(all []users.Change) (told []result.Change) {
	for _, c := range all {
		told = append(told, result.Change{AtS: c.At.Seconds(), Users: c.Users, Paused: c.Paused})
	}
	return told
}

// changeText says what one change did, before being the load it found.
func changeText(before users.Load, c users.Change) string {
	switch {
	case c.Paused && !before.Paused:
		return "paused by hand"
	case !c.Paused && before.Paused:
		return "resumed by hand"
	}
	return fmt.Sprintf("%d users instead of %d, by hand", c.Users, before.Users)
}

// changesText is all of them in short, the first few one by one.
func changesText(planned int, all []users.Change) string {
	var text []string
	before := users.Load{Users: planned}
	for _, c := range all[:min(len(all), changesTold)] {
		text = append(text, fmt.Sprintf("at %.0f s: %s", c.At.Seconds(), changeText(before, c)))
		before = c.Load
	}
	if more := len(all) - changesTold; more > 0 {
		text = append(text, fmt.Sprintf("and %d times more", more))
	}
	return strings.Join(text, ", ")
}

// handed lets the hand, if there is one, hold the crowd.
func (r *running) handed(working context.Context, end context.CancelFunc) users.Crowd {
	crowd := r.crowd
	if r.Hand == nil {
		return crowd
	}
	crowd.Control = &users.Control{}
	before := users.Load{Users: r.Users}
	crowd.Changed = func(c users.Change) {
		r.changes = append(r.changes, c)
		r.feed.changed(before, c)
		before = c.Load
	}
	r.Hand.take(&grip{
		ctx: working, control: crowd.Control, end: end, loggedIn: r.Users, most: r.usersMost(), open: r.Arrivals != nil,
		logIn: func(ctx context.Context, from, to int) error { return users.LogIn(ctx, from, to, r.cast, nil) },
		say:   func(text string) { r.feed.say(live.Hand, text) },
	})
	return crowd
}

// letGo ends the hand's hold and says whether it ended the load.
func (r *running) letGo() bool { return r.Hand != nil && r.Hand.release() }
