// Package line owns the search for the load line: how many users a system carries before
// the score falls below a target, and what limits it.
//
//	coarse: double from the first number until one fails (or halve until one passes)
//	   │
//	bisect: halve the bracket [passes, fails) until it is one step wide
//	   │
//	confirm: the lower end must pass three times more, with other seeds; a failure makes it
//	   │     the new upper end and the search goes on below
//	   ▼
//	answer: N passes each time, N + step fails: an interval, not a number
//
// What comes next is a function of the trials made so far and nothing else (Next). That
// is why a search that was stopped goes on from its trials as if nothing had happened.
//
// The lines of several systems are found in one session, which gives each a trial in turn
// (FindAll).
//
// A trial whose run is not valid through no fault of the system says nothing: it is made again,
// twice at most, and a number that stays void bounds the search without being a failure.
//
// Each trial starts from the same state of the database, is held against its own drift,
// and is a run like any other, kept in the store of runs.
package line
