package users

import (
	"math"
	"time"
)

// presenceEvery is the grid on which the number of active users follows the plan.
const presenceEvery = 100 * time.Millisecond

// present is how many users are active by the plan at a moment; over the ramp those of the beginning enter.
func (c Crowd) present(at time.Duration) int {
	if len(c.Presence) == 0 {
		return c.Users
	}
	share := c.Presence.at(float64(max(0, at-c.Ramp)) / float64(c.Steady))
	return min(c.Users, int(math.Round(share*float64(c.Users))))
}

// first is how many users enter over the ramp.
func (c Crowd) first() int { return c.present(0) }

// follows says whether the number of users is the plan's alone.
func (c Crowd) follows() bool { return len(c.Presence) > 0 && c.Arrivals == nil }

// follow the plan: users beyond its number leave when they would act next, and those who come enter in the middle of a
// think time, as all do. The moment is one of a grid, so that all segments do it alike.
func (l *loop) follow(now time.Duration) {
	if !l.follows() || l.stopped || l.pausedAt != notPaused || now < l.nextPresence {
		return
	}
	at := now.Truncate(presenceEvery)
	l.nextPresence = at + presenceEvery
	if n := l.present(at); at >= l.Ramp && n != l.wanted {
		l.resize(n, at)
	}
}

// followAt is when that is to be done next.
func (l *loop) followAt() time.Duration {
	if !l.follows() {
		return never
	}
	return max(l.nextPresence, l.Ramp)
}
