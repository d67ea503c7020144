package result

// Cause of a reason against a run: whether the system that was under load is to blame.
type Cause string

const (
	BySystem    Cause = "system"    // it did not carry the load
	ByGenerator Cause = "generator" // the load was not the one asked for
	// something crashed, was lost, or slept: not the same system before and after
	ByAccident Cause = "accident"
	// others took processors, memory or the database
	ByDisturbance Cause = "disturbance"
	ByFewness     Cause = "few" // too little was measured
	ByHand        Cause = "hand"
	ByBooks       Cause = "books" // which are wrong, or were not audited
)
