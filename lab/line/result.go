package line

import (
	"fmt"
	"io"
	"slices"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/identity"
	"plimsoll/lab/line/usl"
	"plimsoll/lab/run/result"
	"plimsoll/lab/session"
	"plimsoll/lab/system"
)

// Schema is the version of the JSON. Only names are added.
const Schema = "plimsoll.line/1"

// Line is a search and its findings: the JSON of 'plimsoll line --json', and the source of the text and the page.
type Line struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	// Headline is the answer in a sentence.
	Headline string    `json:"statement"`
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`
	// Complete: no trial is left. Stopped: why the search ended early.
	Complete bool   `json:"complete"`
	Stopped  string `json:"stopped,omitempty"` // "by hand" is by the user; budget, or an error

	Plan   Plan    `json:"plan"`
	Answer *Answer `json:"answer"` // null while no number of users has passed
	Limit  *Limit  `json:"limit"`  // null while no number has failed
	// Unmeasured: a number of users whose trials stayed void; the answer's upper end is still a failure.
	Unmeasured *Unmeasured `json:"unmeasured,omitempty"`
	// Fit is the Universal Scalability Law through all valid trials; null if it is rejected, with the reason.
	Fit        *usl.Fit `json:"usl"`
	FitRefused string   `json:"usl_refused,omitempty"`

	Trials []Trial `json:"trials"`
	// Conditions are those of the last trial; load and processor time are its own.
	Conditions *result.Conditions `json:"conditions"`
}

// Plan holds what trials depend on; only trials of the same plan are combined.
type Plan struct {
	Target float64 `json:"target"`
	Bounds
	DurationS float64      `json:"duration_s"`
	RampS     float64      `json:"ramp_s"`
	TimeoutS  float64      `json:"timeout_s"`
	ThinkS    float64      `json:"think_s"` // mean over the roles
	Seed      uint64       `json:"seed"`
	Scenario  string       `json:"scenario"`
	Digest    string       `json:"scenario_digest"`
	Reset     system.Reset `json:"reset"`
	Workers   int          `json:"workers"`
	Profile   string       `json:"profile,omitempty"`
	// Configuration is the system's name if several are searched in turns.
	Configuration string `json:"configuration,omitempty"`
	Serve         string `json:"serve,omitempty"` // how workers are started: the shape of the ERP
	// URLs of the application that the trials use, if it ran before them.
	URLs []string `json:"urls,omitempty"`
	// Replay is what trials play instead of a load.
	Replay *Replayed `json:"replay,omitempty"`
	// Server and Program ran the trials; absent in older searches, and Server if no database is known.
	Server  *identity.Identity `json:"server,omitempty"`
	Program string             `json:"program,omitempty"`
}

// Fingerprint is equal for plans that were requested alike, whatever server and program ran the trials.
func (p Plan) Fingerprint() string {
	p.Server, p.Program = nil, ""
	return kept.Fingerprint(p)
}

// Answer is the load line.
type Answer struct {
	// Interval of the line from the outcomes of all trials: this is the answer. It takes into account that trials with
	// the same number of users may end differently.
	Interval *UsersInterval `json:"interval,omitempty"`
	// Users and Below are the bracket that the search ended with: most trials of Users passed, most of Below did not
	// (null: no number failed). Where trials of one number end differently the line need not lie within it.
	Users     int  `json:"users"`
	Below     *int `json:"below"`
	Confirmed int  `json:"confirmed"` // trials that repeated Users and passed
	// Throughput of the trials that passed with this number of users.
	OpsPerS    float64 `json:"ops_per_s"`
	OpsPerSMin float64 `json:"ops_per_s_min"`
	OpsPerSMax float64 `json:"ops_per_s_max"`
	ApdexMin   float64 `json:"apdex_min"`
	// AtUsers and AtBelow are the repeated trials at both ends.
	AtUsers *Repeats `json:"at_users,omitempty"`
	AtBelow *Repeats `json:"at_below,omitempty"`
}

// conclude derives answer, limit and fit from the trials.
func (l *Line) conclude(pool int) {
	low, _ := l.Plan.bracket(l.Trials)
	high := l.Plan.leastFailed(l.Trials)
	_, next, _ := l.Plan.Next(l.Trials)
	l.Complete = next == 0
	l.Answer, l.Limit, l.Unmeasured = nil, nil, unmeasured(l.Trials)
	if low > 0 {
		l.Answer = l.answer(low, high)
	}
	if high > 0 {
		l.Limit = l.limit(high, pool)
	}
	l.fit()
	l.Headline = l.Statement()
}

func (l *Line) answer(low, high int) *Answer {
	atUsers := levelOf(l.Trials, low).repeats
	a := &Answer{Users: low, Confirmed: atUsers.Passed, AtUsers: &atUsers, Interval: posteriorOf(l.Trials).interval()}
	if high > 0 {
		atBelow := levelOf(l.Trials, high).repeats
		a.Below, a.AtBelow = &high, &atBelow
	}
	var rates, scores []float64
	for _, t := range l.Trials {
		if t.Users == low && t.Outcome == Passes {
			rates = append(rates, t.OpsPerS)
			if t.Apdex != nil {
				scores = append(scores, *t.Apdex)
			}
		}
	}
	for _, r := range rates {
		a.OpsPerS += r / float64(len(rates))
	}
	a.OpsPerSMin, a.OpsPerSMax = slices.Min(rates), slices.Max(rates)
	if len(scores) > 0 {
		a.ApdexMin = slices.Min(scores)
	}
	return a
}

// limit comes from the last trial that did not pass closest above the line.
func (l *Line) limit(high, pool int) *Limit {
	var at Trial
	for _, t := range l.Trials {
		if t.Users == high && (t.Outcome == Fails || t.Outcome == Undecided && !t.madeAgain()) {
			at = t
		}
	}
	limit := limitOf(at, pool, queueOf(l.Trials, at, l.Plan.ThinkS))
	return &limit
}

func (l *Line) fit() {
	var points []usl.Point
	for _, t := range l.Trials {
		if t.Valid && t.OpsPerS > 0 {
			points = append(points, usl.Point{N: float64(t.Users), X: t.OpsPerS})
		}
	}
	fit, err := usl.Of(points, l.Plan.Seed)
	l.Fit, l.FitRefused = fit, ""
	switch {
	case err != nil:
		l.FitRefused = err.Error()
	case fit.PeakIn == nil:
		l.FitRefused = fmt.Sprintf("the interval of κ, %.2g to %.2g, contains 0, so that nothing is known "+
			"beyond %d users", fit.KappaIn.Low, fit.KappaIn.High, slices.Max(numbers(l.Trials)))
	}
}

// StoppedBy is Stopped as a reader sees it.
func (l *Line) StoppedBy() string { return session.StoppedBy(l.Stopped) }

// conditions of the last trial, or none.
func (l *Line) conditions() result.Conditions {
	if l.Conditions == nil {
		return result.Conditions{}
	}
	return *l.Conditions
}

// Open says whether void trials leave the upper end unknown.
func (l *Line) Open() bool {
	return l.Unmeasured != nil && (l.Answer == nil || l.Answer.Below == nil)
}

// voidText says what could not be measured, and why; empty: everything was measured.
func (l *Line) voidText() string {
	u := l.Unmeasured
	if u == nil {
		return ""
	}
	return fmt.Sprintf("%s could not be measured: %d trials were void; %s", human.Count(u.Users, "user"), u.Times,
		u.Why)
}

// WriteJSON writes the line, indented, with a final newline.
func (l *Line) WriteJSON(w io.Writer) error { return kept.JSON(w, l) }
