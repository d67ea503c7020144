package result

// Reconciliation compares what the server acknowledged with what the database has.
type Reconciliation struct {
	Done  bool         `json:"done"`
	Rows  []Reconciled `json:"rows"`
	Error string       `json:"error,omitempty"` // why it could not be done
}

// Reconciled is one thing that was counted on both sides: the database must have what was acknowledged, and may have of
// the unknown.
type Reconciled struct {
	What         string `json:"what"`
	Acknowledged int64  `json:"acknowledged"`
	Unknown      int64  `json:"unknown"` // no answer said whether it was carried out
	Found        int64  `json:"found"`
	// Lost: an agent that may have done more of it was lost. Acknowledged is what had been reported; what it did since
	// its last report, and after it was given up, nobody can bound.
	Lost bool `json:"lost,omitempty"`
}

// Differs says that neither what was acknowledged nor the unknown explains what was found.
func (r Reconciled) Differs() bool {
	return r.Found < r.Acknowledged || !r.Lost && r.Found > r.Acknowledged+r.Unknown
}
