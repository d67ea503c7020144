// Package agents owns a load that several processes make as one: a coordinator, which is the
// process that runs, and agents on this or other machines, with NATS between them.
//
//	agent                                coordinator
//	  │ hello: version, machine, cores       │
//	  ├─────────────────────────────────────►│ welcome, or refused with a reason
//	  │◄─ login: plan, every n-th user ──────┤
//	  ├── logged in … ready ────────────────►│ all ready
//	  │◄─ clock ×8 ──────────────────────────┤ the offset, from the quickest answer
//	  │◄─ start: a moment by its own clock ──┤ the barrier
//	  ├── a page each second ───────────────►│ adds up the pages of all, second by second
//	  │◄─ load, enter: by the user ──────────┤ pause, fewer or more users
//	  ├── made: memory, processor ──────────►│
//	  │◄─ leave ─────────────────────────────┤
//
// Both send a heartbeat twice a second. A side that hears nothing for SilenceMax of its own beats
// (ten seconds) considers the other lost; a process that was itself stopped counts no beats and so
// reports no loss. An agent without a coordinator stops its users. A run continues without a lost
// agent, reports when it was lost and how many users with it, and is not valid.
package agents
