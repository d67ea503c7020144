package users

import (
	"sync"
	"time"
)

// Control changes a crowd's load during a run, for its user. It is safe for concurrent use;
// the loop applies the latest request.
//
// Users beyond the number leave when they would act next. New ones enter in the
// middle of a think time, as all users do. A pause stops all think times: no user is
// due in it, so that no latency contains it. The zero value leaves all as planned.
// Users are those of the whole crowd: segments with the same order each do their part of it.
type Control struct {
	mu      sync.Mutex
	load    Load
	changed chan struct{} // nil: no loop listens yet
}

// Load is what the user of a run can change.
type Load struct {
	Users  int  `json:"users"` // 0: as planned
	Paused bool `json:"paused"`
}

// Change of the load by the user, as it was made.
type Change struct {
	At time.Duration
	Load
}

// Set requests a load.
func (c *Control) Set(l Load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load = l
	select {
	case c.changed <- struct{}{}:
	default: // the loop has not yet seen the last one, and will see this instead
	}
}

// Changed starts to report changes of the load; one from before is reported at once.
// There is one listener. A nil control reports nothing.
func (c *Control) Changed() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = make(chan struct{}, 1)
	if c.load != (Load{}) {
		c.changed <- struct{}{}
	}
	return c.changed
}

// Wanted is the load that was requested last.
func (c *Control) Wanted() Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load
}

const notPaused time.Duration = -1

// Wanted is the load that the crowd is to have, where it has so many users now.
func (c Crowd) Wanted(users int) Load {
	want := c.Control.Wanted()
	if want.Users == 0 || c.Arrivals != nil || c.follows() { // the load of open arrivals is their rate
		want.Users = users
	}
	want.Users = min(want.Users, max(c.Users, c.UsersMost))
	return want
}

// applyControl applies what the user requested.
func (l *loop) applyControl() {
	if l.stopped {
		return
	}
	now, before := l.now(), Load{l.wanted, l.pausedAt != notPaused}
	want := l.Wanted(before.Users)
	if want == before {
		return
	}
	l.pause(want.Paused, now)
	l.resize(want.Users, l.thinksFrom(now))
	if l.Changed != nil {
		l.Changed(Change{now, want})
	}
}

// pause stops all think times, or lets them continue where they were.
func (l *loop) pause(paused bool, now time.Duration) {
	switch {
	case paused && l.pausedAt == notPaused:
		l.pausedAt = now
	case !paused && l.pausedAt != notPaused:
		held := now - l.pausedAt
		for i := range l.agenda { // all by the same: the heap stays one
			l.agenda[i].due += held
		}
		for i := range l.within.agenda {
			l.within.agenda[i].due += held
		}
		if l.open != nil {
			l.open.next += held
		}
		l.pausedAt = notPaused
	}
}

// thinksFrom is when a think time begins on the agenda: none passes during a pause.
func (l *loop) thinksFrom(at time.Duration) time.Duration {
	if l.pausedAt != notPaused {
		return min(at, l.pausedAt)
	}
	return at
}

// resize adds users or, one by one when they are due, removes them.
func (l *loop) resize(n int, now time.Duration) {
	l.wanted = n
	if l.open != nil {
		return
	}
	for k := range min(l.Segment.Of(n), len(l.users)) {
		if l.users[k].removed {
			l.users[k].removed = false
			l.enterAt(l.Segment.number(k), now)
		}
	}
	l.addUsers(n, func(int) time.Duration { return now })
}

// removeUnwanted removes a user beyond the requested number, and says whether it is removed.
func (l *loop) removeUnwanted(user int) bool {
	u := l.user(user)
	u.removed = u.removed || user >= l.wanted
	return u.removed
}

// activeAt is the number of active users: those of the plan who have entered and were not removed, and those
// beyond it.
func (l *loop) activeAt(at time.Duration) int {
	segment := l.Segment.Of
	return min(l.Crowd.activeAt(at), segment(l.wanted)) + max(0, segment(l.wanted)-segment(l.Users))
}
