package result

// Cause of a reason against a run: whether the system that was under load is to blame.
type Cause string

const (
	BySystem    Cause = "system"    // it did not bear the load
	ByGenerator Cause = "generator" // the load was not the one that was asked for
	ByAccident  Cause = "accident"  // something crashed, was lost, or slept: another system was measured before and after
	ByFewness   Cause = "few"       // too little was measured
	ByHand      Cause = "hand"
	ByBooks     Cause = "books" // which are wrong, or were not audited
)
