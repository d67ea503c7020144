package result

// Agent is one of the processes that generated the load together.
type Agent struct {
	Name  string `json:"name"`  // its number in the run, from 1, and its machine
	Host  string `json:"host"`  // name of its machine
	Boot  string `json:"boot"`  // tells machines apart, whatever their names
	PID   int    `json:"pid"`   // there
	Cores int    `json:"cores"` // of its machine
	Users int    `json:"users"`
	// CPUShare of all cores of its machine in the steady state, 0..1; null if it was lost before it could report.
	CPUShare *float64 `json:"cpu_share"`
	LagMSP99 float64  `json:"lag_ms_p99"`
	LagMSMax float64  `json:"lag_ms_max"`
	// UsersBytes is memory per own user, as that of the generator; null as above, and with too few users.
	UsersBytes *float64 `json:"users_bytes"`
	// ClockOffsetMS is how far its clock was ahead of the coordinator's, ClockErrorMS the uncertainty of that.
	ClockOffsetMS float64 `json:"clock_offset_ms"`
	ClockErrorMS  float64 `json:"clock_error_ms"`
	// LostAtS is when it was lost, since the start of the ramp; null: never.
	LostAtS *float64 `json:"lost_at_s"`
}
