package run

import (
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
)

// Snapshot is one second of a run, of all its generators together: what a live picture and
// an export of figures are made of. Adding up the pages gives the result's counts exactly.
type Snapshot struct {
	At    time.Duration // end of the second, since the start of the ramp
	Phase Phase
	// Operations are what the page's cells are about, in their order.
	Operations []users.Operation
	Page       tally.Page
	// Tally is everything so far. It is only to be read, and only during the call.
	Tally *tally.Tally
}
