// Package users owns the virtual users: a closed model, in which each user acts,
// waits for the answer, thinks, and acts again.
//
//	          enters                due                 sent
//	outside ─────────► thinking ─────────► waiting ─────────► acting
//	                      ▲     for a slot, a goroutine:        │
//	                      │     that is the generator's lag     │
//	                      └──────────────── answer ─────────────┘
//
// A user is data: two generators of random numbers, a due time and its place in a
// heap, about 60 bytes. Only a user who is acting has a goroutine. One goroutine, the
// loop, owns all users and all counting, so nothing is locked.
//
// Rules of the closed model:
//   - Latency counts from the moment the user was due.
//   - Thinking starts at the answer. A user who waited long acts less often; what
//     could have been done in the meantime is not made up for.
//   - Who thinks between two steps of an operation is data too, and the time is in no
//     latency (within.go).
//   - A user's think times and choice of operations depend on the seed and the user's
//     number alone; what the server does shifts them in time but never changes them.
package users
