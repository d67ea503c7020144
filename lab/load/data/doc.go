// Package data owns the rows that key operations take their variables from: of a file in CSV or Parquet, of a query, or
// made by expressions.
//
// Which row a user takes depends on the seed, the user's number and how many rows this user has taken, and on nothing
// that the server does: a load that several generators share out takes the rows that one would take. Of n rows, users
// u = 0 … U−1 and takes k = 0, 1, …
//
//	random    one of the n by the user's own random numbers
//	sequence  (u + k·U) mod n
//	once      u + k·U, none from n on: no row is taken twice in a run
//	user      u mod n, always the same
//
// With shuffle the row is then mapped by a permutation that the seed decides.
package data
