package replay

// Fidelity says how true a replay was.
type Fidelity struct {
	Read     int64 `json:"statements_read"`
	Replayed int64 `json:"statements_replayed"`
	Sessions int   `json:"sessions"`
	// LeftOut statements by reason: read = replayed + these.
	LeftOut  map[string]int64 `json:"left_out"`
	Examples []string         `json:"left_out_examples"`
	// Errors: alike ended as in the log; new ones failed here alone, missing ones there alone, others differently.
	Alike    int64            `json:"errors_alike"`
	New      map[string]int64 `json:"errors_new"` // by SQLSTATE
	Missing  map[string]int64 `json:"errors_missing"`
	Other    map[string]int64 `json:"errors_other"`
	Messages []string         `json:"error_examples"`
	// Late is how long after its time a statement began.
	LateMS *Lateness `json:"late_ms"` // null: as fast as possible there is no time
	// OtherRole sessions were played as the role of --dsn: theirs is not there, or may not be taken.
	OtherRole int `json:"sessions_as_another_role"`
	// RowsCompared: the log says how many rows statements returned or changed, as a technological log does.
	RowsCompared bool     `json:"rows_compared"`
	Rows         Rows     `json:"rows"`
	RowExamples  []string `json:"row_examples"`
	// As in the log: statements that were replayed, failed as there or not, and had as many rows, where it says so.
	Same int64 `json:"statements_as_in_the_log"`
	// InOrder statements began when all had ended that had ended before they began in the log.
	InOrder int64 `json:"statements_in_order"`
	// ClockTickMS is how coarse the log's clock is; null: a millisecond or finer, or too little to say.
	ClockTickMS *float64 `json:"clock_tick_ms"`
	// Calls of a technological log; zero of other logs.
	Calls Calls `json:"calls"`
	// Managed locks of a 1C server lie in its memory: a replay takes none.
	Managed ManagedLocks `json:"managed_locks"`
	// Unnumbered sessions: the log never says their number on the server, so they were told apart by their client.
	Unnumbered int `json:"sessions_without_number"`
	// MaskedInBase are the values of the base that were masked first.
	MaskedInBase int64 `json:"values_masked_in_base"`
	// Found values of the log that came from answers, such as ids, and how often they were bound to those of here.
	Found int64 `json:"values_from_answers"`
	Bound int64 `json:"values_bound_anew"`
	// Made boundaries of transactions: the log has no statement of them and tells them by Trans.
	Made int64 `json:"transaction_boundaries_made"`
}

// Rows of statements that ended well there and here.
type Rows struct {
	Compared int64 `json:"compared"`
	Equal    int64 `json:"equal"`
}

// Calls of a technological log that have statements.
type Calls struct {
	Read int64 `json:"read"`
	// Same: all of their statements were as in the log.
	Same int64 `json:"as_in_the_log"`
}

// ManagedLocks in the log.
type ManagedLocks struct {
	Locks     int64 `json:"locks"`
	Waits     int64 `json:"waits"`
	Timeouts  int64 `json:"timeouts"`
	Deadlocks int64 `json:"deadlocks"`
}

// Lateness of statements in milliseconds.
type Lateness struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// FaithfulFrom is the share of statements as in the log from which a replay is called faithful.
const FaithfulFrom = 0.995

// Share of the statements that were replayed.
func (f Fidelity) Share() float64 { return share(f.Replayed, f.Read) }

// AsInTheLog is the share of all statements read that were replayed, failed as there or not, and had as many rows.
func (f Fidelity) AsInTheLog() float64 { return share(f.Same, f.Read) }

// Faithful says whether a replay may stand for the log.
func (f Fidelity) Faithful() bool { return f.AsInTheLog() >= FaithfulFrom }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
