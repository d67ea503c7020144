package line

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"plimsoll/lab/result"
	"plimsoll/lab/usl"
)

// Schema names the form of the JSON. It grows by adding names.
const Schema = "plimsoll.line/1"

// Line is a search with all it found: the JSON of `plimsoll line --json`, and the source
// of the text and the page.
type Line struct {
	Schema   string    `json:"schema"`
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`
	// Complete: nothing is left to try. Stopped says what ended it before.
	Complete bool   `json:"complete"`
	Stopped  string `json:"stopped,omitempty"` // by hand, budget, or the error

	Plan   Plan    `json:"plan"`
	Answer *Answer `json:"answer"` // null while no number of users has passed
	Limit  *Limit  `json:"limit"`  // null while none has failed
	// Unmeasured where trials stayed void; the answer's upper end is a failure nevertheless.
	Unmeasured *Unmeasured `json:"unmeasured,omitempty"`
	// Fit is the Universal Scalability Law through all valid trials; null where it is
	// refused, with the reason.
	Fit        *usl.Fit `json:"usl"`
	FitRefused string   `json:"usl_refused,omitempty"`

	Trials []Trial `json:"trials"`
	// Conditions of the last trial; load and CPU are that trial's own.
	Conditions *result.Conditions `json:"conditions"`
}

// Plan is what trials depend on: only those of one plan go together.
type Plan struct {
	Target float64 `json:"target"`
	Bounds
	DurationS float64 `json:"duration_s"`
	RampS     float64 `json:"ramp_s"`
	TimeoutS  float64 `json:"timeout_s"`
	ThinkS    float64 `json:"think_s"` // mean over the roles
	Seed      uint64  `json:"seed"`
	Scenario  string  `json:"scenario"`
	Digest    string  `json:"scenario_digest"`
	Reset     Reset   `json:"reset"`
	Workers   int     `json:"workers"`
	Profile   string  `json:"profile,omitempty"`
	// Configuration is the name of the system where several are searched in turns.
	Configuration string `json:"configuration,omitempty"`
	Serve         string `json:"serve,omitempty"` // how workers are started: the shape of the ERP's data layer
}

// Fingerprint tells plans apart.
func (p Plan) Fingerprint() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers and texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// Answer is the line: Users pass, Below do not.
type Answer struct {
	Users     int  `json:"users"`
	Below     *int `json:"below"` // the least that failed; null: none did
	Confirmed int  `json:"confirmed"`
	// Throughput of the trials that passed with so many users.
	OpsPerS    float64 `json:"ops_per_s"`
	OpsPerSMin float64 `json:"ops_per_s_min"`
	OpsPerSMax float64 `json:"ops_per_s_max"`
	ApdexMin   float64 `json:"apdex_min"`
}

// conclude draws from the trials what they allow.
func (l *Line) conclude(pool int) {
	low, _ := l.Plan.bracket(l.Trials)
	high := leastFailed(l.Trials)
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
}

func (l *Line) answer(low, high int) *Answer {
	a := &Answer{Users: low, Confirmed: confirmations(l.Trials, low)}
	if high > 0 {
		a.Below = &high
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

// limit is read from the last trial that failed closest above the line.
func (l *Line) limit(high, pool int) *Limit {
	var at Trial
	for _, t := range l.Trials {
		if t.Users == high && t.Outcome == Fails {
			at = t
		}
	}
	limit := limitOf(at, pool)
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
		l.FitRefused = fmt.Sprintf("the interval of κ, %.2g to %.2g, does not tell it from 0: nothing is said beyond %d users", fit.KappaIn.Low, fit.KappaIn.High, slices.Max(levels(l.Trials)))
	}
}

// Statement is the answer in a sentence.
func (l *Line) Statement() string {
	a, think := l.Answer, thinkText(l.Plan.ThinkS)
	switch {
	case a == nil && len(l.Trials) == 0:
		return "nothing was tried"
	case a == nil && leastFailed(l.Trials) == 0:
		return fmt.Sprintf("not known: trials of %d users say nothing", levels(l.Trials)[0])
	case a == nil:
		return fmt.Sprintf("not even %d users reach Apdex %g", leastFailed(l.Trials), l.Plan.Target)
	case a.Below == nil && l.Unmeasured != nil:
		return fmt.Sprintf("at least %d users (%.1f operations/s, think time %s); %d could not be measured", a.Users, a.OpsPerS, think, l.Unmeasured.Users)
	case a.Below == nil:
		return fmt.Sprintf("at least %d users (%.1f operations/s, think time %s); more were not tried", a.Users, a.OpsPerS, think)
	case a.Confirmed < l.Plan.Confirmations:
		return fmt.Sprintf("between %d and %d users so far, confirmed %d of %d times (%.1f operations/s, think time %s)", a.Users, *a.Below, a.Confirmed, l.Plan.Confirmations, a.OpsPerS, think)
	}
	return fmt.Sprintf("from %d to below %d users (%.1f operations/s, think time %s)", a.Users, *a.Below, a.OpsPerS, think)
}

// Open says whether void trials leave open which number of users is too much.
func (l *Line) Open() bool {
	return l.Unmeasured != nil && (l.Answer == nil || l.Answer.Below == nil)
}

// void says what could not be measured, and why; empty: everything that was tried was.
func (l *Line) void() string {
	u := l.Unmeasured
	if u == nil {
		return ""
	}
	return fmt.Sprintf("%d users could not be measured: %d trials were void; %s", u.Users, u.Times, u.Why)
}

func thinkText(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

// WriteJSON writes the line, indented, with a line end.
func (l *Line) WriteJSON(w io.Writer) error { return writeJSON(w, l) }

func writeJSON(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
