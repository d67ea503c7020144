// Package live owns the picture of a run under way: the one source of figures of the
// dashboard in a browser and of the view in a terminal.
//
//	users' loop ────────── tally.Page ─┐ (of all generators: their sum)
//	processor meter ───────── Shares ──┤
//	database ────────────── Database ──┼─► Picture ──► Since(n): what is new ──► browser
//	workers ───────────────── Workers ─┤          └──► Glance(): how it stands ─► terminal
//	run ─────── phases, log, result ───┘
//
// Pages are what the result is made of, too: what the picture says of the steady state so
// far is what the result will say.
//
// The picture is bounded whatever the length of the run: the last ten minutes by the
// second, the last day by the minute, the last events. Minutes are made of counts, not
// of seconds' percentiles. Everything new has a number; who knows the number of the last
// thing it saw is told what came after it, and everything when that is no longer kept.
package live
