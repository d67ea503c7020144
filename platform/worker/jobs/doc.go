// Package jobs owns background jobs: work that is too long for a request, done by any worker and continued by others if
// one dies. River (riverqueue.com) stores and distributes the work; this package adds parts that run in parallel on
// several workers, and progress.
//
//	        a worker takes it        planned, once          all parts are done, summed up
//	queued ───────────────────▶ running ─────────▶ running ───────────────────────────────▶ done
//	   │                           │  ▲              │   ▲
//	   │ Cancel                    │  └ connection   │   └ taken over ── interrupted: its worker is dead,
//	   ▼                           │    lost: again  │                   its parts may go on
//	cancelled                      │ refused         │ a part failed for good, or Cancel
//	                               ▼                 ▼
//	                            failed           running: waiting parts are dropped, running ones told to stop
//	                                                 │ the last part has ended
//	                                                 ▼
//	                                             failed or cancelled
//
// The worker that coordinates a job decides from what the database says, again and again, so whoever takes over goes on
// where it was, and two of them come to the same end. A lost connection decides nothing. A job has not ended while one
// of its parts runs, so no other job of a unique kind begins meanwhile.
//
// A killed worker loses its advisory lock. The others notice within AliveEvery and take over. A live one that lost its
// connection looks the same, so a part may be started twice: each must be written so that committed work is not
// repeated. Planning is fenced: parts are inserted in the transaction that marks the job as planned, by who had it
// last, and each has a key of its own.
package jobs
