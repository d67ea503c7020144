// Package warehouse owns the documents of goods that nobody buys or sells: what is used up, what is found, and what is
// carried into cells and out of them.
package warehouse
