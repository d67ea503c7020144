// Package line searches for the load line: how many users a system carries before the score falls below a target, and
// what limits it.
//
//	coarse: double from the first number until one fails (or halve until one passes)
//	   │
//	bisect: halve the bracket [passes, fails) until it is one step wide
//	   │
//	confirm: the lower end must pass three times more, with other seeds; a failure makes it
//	   │     the new upper end and the search goes on below
//	   ▼
//	beyond: the upper end is repeated as often, so that it does not rest on one failure
//	   │
//	   ▼
//	answer: N passes each time, N + step fails: an interval, not a number
//
// The next trial is a function of the trials made so far and nothing else (Next). So a search that was stopped resumes
// from its trials as if nothing had happened.
//
// The lines of several systems are found in one session, which runs a trial of each in turn (FindAll).
//
// A trial whose run is not valid for reasons outside the system is void: it is repeated, twice at most. A number that
// stays void bounds the search without counting as a failure.
//
// Each trial starts from the same state of the database, is checked for a growing queue, and is an ordinary run, kept
// in the store of runs.
package line
