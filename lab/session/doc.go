// Package session owns the course of a measurement in turns: of a search for the load line, of a comparison, of an
// experiment behind a claim, of crashes, commits and costs. Each of them says what a turn is, what voids it, how it is
// kept and what comes next.
//
//	  ┌───────────────────────────────────────────────────────────────────┐
//	  ▼                                                                   │
//	next ──none is left──▶ complete                                       │
//	  │ └──by the user, no time left, it would not help──▶ stopped        │
//	  ▼                                                     ▲             │
//	turn: reset ▶ load ▶ judge ▶ clean up ──by the user─────┘             │
//	  │                             └──error──▶ failed                    │
//	  ▼                                                                   │
//	keep ▶ report ────────────────────────────────────────────────────────┘
//
// What comes next is a function of the turns made so far and nothing else. So a session that was stopped or failed
// continues from what was kept after its last turn (Resume), with the same settings, by the same program, on the same
// servers. A void turn is a turn made; what comes next may be the same one again.
package session
