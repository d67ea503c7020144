package result

import "plimsoll/lab/machine"

// Conditions are what the figures depend on.
type Conditions struct {
	Machine  machine.Machine `json:"machine"` // where the generator ran
	Engine   Engine          `json:"engine"`
	Workers  []Worker        `json:"workers"`
	Load     Load            `json:"load"`
	CPU      CPU             `json:"cpu"`
	Scale    string          `json:"scale,omitempty"` // of the base, in words
	Profile  string          `json:"profile,omitempty"`
	Shape    string          `json:"shape,omitempty"` // of the ERP, as its workers say: classic, tuned, lean, with the tweaks
	Software string          `json:"software"`        // version of Plimsoll
}

// Engine is the database server.
type Engine struct {
	Version  string `json:"version"`
	Flavour  string `json:"flavour"`  // plimsoll when the server reports a patchset, else vanilla
	Patchset *int   `json:"patchset"` // null on a stock server
	// Local: the server runs on the generator's machine, so both share its cores.
	Local    bool              `json:"local"`
	Settings map[string]string `json:"settings"`
}

// Worker is one application-server process.
type Worker struct {
	URL     string `json:"url"`
	Started bool   `json:"started"` // by this run, as its child
}

// Load is what the users were told to do.
type Load struct {
	Model     string             `json:"model"` // closed
	Think     Think              `json:"think"`
	RampS     float64            `json:"ramp_s"`
	DurationS float64            `json:"duration_s"`  // as asked for
	TimeoutS  float64            `json:"timeout_s"`   // of one operation
	LagLimitS float64            `json:"lag_limit_s"` // p99 of the generator's lag beyond which a run is not valid
	Seed      uint64             `json:"seed"`
	Mix       map[string]float64 `json:"mix"` // share of each operation, 0..1
}

// Think is the time a user thinks between an answer and the next operation.
type Think struct {
	Distribution string  `json:"distribution"`
	MeanS        float64 `json:"mean_s"`
	CapS         float64 `json:"cap_s"`
}

// CPU shares of all the machine's cores in the steady state, 0..1; null where
// the process is not on this machine.
type CPU struct {
	Generator *float64 `json:"generator"`
	Workers   *float64 `json:"workers"`
	Database  *float64 `json:"database"`
	Machine   *float64 `json:"machine"` // everything that ran, other people's work too
	Steal     *float64 `json:"steal"`   // taken by the hypervisor
}
