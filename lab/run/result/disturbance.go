package result

import "plimsoll/lab/host/neighbours"

// Disturbance is the other work of the machine and the database during the steady state. Null means unknown.
type Disturbance struct {
	// Others is the processor time of processes outside the system and the lab, as a share of all cores.
	Others *float64    `json:"others"`
	Who    []Neighbour `json:"who,omitempty"` // most first
	// Unattributed: not all processes of the system are known, so the others may include some of its own.
	Unattributed bool     `json:"unattributed,omitempty"`
	Steal        *float64 `json:"steal"`        // share of all cores that the hypervisor gave to others
	Throttled    *float64 `json:"throttled"`    // share of the time in which a quota withheld the processor
	MemoryStall  *float64 `json:"memory_stall"` // share of the time in which some process waited for memory
	// Loads are other loads of Plimsoll on the same database.
	Loads []string `json:"loads,omitempty"`
	// Active sessions of other applications on the same database, on average.
	Sessions []NeighbourSessions `json:"sessions,omitempty"`
	// Limit is the share beyond which the run is not valid; 0: no check.
	Limit float64 `json:"limit"`
}

// Neighbour is all processes of one name.
type Neighbour = neighbours.Neighbour

// NeighbourSessions are those of one application.
type NeighbourSessions struct {
	Application string  `json:"application"`
	AtWork      float64 `json:"at_work"`
}
