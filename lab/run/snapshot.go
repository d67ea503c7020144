package run

import (
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
)

// Snapshot is one second of a run, of all its generators together: live pictures and exports are made from it. The
// pages add up to exactly the result's counts.
type Snapshot struct {
	At    time.Duration // end of the second, since the start of the ramp
	Phase Phase
	// Operations of the page's cells, in order.
	Operations []users.Operation
	Page       tally.Page
	// Tally is everything so far. It must only be read, and only during the call.
	Tally *tally.Tally
}
