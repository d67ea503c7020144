// Package storage owns the library that is preloaded into a server to test its durability: flushes of a known latency,
// and a journal of everything that the server writes and flushes. It compiles the library once and reads the journal.
package storage
