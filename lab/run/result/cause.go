package result

// Cause says what made a run not valid: the measured system, or something else.
type Cause string

const (
	BySystem    Cause = "system"    // it did not carry the load
	ByGenerator Cause = "generator" // the load was not the one asked for
	// something crashed, was lost, or slept: not the same system before and after
	ByAccident Cause = "accident"
	// others used processors, memory or the database
	ByDisturbance Cause = "disturbance"
	ByFewness     Cause = "few" // too little was measured
	// the users did something else than the scenario says: there was nothing to act on, or an operation never came
	ByLoad  Cause = "load"
	ByUser  Cause = "hand"
	ByBooks Cause = "books" // they are wrong, or were not audited
)
