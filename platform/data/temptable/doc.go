// Package temptable tracks the temp tables of one connection: which exist, which are lent, what they contain, and how
// all that follows the transaction.
//
// A table is identified by its structure (columns, types, index): a query that needs the same structure again gets an
// existing table of the same name, so statement caches, here and on the server, do not grow.
//
//	           Lend, none free                    Lend                 Filled, Touched
//	missing ───── CREATE ─────▶ lent, empty ◀──────────── free, empty
//	   ▲                            │ ▲ │                      ▲
//	   │                            │ │ └─ Filled, Touched ─▶ lent, rows or unknown
//	   │                     Return │                             │ Return
//	   │                            └───── known empty: skip ─────┤
//	   │                                                          ├─ known rows, or always: TRUNCATE ─▶ free, empty
//	   │                                                          ├─ few rows, with Delete: DELETE ─▶ free, empty
//	   │                                                          └─ unknown: SELECT 1 … LIMIT 1 ─▶ TRUNCATE or skip
//	   └──────── DROP: the cap is reached and this free table was used longest ago
//
// Every change above is logged before it is made, because on the server it is part of a transaction:
//
//	Committed            the notes are thrown away: it is so
//	RolledBack           the notes are undone, newest first: a table created in the
//	                     transaction is missing again, a dropped one is back with its rows
//	Savepoint, Release   a mark among the notes; RolledBackTo undoes down to it and keeps it
//	Invalidate           something happened that the pool did not see (DISCARD, foreign DDL, a
//	                     borrowed connection, an error after which nobody knows whether COMMIT
//	                     came through): before the next use the server is asked what exists
//	(connection lost)    the pool is kept with the connection and dies with it
//
// The pool says what to send and receives the results; it does not talk to a server itself. platform/data/database's
// Work does, and is the interface for other packages.
package temptable
