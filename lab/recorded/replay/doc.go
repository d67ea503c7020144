// Package replay plays the statements of a log again, a 1C server's or a PostgreSQL server's, on a copy of the base:
// each session on a connection of its own, its statements in their order, each begun when it began, or faster. It says
// how true that was.
//
//	log ──▶ order: statements by the time they began (on disk, in bounded memory)
//	          └──▶ stage: sessions ──▶ connections ──▶ outcome of each statement ──▶ score, fidelity
//
// What a log does not hold cannot be replayed: the rows of COPY FROM STDIN, values beyond log_parameter_max_length.
// Each statement that is left out has a reason, and all that was read is replayed or counted under one.
package replay
