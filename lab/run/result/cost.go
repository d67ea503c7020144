package result

// Cost is the database traffic of a run's operations. Latency depends on the machine; of these figures only processor
// time does.
type Cost struct {
	// Requests to the workers from the log-in to the end of the drain, by kind; null if no worker reported.
	Requests []Request `json:"requests"`
	// WALBytes is the log that the server wrote in the same time, per request, whoever wrote it.
	WALBytes *float64 `json:"wal_bytes_per_request"`
	// Processor time per answered operation of the steady state; null if the process is not on this machine.
	DatabaseMS *float64 `json:"database_cpu_ms_per_operation"`
	WorkersMS  *float64 `json:"workers_cpu_ms_per_operation"`
}

// Request is one kind of request; all but its counts are means over Count.
type Request struct {
	ID      string `json:"id"`
	Count   int64  `json:"count"`
	Refused int64  `json:"refused"`
	Failed  int64  `json:"failed"` // overload and errors

	Statements float64 `json:"statements"`
	RoundTrips float64 `json:"round_trips"`
	Rows       float64 `json:"rows"` // written, in temp tables too
	TempTables float64 `json:"temp_tables"`
	Truncates  float64 `json:"truncates"`
	Retries    float64 `json:"retries"`
	// EmptyShare of the temp tables, 0..1; null without any.
	EmptyShare *float64 `json:"empty_share"`
	// WALBytes is the log that its sessions in the database wrote, the mean of the Traced requests; absent if the
	// workers traced none, or PostgreSQL is older than 18.
	WALBytes *float64 `json:"wal_bytes,omitempty"`
	Traced   int64    `json:"traced,omitempty"`
}
