package claims

import "time"

// Finding is the result of an experiment.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	// Answers make the verdict; nil in findings of before, whose words meant something else.
	Answers    *Answers    `json:"answers,omitempty"`
	Measured   string      `json:"measured"` // one line, with spread
	Figures    []Figure    `json:"figures"`
	Conditions []Condition `json:"conditions"`
	// Partial: stopped by the user before all repetitions were made.
	Partial bool `json:"partial,omitempty"`
	// Engines have a verdict each where the engine changes the answer. The first one's is Verdict.
	Engines []EngineVerdict `json:"engines,omitempty"`
	// Chart of the figures, if there is one to draw.
	Chart *Chart `json:"chart,omitempty"`
}

// EngineVerdict is the verdict for one engine: a column of the proof.
type EngineVerdict struct {
	Engine  string   `json:"engine"` // stock, ours
	Verdict Verdict  `json:"verdict"`
	Answers *Answers `json:"answers,omitempty"`
	Why     string   `json:"why,omitempty"` // it is not confirmed
}

// Chart is drawn as lines over one quantity.
type Chart struct {
	Title string `json:"title"`
	X     string `json:"x"` // what the axis has, with its unit
	Y     string `json:"y"`
	Lines []Line `json:"lines"`
}

// Line of a chart.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"` // by X
}

// Point is the median of a figure and its range.
type Point struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
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

// Record is a stored finding: with its time, duration, machine and engine.
type Record struct {
	Claim    string    `json:"claim"`
	At       time.Time `json:"at"`
	TookS    float64   `json:"took_s"`
	Software string    `json:"software"` // version of Plimsoll
	Machine  Machine   `json:"machine"`
	Engine   string    `json:"engine"` // "PostgreSQL 18.6 plimsoll, patchset 3"
	// Command that measures it again; empty in findings of before.
	Command string `json:"command,omitempty"`
	Finding
}
