// Package result owns what is known after a run: one tree that is the JSON of
// `plimsoll run --json`, the stored run, and the source of the text table and the
// HTML report. Names once published stay; what was not measured is null, never 0.
package result

import (
	"time"

	"plimsoll/lab/load/apdex"
)

// Schema names the form of the JSON. It grows by adding names; a change that
// breaks readers counts up.
const Schema = "plimsoll.run/1"

// Result is one run.
type Result struct {
	Schema   string    `json:"schema"`
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`

	// Valid says whether the figures may be quoted; every reason against it is listed.
	Valid          bool     `json:"valid"`
	InvalidReasons []string `json:"invalid_reasons"`
	// InvalidCauses names the cause of each reason.
	InvalidCauses []Cause `json:"invalid_causes,omitempty"`
	// Warnings name what the score hides although it may be quoted: key operations that never got a valid answer.
	Warnings []string `json:"warnings,omitempty"`
	// Gates are conditions under which the run fails, and what became of them.
	Gates []Gate `json:"gates,omitempty"`
	// Interrupted: stopped by the user; the figures cover the time until then.
	Interrupted bool `json:"interrupted"`

	Users int `json:"users"`
	// DurationS is the measured steady state, without ramp and drain.
	DurationS float64 `json:"duration_s"`
	Totals
	// OpsPerS is valid answers (ok and refused by a control) that arrived in the
	// steady state, per second of it.
	OpsPerS float64 `json:"ops_per_s"`
	// AllPerS is all operations that ended in the steady state, valid or not, per second of it.
	AllPerS *float64 `json:"all_per_s,omitempty"`
	// Standstills are times of the steady state in which users waited and nobody got a valid answer; Availability is
	// the rest, as a share.
	Standstills  []Standstill `json:"standstills,omitempty"`
	Availability *float64     `json:"availability,omitempty"`
	// OpsPerSInterval is its 95 % interval; null where the steady state was too short.
	OpsPerSInterval *Range `json:"ops_per_s_interval,omitempty"`
	// Apdex over all key operations, weighted by priority. Null if nothing was measured or the books are wrong: such a
	// run has no score.
	Apdex    *float64        `json:"apdex"`
	Band     apdex.Band      `json:"band"`
	Interval *apdex.Interval `json:"interval"`
	// RefusedShare of the valid answers were refusals by controls; null without valid answers.
	RefusedShare *float64 `json:"refused_share,omitempty"`
	// IntervalBasis is what all intervals are computed from; null if the steady state was too short, so that intervals
	// of the score treat operations as independent.
	IntervalBasis *IntervalBasis `json:"interval_basis,omitempty"`

	Operations []Operation `json:"operations"`
	// Stages of the load, where it has any.
	Stages []Stage `json:"stages,omitempty"`
	Cost   Cost    `json:"cost"`
	// Memory after the warm-up; empty if the steady state was too short.
	Memory []Memory `json:"memory,omitempty"`
	// Footprints of the generator, the workers and the database; absent in older results.
	Footprints []Footprint `json:"footprints,omitempty"`
	Generator  Generator   `json:"generator"`
	// Disturbance is what else ran during the run; null in older results.
	Disturbance *Disturbance `json:"disturbance,omitempty"`
	// Diagnosis of the database under the load; null without a database, and in older results.
	Diagnosis *Diagnosis `json:"diagnosis,omitempty"`
	Audit     Audit      `json:"audit"`
	// AuditBefore is the check before the load; absent if there was none.
	AuditBefore *Audit `json:"audit_before,omitempty"`
	// Reconciliation of what was acknowledged with what is in the database; absent if nothing can be compared.
	Reconciliation *Reconciliation `json:"reconciliation,omitempty"`
	Conditions     Conditions      `json:"conditions"`
	Events         []Event         `json:"events"`
	Series         Series          `json:"series"`
}

// Totals are operations that were due in the steady state, by how they ended:
// ops = ok + refused + errors + overload.
type Totals struct {
	Ops      int64 `json:"ops"`
	OK       int64 `json:"ok"`
	Refused  int64 `json:"refused"`  // by a business control: a valid answer
	Errors   int64 `json:"errors"`   // no valid answer, timeouts among them
	Overload int64 `json:"overload"` // the server said it is too busy
	// Resent are requests sent again because their connection was lost, whatever their outcome; the extra time is
	// in the latency. Older results lack it.
	Resent int64 `json:"resent"`
	// Retried are operations whose transaction was done again after a serialization failure or a deadlock, Retries how
	// often that was; all tries are in the latency. Absent where there were none.
	Retried int64 `json:"retried,omitempty"`
	Retries int64 `json:"retries,omitempty"`
}

// Operation is one key operation over the steady state.
type Operation struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	TargetMS float64 `json:"target_ms"` // T
	Priority int     `json:"priority"`  // 1 counts most: a sample weighs 1/priority in the overall score
	Weight   float64 `json:"weight"`    // share in the mix, 0..1
	// Least is how many valid answers the scenario asks for; with fewer the run is not valid. 0: any number.
	Least int64 `json:"least,omitempty"`
	Totals
	apdex.Counts
	Apdex    *float64        `json:"apdex"`
	Band     apdex.Band      `json:"band"`
	Interval *apdex.Interval `json:"interval"`
	// LatencyAll are the percentiles of all operations from the moment the user was due, with failed ones as the
	// longest: null if a percentile is a failed one. Stored results without latency_answered_ms have that under this
	// name, and are read so (former.go).
	LatencyAll *Latency `json:"latency_ms"`
	// Latency of answered operations alone, with mean and standard deviation.
	Latency Latency `json:"latency_answered_ms"`
	// LatencyRepeated is latency_ms under the name that it had while latency_ms was that of answered operations.
	LatencyRepeated *Latency `json:"latency_all_ms,omitempty"`
	// P95OfTarget is the p95 of all operations as a share of T: what is left up to 1 is headroom, within which the
	// score cannot fall. Absent if the p95 is a failure, and in older results.
	P95OfTarget *float64 `json:"p95_of_target,omitempty"`
	// LatencyAllIntervals are the 95 % intervals of all operations, LatencyIntervals those of answered ones; absent if
	// the steady state was too short.
	LatencyAllIntervals *LatencyIntervals `json:"latency_ms_intervals,omitempty"`
	LatencyIntervals    *LatencyIntervals `json:"latency_answered_ms_intervals,omitempty"`
	// OwnWait is the generator's own part of the latency; older results lack it.
	OwnWait *OwnWait `json:"own_wait,omitempty"`
	// Ledger is where its time went: it adds up to that of its answered operations. Absent where nothing is known.
	Ledger []LedgerLine `json:"ledger,omitempty"`
	// Statements that took most of its time in the database, with their plans. Absent where nothing is known.
	Statements []Statement `json:"statements,omitempty"`
	// HistogramT counts answered operations in units of T: 0-T, T-2T, 2T-3T, 3T-4T, >4T.
	HistogramT apdex.Histogram `json:"histogram_t"`
	// RefusedShare of the valid answers were refusals; RefusedExpected is what the scenario expects.
	RefusedShare    *float64 `json:"refused_share,omitempty"`
	RefusedExpected float64  `json:"refused_expected"`
	// Instead counts the operations carried out in place of this one, which had nothing to act on; they are counted as
	// what they are. InsteadShare is their share of the times when this one was chosen; absent where it was never
	// chosen.
	Instead      map[string]int64 `json:"instead,omitempty"`
	InsteadShare *float64         `json:"instead_share,omitempty"`
	// ErrorTexts are the most frequent errors with their counts.
	ErrorTexts []ErrorText `json:"error_texts,omitempty"`
}

// LatencyOrAnswered is that of all operations; older results have only that of answered ones.
func (op Operation) LatencyOrAnswered() Latency {
	if op.LatencyAll == nil {
		return op.Latency
	}
	return *op.LatencyAll
}

// Refusals as a share of the valid answers; nil if there are none.
func (t Totals) Refusals() *float64 {
	if t.OK+t.Refused == 0 {
		return nil
	}
	share := float64(t.Refused) / float64(t.OK+t.Refused)
	return &share
}

// OwnWait is how long operations waited for the generator: to be sent, and for a connection of its pool.
type OwnWait struct {
	MeanMS     float64 `json:"mean_ms"`
	MaxMS      float64 `json:"max_ms"`
	PoolMeanMS float64 `json:"pool_mean_ms"` // the part of the mean for the pool
}

// Standstill is from when to when, since the start of the ramp.
type Standstill struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
}

// BrokenFrom is the number of tries from which an operation without a valid answer did not fail by chance.
const BrokenFrom = 10

// Unanswered lists the key operations that never got a valid answer in at least so many tries.
func (r *Result) Unanswered(least int64) (all []Operation) {
	for _, op := range r.Operations {
		if op.Ops >= least && op.OK+op.Refused == 0 {
			all = append(all, op)
		}
	}
	return all
}

// Failing is the most frequent error of the operation, after a colon; empty: none is known.
func (op Operation) Failing() string {
	if len(op.ErrorTexts) == 0 {
		return ""
	}
	return ": " + op.ErrorTexts[0].Text
}

// Latency is percentiles in milliseconds, of merged counts; null without answers.
type Latency struct {
	P50 *float64 `json:"p50"`
	P95 *float64 `json:"p95"`
	P99 *float64 `json:"p99"`
	Max *float64 `json:"max"`
	// Mean and StdDev of answered operations, as pgbench has them.
	Mean   *float64 `json:"mean,omitempty"`
	StdDev *float64 `json:"stddev,omitempty"`
}

// ErrorText is one message and how often it was seen.
type ErrorText struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
	// SQLState of the error; empty: not an error of the database.
	SQLState string `json:"sqlstate,omitempty"`
}

// Generator is how well the load itself was generated.
type Generator struct {
	// CPUShare of all the machine's cores in the steady state, 0..1.
	CPUShare *float64 `json:"cpu_share"`
	// Lag is how late operations were sent after their user was due.
	LagMSP50 float64 `json:"lag_ms_p50"`
	LagMSP99 float64 `json:"lag_ms_p99"`
	LagMSMax float64 `json:"lag_ms_max"`
	// UsersBytes is live memory per user, session and share of the connections, an estimate; null: too few users.
	// Without footprints, in older results, it is all live memory of the run divided by its users.
	UsersBytes *float64 `json:"users_bytes"`
	InFlight   int      `json:"in_flight_max"` // most operations under way at once
	Backlog    int      `json:"backlog_max"`   // most operations that were due without a free slot at once
	// Agents that generated the load instead of this process; CPUShare is then that of the machine whose generators
	// were the busiest.
	Agents []Agent `json:"agents,omitempty"`
}

// Audit is the check of the books after the run.
type Audit struct {
	// None: the run had no ERP and so no books; nothing says whether fast answers were also right.
	None       bool      `json:"none,omitempty"`
	Done       bool      `json:"done"`
	Clean      bool      `json:"clean"`
	Mode       string    `json:"mode,omitempty"` // all, or changed since the clean point of the books
	Checks     int       `json:"checks"`
	Violations int       `json:"violations"`
	Findings   []Finding `json:"findings"`
	DurationS  float64   `json:"duration_s"`
	Error      string    `json:"error,omitempty"` // why it could not be done
}

// Finding is one violation of the books.
type Finding struct {
	Check  string `json:"check"`
	Detail string `json:"detail"`
}

// Event is something worth knowing that happened during the run.
type Event struct {
	AtS  float64 `json:"at_s"` // since the start of the ramp
	Text string  `json:"text"`
}

// ValueOrZero is a figure, or 0 if there is none.
func ValueOrZero(figure *float64) float64 {
	if figure == nil {
		return 0
	}
	return *figure
}
