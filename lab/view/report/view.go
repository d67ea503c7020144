package report

import (
	"fmt"
	"html/template"
	"maps"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/web"
)

// rowsMax is how many points of the series are in the page's table.
const rowsMax = 120

// view is the page's figures, written as they are shown.
type view struct {
	web.Frame
	Run                         *result.Result
	RunTitle                    string
	ERP                         bool
	Score, ScoreNote, Users     string
	State, StateMark, StateText string
	Gauge                       template.HTML
	Tiles                       []tile
	Operations                  []operation
	// Beyond are those that were not always answered within T; AllWithin describes the others.
	Beyond                             []operation
	AllWithin                          string
	Small                              bool
	UnitNames                          []unit
	SteadyFrom, SteadyTo, IntervalText string
	OverTime                           web.Table
	Step                               int
	Audit, AuditTone, AuditBefore      string
	Errors                             []failure
	Memory                             bool // there is a series of it
	DiagnosisNote                      string
	Ledger                             []ledgerRow
	Findings                           []findingRow
	HealthyAreas                       []string
	Statements                         []operationStatements
	Costs, Gates                       web.Table
	Conditions, Settings               []fact
}

type tile struct{ Name, Value, Unit, More, Tone string }

type unit struct{ Name, Class string }

type failure struct{ Operation, Times, SQLState, Text string }

type operation struct {
	ID, Title, Target, Score, Interval, Band string
	Count, Refused, RefusedShare, Failed     string
	AnyFailed                                bool
	P50, P95, P99, Max, Own                  string
	Headroom, Replaced                       string
	P50In, P95In, P99In                      string // 95 % intervals
	Mean, StdDev                             string // of answered operations
	Answered                                 *answered
	Bar                                      template.HTML
	Units                                    []string
}

func newView(r *result.Result) *view {
	v := &view{
		Run: r, RunTitle: title(r), ERP: !r.Audit.None, Score: markedScore(r.Apdex, r.Ops), ScoreNote: scoreNote(r),
		Users: human.Thousands(r.Users),
		Gauge: gauge(r), Tiles: tiles(r),
		SteadyFrom: human.Seconds(r.Series.SteadyFromS), SteadyTo: human.Seconds(r.Series.SteadyToS),
		IntervalText: human.Seconds(r.Series.IntervalS),
		Audit:        auditLine(r.Audit), AuditTone: "bad", Conditions: conditions(r),
	}
	if before := r.AuditBefore; before != nil {
		v.AuditBefore = auditLine(*before)
	}
	v.State, v.StateMark, v.StateText = state(r)
	if r.Audit.Clean || r.Audit.None {
		v.AuditTone = "good"
	}
	for i, name := range apdex.Units {
		v.UnitNames = append(v.UnitNames, unit{name, unitClass(i)})
	}
	within := 0
	for _, op := range r.Operations {
		v.Small = v.Small || op.Ops > 0 && op.Ops < apdex.SmallGroup
		v.Operations = append(v.Operations, viewOperation(op))
		if alwaysWithin(op.HistogramT) {
			within++
		} else {
			v.Beyond = append(v.Beyond, v.Operations[len(v.Operations)-1])
		}
		for _, e := range op.ErrorTexts {
			v.Errors = append(v.Errors, failure{op.ID, human.Thousands(e.Count), e.SQLState, e.Text})
		}
	}
	v.AllWithin = withinText(within, len(v.Beyond))
	v.Costs, v.Gates = costTable(r.Cost), gateTable(r)
	v.addDiagnosis(r.Diagnosis)
	v.addStatements(r)
	v.Settings = settingFacts(r)
	v.Memory = slices.ContainsFunc(slices.Concat(r.Series.MemoryGenerator, r.Series.MemoryWorkers,
		r.Series.MemoryDatabase), func(m *float64) bool {
		return m != nil
	})
	v.addOverTime(r.Series)
	return v
}

// title of a run, or else of its scenario.
func title(r *result.Result) string {
	if s := r.Conditions.Load.Scenario; r.Title == "" && s != nil {
		return s.Title
	}
	return r.Title
}

// alwaysWithin T: a bar would be full.
func alwaysWithin(h apdex.Histogram) bool { return h[0] > 0 && h == apdex.Histogram{h[0]} }

// withinText describes the operations that have no bar.
func withinText(within, others int) string {
	was := "operations were"
	if within == 1 {
		was = "operation was"
	}
	switch {
	case within == 0:
		return ""
	case others == 0:
		return fmt.Sprintf("All %d %s answered within T each time.", within, was)
	}
	return fmt.Sprintf("%d other %s answered within T each time.", within, was)
}

func settingFacts(r *result.Result) (all []fact) {
	for _, name := range slices.Sorted(maps.Keys(r.Conditions.Engine.Settings)) {
		all = append(all, fact{name, r.Conditions.Engine.Settings[name]})
	}
	return all
}

func state(r *result.Result) (class, mark, text string) {
	if r.Valid {
		return "valid", "✓", "valid run"
	}
	if r.Interrupted {
		return "invalid", "■", "stopped by the user"
	}
	return "invalid", "✕", "not valid"
}

func scoreNote(r *result.Result) string {
	if r.Apdex == nil && r.Audit.Done && !r.Audit.Clean {
		return "The books are wrong after this run, so it has no score."
	}
	if r.Apdex == nil {
		return "Nothing was measured."
	}
	note := fmt.Sprintf("%s %s over %s operations%s, weighted by priority", intervalName(r), interval(r.Interval),
		human.Thousands(r.Ops), refusals(r.RefusedShare)+retried(r.Totals))
	if r.IntervalBasis != nil {
		note += "; " + intervalNote(r.IntervalBasis)
	}
	return note + "."
}

func tiles(r *result.Result) []tile {
	c := r.Conditions
	failed := r.Errors + r.Overload
	all := []tile{
		{Name: "Users", Value: human.Thousands(r.Users)},
		{Name: "Throughput", Value: fmt.Sprintf("%.1f", r.OpsPerS), Unit: "per s",
			More: human.Thousands(r.Ops) + " operations in " + human.Seconds(r.DurationS) + allRate(r)},
		{Name: "Failed", Value: human.Thousands(failed), More: human.Thousands(r.Refused) + " refused by controls"},
		{Name: "Database CPU", Value: percent(c.CPU.Database), More: fmt.Sprintf("of %d cores", c.Machine.Cores)},
		{Name: "Generator", Value: millis(&r.Generator.LagMSP99), Unit: "ms lag p99",
			More: percent(r.Generator.CPUShare) + " of the cores"},
	}
	if !r.Audit.None {
		books := tile{Name: "Audit", Value: auditWord(r.Audit), More: fmt.Sprintf("%d checks of the books",
			r.Audit.Checks)}
		if !r.Audit.Clean {
			books.Tone = "bad"
		}
		all = slices.Insert(all, 3, books)
	}
	if think := c.Load.Think; think != nil {
		all[0].More = "mean think time " + human.Seconds(think.MeanS)
	}
	if a := c.Load.Arrivals; a != nil {
		all[0] = tile{Name: "Sessions", Value: human.Thousands(r.Users),
			More: fmt.Sprintf("for %g %s arrivals per s", a.RatePerS, a.Spacing)}
	}
	if rate := r.OpsPerSInterval; rate != nil {
		all[1].More += ", 95 % interval " + rangeText(rate, perSecond)
	}
	if failed > 0 {
		all[2].Tone = "bad"
	}
	return all
}

func auditWord(a result.Audit) string {
	if a.None {
		return "none"
	}
	if !a.Done {
		return "not done"
	}
	return auditLine(a)
}

func viewOperation(op result.Operation) operation {
	v := operation{
		ID: op.ID, Title: op.Title, Target: human.Seconds(op.TargetMS / 1000), Score: markedScore(op.Apdex, op.Ops),
		Band:  string(op.Band),
		Count: human.Thousands(op.Ops), Refused: human.Thousands(op.Refused), RefusedShare: shareText(op.RefusedShare),
		Failed:    human.Thousands(op.Errors + op.Overload),
		AnyFailed: op.Errors+op.Overload > 0,
		P50:       ofAll(op, p50), P95: ofAll(op, p95), P99: ofAll(op, p99), Max: ofAll(op, longest), Own: ownWait(op),
		Headroom: headroom(op), Replaced: replaced(op), Bar: bar(op.HistogramT),
	}
	if op.Interval != nil {
		v.Interval = interval(op.Interval)
	}
	if l := ofPercentiles(op); l != nil {
		v.P50In, v.P95In, v.P99In = rangeText(l.P50, millis), rangeText(l.P95, millis), rangeText(l.P99, millis)
	}
	v.Mean, v.StdDev, v.Answered = millis(op.Latency.Mean), millis(op.Latency.StdDev), answeredOnly(op)
	for _, n := range op.HistogramT {
		v.Units = append(v.Units, portion(n, op.HistogramT))
	}
	return v
}

func (v *view) addOverTime(s result.Series) {
	v.Step = 1 + (len(s.T)-1)/rowsMax
	v.OverTime = web.Table{Title: "The run over time", Label: "Table of the run over time", Class: "series",
		Columns: []string{"from, s", "users", "answers", "failed", "Apdex", "p50 ms", "p95 ms", "p99 ms", "lag ms"}}
	for i := 0; i < len(s.T); i += v.Step {
		v.OverTime.Rows = append(v.OverTime.Rows, []string{
			fmt.Sprintf("%g", s.T[i]), human.Thousands(s.Users[i]), human.Thousands(s.OK[i] + s.Refused[i]),
			human.Thousands(s.Errors[i] + s.Overload[i]),
			score(s.Apdex[i]), millis(s.P50MS[i]), millis(s.P95MS[i]), millis(s.P99MS[i]), millis(&s.LagMSMax[i]),
		})
	}
}
