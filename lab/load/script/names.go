package script

// Variables that every user starts with, as pgbench's clients do.
const (
	ClientID    = "client_id"    // the user's number, from 0
	DefaultSeed = "default_seed" // of hash functions and permute without a seed
	RandomSeed  = "random_seed"  // of the run
)
