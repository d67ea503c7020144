// Package worker owns one application-server process that a run has started: a child
// of its own, so that its processor time can be told apart from the generator's.
//
//	Start ──► starting ──first line of output──► listening ──Stop──► drained, gone
//	             │                                   │
//	             └─ ends, or is silent too long      └─ ends by itself: Gone closes
//
// The first line of its output is {"listening":"http://127.0.0.1:PORT"}. SIGTERM asks
// it to leave. It is in a process group of its own, so that an interrupt typed at the
// terminal reaches the run, which then stops it in good order; and it dies with its
// parent.
package worker
