package line

import (
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"plimsoll/lab/apdex"
	"plimsoll/lab/result"
)

// Outcome of a trial.
type Outcome string

const (
	Passes   Outcome = "passes"
	Fails    Outcome = "fails"
	Unsteady Outcome = "unsteady" // it would pass, but gets worse all the time
	Void     Outcome = "void"     // the run is not valid, and the system is not to blame: it says nothing
)

// Trial is one run of the search.
type Trial struct {
	Users   int     `json:"users"`
	Purpose Purpose `json:"purpose"`
	Longer  int     `json:"longer"`          // doublings of the length
	Again   int     `json:"again,omitempty"` // void trials before this one, of which it is the repetition
	Seed    uint64  `json:"seed"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"` // it does not pass

	Run        string          `json:"run"` // its id in the store of runs
	Started    time.Time       `json:"started_at"`
	DurationS  float64         `json:"duration_s"`
	TookS      float64         `json:"took_s"` // with reset, login, ramp, drain and audit
	Apdex      *float64        `json:"apdex"`
	Interval   *apdex.Interval `json:"interval"`
	Operations int64           `json:"ops"`
	Failed     int64           `json:"failed"`
	Overload   int64           `json:"overload"`
	OpsPerS    float64         `json:"ops_per_s"`
	Valid      bool            `json:"valid"`
	Unmade     bool            `json:"load_unmade"`         // not valid because the generator fell behind
	Short      bool            `json:"too_short,omitempty"` // not valid because of too few operations alone
	CPU        result.CPU      `json:"cpu"`
	LagMSP99   float64         `json:"lag_ms_p99"`
	InFlight   int             `json:"in_flight_max"`
	Drift      Drift           `json:"drift"`
	Waits      Waits           `json:"waits"`
}

// Drift of the operations under way over the steady state. By Little's law their number is
// throughput times latency: in a steady state it has no trend.
type Drift struct {
	Growth float64 `json:"growth"` // last third to first third
	P      float64 `json:"p"`      // of as strong a rise by chance (Mann-Kendall); 1 where there is too little
}

// Limits of the drift that a steady state may have.
const (
	driftP      = 0.01
	driftGrowth = 1.25
	driftLeast  = 2.0 // operations: one more under way is no growth
	batches     = 12
)

// Worsening says whether the state was getting worse when the trial ended.
func (d Drift) Worsening() bool { return d.P < driftP && d.Growth > driftGrowth }

// trialOf judges a run.
func trialOf(r *result.Result, target float64) Trial {
	t := Trial{
		Users: r.Users, Run: r.ID, Started: r.Started, DurationS: r.DurationS,
		Apdex: r.Apdex, Interval: r.Interval, Operations: r.Ops, Failed: r.Errors, Overload: r.Overload, OpsPerS: r.OpsPerS,
		Valid: r.Valid, Unmade: slices.Contains(r.InvalidCauses, result.ByGenerator), Short: slices.Equal(r.InvalidCauses, []result.Cause{result.ByFewness}), CPU: r.Conditions.CPU, LagMSP99: r.Generator.LagMSP99, InFlight: r.Generator.InFlight,
		Drift: driftOf(r.Series), Outcome: Passes,
	}
	switch {
	case !r.Valid:
		if t.Outcome, t.Why = Fails, blame(r, target); t.Why == "" {
			t.Outcome, t.Why = Void, strings.Join(r.InvalidReasons, "; ")
		}
	case r.Apdex == nil || *r.Apdex < target:
		t.Outcome, t.Why = Fails, "Apdex below the target"
	case unanswered(r) != "":
		t.Outcome, t.Why = Fails, unanswered(r)
	case t.Drift.Worsening():
		t.Outcome, t.Why = Unsteady, "the queue grew until the end"
	}
	return t
}

// unanswered names an operation that never got a valid answer, which no score of the others makes good.
func unanswered(r *result.Result) string {
	for _, op := range r.Unanswered(result.BrokenFrom) {
		return op.ID + " never got a valid answer" + op.Failing()
	}
	return ""
}

// For is what the trial was made for, and whether it is a repetition.
func (t Trial) For() string {
	if t.Again == 0 {
		return string(t.Purpose)
	}
	return string(t.Purpose) + ", again"
}

// decide makes an unsteady trial that cannot be made longer a failure.
func (t *Trial) decide() {
	if t.Outcome == Unsteady && t.Longer >= lengthenMost {
		t.Outcome, t.Why = Fails, "never steady: the queue grew until the end"
	}
}

func driftOf(s result.Series) Drift {
	var inside []float64
	for i, at := range s.T {
		if at >= s.SteadyFromS && at+s.IntervalS <= s.SteadyToS+1e-9 {
			under := float64(s.InFlight[i])
			if i < len(s.Backlog) {
				under += float64(s.Backlog[i])
			}
			inside = append(inside, under)
		}
	}
	if len(inside) < batches {
		return Drift{Growth: 1, P: 1}
	}
	means := batchMeans(inside, batches)
	first, last := stat.Mean(means[:batches/3], nil), stat.Mean(means[batches-batches/3:], nil)
	d := Drift{Growth: last / math.Max(1, first), P: rising(means)}
	if last-first < driftLeast {
		d.Growth = math.Min(d.Growth, 1)
	}
	return d
}

func batchMeans(values []float64, n int) []float64 {
	means := make([]float64, n)
	for i := range means {
		means[i] = stat.Mean(values[i*len(values)/n:(i+1)*len(values)/n], nil)
	}
	return means
}

// rising is the chance of as many rises among all pairs without a trend: the Mann-Kendall
// test, in its normal approximation with ties (H. B. Mann, 1945; M. G. Kendall, 1975).
func rising(x []float64) float64 {
	n, s := float64(len(x)), 0.0
	for i := range x {
		for k := i + 1; k < len(x); k++ {
			switch {
			case x[k] > x[i]:
				s++
			case x[k] < x[i]:
				s--
			}
		}
	}
	variance := n * (n - 1) * (2*n + 5) / 18
	sorted := slices.Sorted(slices.Values(x))
	for i := 0; i < len(sorted); {
		k := i
		for k < len(sorted) && sorted[k] == sorted[i] {
			k++
		}
		tied := float64(k - i)
		variance -= tied * (tied - 1) * (2*tied + 5) / 18
		i = k
	}
	if variance <= 0 || s <= 0 {
		return 1
	}
	return math.Erfc((s-1)/math.Sqrt(variance)/math.Sqrt2) / 2
}
