package claims

import "time"

// Finding is the result of an experiment.
type Finding struct {
	Verdict    Verdict     `json:"verdict"`
	Measured   string      `json:"measured"` // one line, with spread
	Figures    []Figure    `json:"figures"`
	Conditions []Condition `json:"conditions"`
	// Partial: stopped by the user before all repetitions were made.
	Partial bool `json:"partial,omitempty"`
}

// Figure is one measured quantity over the repetitions.
type Figure struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"`
	Values []float64 `json:"values"` // one per repetition
}

// Condition is something the figures depend on, mainly differences from the report.
type Condition struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Kept is a stored finding: with its time, duration, machine and engine.
type Kept struct {
	Claim    string    `json:"claim"`
	At       time.Time `json:"at"`
	TookS    float64   `json:"took_s"`
	Software string    `json:"software"` // version of Plimsoll
	Machine  Machine   `json:"machine"`
	Engine   string    `json:"engine"` // "PostgreSQL 18.6 plimsoll, patchset 3"
	Finding
}
