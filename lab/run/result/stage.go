package result

// Stage is a part of the steady state with its own load. An operation counts in the stage in which it ended.
type Stage struct {
	FromS float64 `json:"from_s"` // since the start of the ramp
	ToS   float64 `json:"to_s"`
	RampS float64 `json:"ramp_s,omitempty"` // its first part, in which the load goes over from the stage before
	// Users are active, or operations arrive at a rate: the other is absent.
	Users    *int     `json:"users,omitempty"`
	RatePerS *float64 `json:"rate_per_s,omitempty"`
	Ops      int64    `json:"ops"`
	Failed   int64    `json:"failed"`    // errors and overload
	OpsPerS  float64  `json:"ops_per_s"` // valid answers
	Apdex    *float64 `json:"apdex"`     // all operations, equal priorities; null: nothing ended
	P50MS    *float64 `json:"p50_ms"`    // of all, as in latency_ms
	P95MS    *float64 `json:"p95_ms"`
	P99MS    *float64 `json:"p99_ms"`
}
