package result

// Series is the run over time, by column: equal lengths, one entry per interval, from the start of the ramp to the end
// of the drain. An operation counts in the interval in which it ended.
type Series struct {
	IntervalS   float64    `json:"interval_s"`
	SteadyFromS float64    `json:"steady_from_s"`
	SteadyToS   float64    `json:"steady_to_s"`
	T           []float64  `json:"t"` // start of the interval, seconds
	Users       []int64    `json:"users"`
	OK          []int64    `json:"ok"`
	Refused     []int64    `json:"refused"`
	Errors      []int64    `json:"errors"`
	Overload    []int64    `json:"overload"`
	Apdex       []*float64 `json:"apdex"` // all operations, equal priorities
	// Percentiles of all operations, as in latency_ms; null where one is a failed operation, or nothing ended.
	P50MS    []*float64 `json:"p50_ms"`
	P95MS    []*float64 `json:"p95_ms"`
	P99MS    []*float64 `json:"p99_ms"`
	LagMSMax []float64  `json:"lag_ms_max"`
	InFlight []int64    `json:"in_flight"`
	Backlog  []int64    `json:"backlog,omitempty"` // most that were due and waited for a slot
	// Shares of all cores, 0..1.
	CPUGenerator []*float64 `json:"cpu_generator"`
	CPUWorkers   []*float64 `json:"cpu_workers"`
	CPUDatabase  []*float64 `json:"cpu_database"`
	CPUMachine   []*float64 `json:"cpu_machine"`
	// Bytes of private memory of all processes of a kind, at the end of the interval; absent in older results.
	MemoryGenerator []*float64 `json:"memory_generator,omitempty"`
	MemoryWorkers   []*float64 `json:"memory_workers,omitempty"`
	MemoryDatabase  []*float64 `json:"memory_database,omitempty"`
}
