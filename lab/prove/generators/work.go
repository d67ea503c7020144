package main

import (
	"fmt"
	"time"

	"plimsoll/lab/prove/peers"
)

// Kinds of work by which generators are compared.
const (
	thinking = "think" // users who think between an answer and the next request
	busy     = "busy"  // users who do not
	stalled  = "stall" // requests at a steady rate, while the application stands still once
)

const (
	busyUsers    = 50
	stallFor     = 2 * time.Second
	stallAfter   = 8 * time.Second // after the first request
	stallRate    = 100             // requests per second
	stallLasting = 20 * time.Second
)

// stallUsers are just enough for the rate when nothing stands still, and enough for all requests that a stall delays.
var stallUsers = []int{10, 400}

// work is one line of a table, done by every generator once a round.
type work struct {
	Kind  string `json:"kind"`
	Users int    `json:"users"`
}

func (w work) String() string { return fmt.Sprintf("%s, %d users", w.Kind, w.Users) }

// job of the work, without what differs by trial.
func (w work) job(o options) peers.Job {
	j := peers.Job{Users: w.Users, Ramp: o.ramp, Lasting: time.Hour} // it is ended when enough was measured
	switch w.Kind {
	case thinking:
		j.Think = o.think
	case stalled:
		j.Rate, j.Ramp, j.Lasting = stallRate, 0, stallLasting
	}
	return j
}

// plan lists the work of the selected kinds.
func plan(kinds []string, users []int) (all []work, err error) {
	for _, kind := range kinds {
		switch kind {
		case thinking:
			for _, n := range users {
				all = append(all, work{kind, n})
			}
		case busy:
			all = append(all, work{kind, busyUsers})
		case stalled:
			for _, n := range stallUsers {
				all = append(all, work{kind, n})
			}
		default:
			return nil, fmt.Errorf("unknown work %q: use %s, %s or %s", kind, thinking, busy, stalled)
		}
	}
	return all, nil
}

// waitAtShare is the wait that a share of all requests exceeds when the application stands still: of evenly spaced
// requests, those due in the stall wait for its rest, uniformly from all of it down to zero.
func waitAtShare(share float64) time.Duration {
	above := (1 - share) * float64(stallLasting) // of the time in which requests are due
	return max(0, stallFor-time.Duration(above))
}
