// Package live owns the picture of a run under way: the single source of figures for the dashboard in a browser and the
// view in a terminal.
//
//	users' loop ────────── tally.Page ─┐ (of all generators: their sum)
//	processor meter ───────── Shares ──┤
//	database ────────────── Database ──┼─► Picture ──► Since(n): what is new ──► browser
//	workers ───────────────── Workers ─┤          └──► Snapshot(): how it stands ─► terminal
//	run ─────── phases, log, result ───┘
//
// The result is made of the same pages: the picture's figures of the steady state so far are those that the result will
// have.
//
// The picture is bounded, however long the run: the last ten minutes by second, the last day by minute, the last
// events. Minutes are made of counts, not of the seconds' percentiles. Every news item has a number; a reader that
// knows the number of the last one it saw gets the later ones, or everything if some of them are no longer kept.
package live
