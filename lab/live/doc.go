// Package live owns the picture of a run under way: the one source of figures of the
// dashboard in a browser and of the view in a terminal.
//
//	users' loop ── Counter ── Second ──┐ (merged, where several generators count)
//	processor meter ───────── Shares ──┤
//	database ────────────── Database ──┼─► Picture ──► Since(n): what is new ──► browser
//	workers ───────────────── Workers ─┤          └──► Glance(): how it stands ─► terminal
//	run ─────── phases, log, result ───┘
//
// The picture is bounded whatever the length of the run: the last ten minutes by the
// second, the last day by the minute, the last events. Minutes are made of counts, not
// of seconds' percentiles. Everything new has a number; who knows the number of the last
// thing it saw is told what came after it, and everything when that is no longer kept.
package live
