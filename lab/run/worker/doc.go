// Package worker owns an application-server process started by a run: a separate process, so that its processor time
// can be told apart from the generator's.
//
//	Start ──► starting ──first line of output──► listening ──Stop──► drained, gone
//	             │                                   │
//	             └─ ends, or is silent too long      └─ ends by itself: Gone closes
//
// The first line of its output is {"listening":"http://127.0.0.1:PORT"}. SIGTERM asks it to stop. It is in its own
// process group, so that Ctrl-C reaches the run, which then stops it in order; and it dies with its parent.
package worker
