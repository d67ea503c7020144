package live

import (
	"time"

	"plimsoll/lab/load/apdex"
)

// Plan is what is known of a run at its start.
type Plan struct {
	ID         string      `json:"id"`
	Title      string      `json:"title,omitempty"`
	Scenario   string      `json:"scenario"`
	Operations []Operation `json:"operations"`
	Users      int         `json:"users"`
	UsersMost  int         `json:"users_most"` // that the user may set
	Open       bool        `json:"open"`       // users are sessions for open arrivals: their number is not the load
	RatePerS   float64     `json:"rate_per_s,omitempty"`
	RampS      float64     `json:"ramp_s"`
	SteadyS    float64     `json:"steady_s"`
	Cores      int         `json:"cores"`
	LagLimitMS float64     `json:"lag_limit_ms"`
	Classes    []string    `json:"classes"` // of Database.Classes
}

// Operation is one key operation.
type Operation struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	TargetMS float64       `json:"target_ms"`
	Priority int           `json:"priority"`
	Target   time.Duration `json:"-"`
}

// State of the run.
type State struct {
	Phase    string  `json:"phase"`
	ElapsedS float64 `json:"elapsed_s"`
	LeftS    float64 `json:"left_s"` // estimate until the result
	LoggedIn int     `json:"logged_in"`
	Wanted   int     `json:"wanted"` // users: as planned, or set by the user
	Paused   bool    `json:"paused"`
	ByUser   bool    `json:"by_hand"` // the load was changed
	// Operations due in the steady state that have ended.
	Ops        int64           `json:"ops"`
	Failed     int64           `json:"failed"`
	Apdex      *float64        `json:"apdex"`
	Band       apdex.Band      `json:"band"`
	Interval   *apdex.Interval `json:"interval"`
	Operations []Zones         `json:"operations"`
	Result     *Result         `json:"result"` // null while the run lasts
}

// LoadEnded: the users have gone, so what they did in the last seconds is not a rate any more.
func (s State) LoadEnded() bool { return s.Phase == "audit" || s.Phase == "done" }

// Result is the end of the run.
type Result struct {
	ID         string     `json:"id"`
	Error      string     `json:"error,omitempty"` // there is no result
	Valid      bool       `json:"valid"`
	Reasons    []string   `json:"reasons"` // reasons against validity, and warnings
	Apdex      *float64   `json:"apdex"`
	Band       apdex.Band `json:"band"`
	OpsPerS    float64    `json:"ops_per_s"`
	Ops        int64      `json:"ops"`
	Audit      string     `json:"audit"`
	Report     string     `json:"report"`      // path of the file
	ReportHere bool       `json:"report_here"` // the dashboard stays open and serves the report
}

// Entry of the log.
type Entry struct {
	N    int64     `json:"n"`
	Time time.Time `json:"time"`
	AtS  *float64  `json:"at_s"` // since the start of the ramp; null before it
	Tone Tone      `json:"tone"`
	Text string    `json:"text"`
}

// Tone of an entry.
type Tone string

const (
	Note   Tone = "note"
	ByUser Tone = "hand"  // the user changed the load
	Alarm  Tone = "alarm" // a problem of the run or its system
)
