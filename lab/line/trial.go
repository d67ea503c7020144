package line

import (
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// Outcome of a trial.
type Outcome string

const (
	Passes Outcome = "passes"
	// Fails: the whole interval of its score lies below the target, or it never became steady.
	Fails Outcome = "fails"
	// Undecided: the score lies below the target, but its interval reaches it.
	Undecided Outcome = "undecided"
	Unsteady  Outcome = "unsteady" // it passes, but its queue keeps growing
	Void      Outcome = "void"     // the run is not valid, and the system is not to blame
)

// Purpose of a trial.
type Purpose string

const (
	Coarse  Purpose = "coarse"
	Bisect  Purpose = "bisect"
	Confirm Purpose = "confirm"
	Beyond  Purpose = "beyond" // the failed number again, so that the upper end rests on several trials
	Longer  Purpose = "longer" // repeated longer, because it passed without being steady
)

// Trial is one run of the search.
type Trial struct {
	Users   int     `json:"users"`
	Purpose Purpose `json:"purpose"`
	Longer  int     `json:"longer"`          // how often the length was doubled
	Again   int     `json:"again,omitempty"` // void trials that this one repeats
	Seed    uint64  `json:"seed"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"` // reason for not passing

	Run        string          `json:"run"` // id in the store of runs
	Started    time.Time       `json:"started_at"`
	DurationS  float64         `json:"duration_s"`
	TookS      float64         `json:"took_s"` // including reset, login, ramp, drain and audit
	Apdex      *float64        `json:"apdex"`
	Interval   *apdex.Interval `json:"interval"`
	Operations int64           `json:"ops"`
	Failed     int64           `json:"failed"`
	Overload   int64           `json:"overload"`
	OpsPerS    float64         `json:"ops_per_s"`
	Valid      bool            `json:"valid"`
	// GeneratorLate: not valid because the generator fell behind.
	GeneratorLate bool       `json:"generator_late"`
	Short         bool       `json:"too_short,omitempty"` // not valid because of too few operations alone
	CPU           result.CPU `json:"cpu"`
	LagMSP99      float64    `json:"lag_ms_p99"`
	InFlight      int        `json:"in_flight_max"`
	// LatencyMSP50 is the mean of the medians of all key operations, weighted by their counts; null without answers.
	LatencyMSP50 *float64 `json:"latency_ms_p50,omitempty"`
	// LatencyMSMean of all answers; null without answers.
	LatencyMSMean *float64 `json:"latency_ms_mean,omitempty"`
	// AllPerS is all operations that ended in a second, valid or not; OpsPerS counts valid ones.
	AllPerS *float64 `json:"all_per_s,omitempty"`
	Drift   Drift    `json:"drift"`
	Waits   Waits    `json:"waits"`
	// Findings are what took a good part of the operations' time, the largest first.
	Findings []result.TimeCause `json:"findings,omitempty"`
}

// Drift of the operations under way over the steady state. By Little's law their number is throughput times latency; in
// a steady state it has no trend.
type Drift struct {
	Growth float64 `json:"growth"` // last third to first third
	P      float64 `json:"p"`      // probability of as strong a rise by chance (Mann-Kendall); 1 with too little data
}

// Limits of the trend in a steady state.
const (
	driftP      = 0.01
	driftGrowth = 1.25
)

// Worsening says whether the queue was growing when the trial ended.
func (d Drift) Worsening() bool { return d.P < driftP && d.Growth > driftGrowth }

// For says why the trial was made, and whether it is a repetition.
func (t Trial) For() string {
	if t.Again == 0 {
		return string(t.Purpose)
	}
	return string(t.Purpose) + ", again"
}

// decide turns an unsteady trial that cannot be lengthened into a failure.
func (t *Trial) decide() {
	if t.Outcome == Unsteady && t.Longer >= lengthenMost {
		t.Outcome, t.Why = Fails, "never steady: the queue grew until the end"
	}
}

// lengthenMost is how often a trial is doubled: to four times the length at most.
const lengthenMost = 2
