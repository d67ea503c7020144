package run

import (
	"time"

	"plimsoll/lab/tally"
	"plimsoll/lab/users"
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

// look makes a snapshot of what a generator shows, for the board, the picture and who else looks on.
func (r *running) look() func(users.Look) {
	board := r.board.watch(r.Options)
	return func(l users.Look) {
		s := Snapshot{At: l.At, Phase: phaseAt(l.At, l.Tally.From, l.Tally.To), Operations: r.operations, Page: l.Page, Tally: l.Tally}
		board(s)
		r.journal.add(l.Page)
		r.feed.second(s, leftAt(s.At, r.Options))
		if r.Snapshot != nil {
			r.Snapshot(s)
		}
	}
}
