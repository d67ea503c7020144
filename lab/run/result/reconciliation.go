package result

// Reconciliation compares what the server acknowledged with what is in the database.
type Reconciliation struct {
	Done  bool         `json:"done"`
	Rows  []Reconciled `json:"rows"`
	Error string       `json:"error,omitempty"` // why it could not be done
}

// Reconciled was counted on both sides: the database must have what was acknowledged, and may have what is unknown.
type Reconciled struct {
	What         string `json:"what"`
	Acknowledged int64  `json:"acknowledged"`
	Unknown      int64  `json:"unknown"` // no answer said whether it was carried out
	Found        int64  `json:"found"`
	// Lost: an agent that may have done more of it was lost. Acknowledged is what it had reported; what it did after
	// its last report cannot be bounded.
	Lost bool `json:"lost,omitempty"`
	// ByKey compares each single operation; absent where only counts can be compared, and in older results.
	ByKey *ByKey `json:"by_key,omitempty"`
}

// ByKey compares single operations by their idempotency keys: among counts a lost one and an unknown one that was
// carried out cancel out.
type ByKey struct {
	Missing    int64    `json:"missing"`            // acknowledged, and not there
	Unexpected int64    `json:"unexpected"`         // there, and refused, never sent or there twice
	Examples   []string `json:"examples,omitempty"` // keys of some of them
}

// Differs reports that neither what was acknowledged nor the unknown explains what was found.
func (r Reconciled) Differs() bool {
	return r.Found < r.Acknowledged || !r.Lost && r.Found > r.Acknowledged+r.Unknown ||
		r.ByKey != nil && r.ByKey.Missing+r.ByKey.Unexpected > 0
}
