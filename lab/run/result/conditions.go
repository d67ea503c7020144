package result

import "plimsoll/ground/host/machine"

// Conditions are everything that the figures depend on.
type Conditions struct {
	Machine machine.Machine `json:"machine"` // where the generator ran
	Engine  Engine          `json:"engine"`
	Workers []Worker        `json:"workers"`
	Load    Load            `json:"load"`
	CPU     CPU             `json:"cpu"`
	Scale   string          `json:"scale,omitempty"` // of the base, in words
	Profile string          `json:"profile,omitempty"`
	// of the ERP, as reported by its workers: classic, tuned, lean, with the tweaks
	Shape    string `json:"shape,omitempty"`
	Software string `json:"software"` // version of Plimsoll
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

// Load describes the users' work.
type Load struct {
	Model    string    `json:"model"`              // closed, or open
	Arrivals *Arrivals `json:"arrivals,omitempty"` // of the open model
	Scenario *Scenario `json:"scenario,omitempty"`
	// Profile is the frozen load of the ERP that this one follows; absent without the ERP and in older results.
	Profile *Profile     `json:"profile,omitempty"`
	Roles   []Role       `json:"roles,omitempty"`
	Day     [][2]float64 `json:"day,omitempty"` // pace: fraction of the steady state 0..1, level
	// over all roles: mean of the means, largest cap; closed model only
	Think     *Think             `json:"think,omitempty"`
	RampS     float64            `json:"ramp_s"`
	DurationS float64            `json:"duration_s"`  // as asked for
	TimeoutS  float64            `json:"timeout_s"`   // of one operation
	LagLimitS float64            `json:"lag_limit_s"` // limit of the p99 of the generator's lag
	Seed      uint64             `json:"seed"`
	Mix       map[string]float64 `json:"mix"` // share of each operation, 0..1
	// Changes by the user during the run; the run is then not the one requested.
	Changes []Change `json:"changes,omitempty"`
}

// Scenario names the source of the load. Equal digests mean equal scenarios, whatever their names.
type Scenario struct {
	Name        string  `json:"name"`
	Digest      string  `json:"digest"`
	Title       string  `json:"title,omitempty"`
	Application string  `json:"application"` // erp, or none
	Refused     float64 `json:"refused"`     // share of sales that the stock control must refuse
	Backdated   float64 `json:"backdated"`   // share of the documents with a date in the past
	// How custom SQL was sent; empty without any.
	Protocol    string `json:"protocol,omitempty"`
	Connections int    `json:"connections,omitempty"` // shared by the users
	Session     string `json:"session,omitempty"`     // user: each has one; absent: they share the connections
	// How custom requests were sent; absent without any, and in older results.
	HTTP *HTTP `json:"http,omitempty"`
}

// HTTP is how users reach a web application.
type HTTP struct {
	Version     string `json:"version"`     // 1.1, 2
	Connections string `json:"connections"` // shared by all, of each user, or as many as a browser has
}

// Profile is a mix with targets and think times that never changes, so that figures of the same profile can be
// compared.
type Profile struct {
	Name string `json:"name"`
	// Changes are all ways in which the load differs from it; none: it is that load.
	Changes []string `json:"changes,omitempty"`
}

// Arrivals of the open model: the users are sessions that take the operations in turn.
type Arrivals struct {
	Spacing  string  `json:"spacing"` // poisson, constant
	RatePerS float64 `json:"rate_per_s"`
}

// Change of the load by the user: the new values.
type Change struct {
	AtS    float64 `json:"at_s"` // since the start of the ramp
	Users  int     `json:"users"`
	Paused bool    `json:"paused"`
}

// Role is a group of users with the same work.
type Role struct {
	Name  string `json:"name"`
	Users int    `json:"users"`
	Think *Think `json:"think,omitempty"` // closed model only
}

// Think is the time a user thinks between an answer and the next operation.
type Think struct {
	Distribution string  `json:"distribution"` // lognormal, exponential, constant; mixed where roles differ
	MeanS        float64 `json:"mean_s"`
	CapS         float64 `json:"cap_s"`
}

// Shares of all the machine's cores in the steady state, 0..1; null if the process is not on this machine.
type CPU struct {
	Generator *float64 `json:"generator"`
	Workers   *float64 `json:"workers"`
	Database  *float64 `json:"database"`
	Machine   *float64 `json:"machine"` // all processes, including unrelated ones
	Steal     *float64 `json:"steal"`   // taken by the hypervisor
}
