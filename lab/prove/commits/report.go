package commits

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Schema of the JSON.
const Schema = 1

// Report of all sides.
type Report struct {
	Schema      int     `json:"schema"`
	Engine      string  `json:"engine"`
	Sessions    int     `json:"sessions"`
	Connections int     `json:"connections"`
	DurationS   float64 `json:"duration_s"`
	Rounds      int     `json:"rounds"`
	// Rate that is due, in operations a second; 0: as many as the server bears.
	Rate int `json:"rate,omitempty"`
	// Incomplete: it was stopped before all turns were made. Unequal numbers of turns are not judged.
	Incomplete bool      `json:"incomplete"`
	TurnsDone  int       `json:"turns_done"`
	Turns      int       `json:"turns"`
	Sides      []Side    `json:"sides"`
	Verdicts   []Verdict `json:"verdicts"`
}

// Side is a mode on some rows with flushes of some latency.
type Side struct {
	Rows    Rows    `json:"rows"`
	Mode    string  `json:"mode"`
	FlushMS float64 `json:"flush_ms"`
	Turns   []Turn  `json:"turns"`
}

// Turn of a side.
type Turn struct {
	PerSecond float64 `json:"per_second"`
	P50MS     float64 `json:"p50_ms"` // of acknowledgements
	P95MS     float64 `json:"p95_ms"`
}

// silent turns tell nothing about times, and nothing can be divided by their rate.
func (t Turn) silent() bool { return t.PerSecond == 0 }

// Verdict on a criterion: the worst of the turns must meet it.
type Verdict struct {
	Text   string  `json:"text"`
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
	Met    bool    `json:"met"`
}

func summed(took []time.Duration, duration time.Duration) (t Turn) {
	if len(took) == 0 {
		return t
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))]) / float64(time.Millisecond)
	}
	return Turn{float64(len(took)) / duration.Seconds(), at(0.5), at(0.95)}
}

func (r *Report) find(rows Rows, mode string, flush float64) (turns []Turn) {
	for _, s := range r.Sides {
		if s.Rows == rows && s.Mode == mode && s.FlushMS == flush {
			return s.Turns
		}
	}
	return nil
}

// Criteria, at the latency that they are claimed for.
const (
	judgedMS      = 2
	hotLeast      = 5.0 // times sync
	spreadLeast   = 0.9 // of async
	answerMostMS  = 2.0 // beyond a flush
	answerClients = "with as many sessions as connections, p95 of an acknowledgement beyond the flush, ms: at most 2"
	answerPaced   = "p95 of an acknowledgement beyond the flush, ms: at most 2"
	rateLeast     = 0.95 // of what is due
)

// judge compares turns of the same round.
func (r *Report) judge() {
	durable, sync := r.find(Hot, "durable-ack", judgedMS), r.find(Hot, "sync", judgedMS)
	if durable == nil {
		return
	}
	if r.Rate > 0 {
		r.judgePaced()
		return
	}
	rate := func(t Turn) float64 { return t.PerSecond }
	for _, s := range r.Sides {
		if s.FlushMS == judgedMS && slices.ContainsFunc(s.Turns, Turn.silent) {
			r.Verdicts = append(r.Verdicts, Verdict{Text: fmt.Sprintf("%s rows, %s: operations acknowledged in each "+
				"turn (--duration makes turns longer)", s.Rows, s.Mode)})
		}
	}
	r.atLeast("hot rows, flush 2 ms: rate of durable-ack / rate of sync: at least 5", ratios(durable, sync, rate),
		hotLeast)
	durable = r.find(Spread, "durable-ack", judgedMS)
	async, again := r.find(Spread, "async", judgedMS), r.find(Spread, "async again", judgedMS)
	r.atLeast("spread rows, flush 2 ms: rate of durable-ack / rate of async: at least 0.9",
		ratios(durable, async, rate), spreadLeast)
	r.Verdicts = append(r.Verdicts, Verdict{Text: "  noise: rate of async again / rate of async",
		Median: median(ratios(again, async, rate)), Worst: slices.Min(ratios(again, async, rate)), Met: true})
	if r.Sessions > r.Connections {
		return // who waits for a connection does not wait for the log
	}
	r.judgeAnswers(answerClients)
}

// judgePaced: at a rate that the server bears, an answer waits for the flush and for nothing else. Where durable-ack
// falls behind what is due, its times say nothing about that.
func (r *Report) judgePaced() {
	for _, rows := range []Rows{Hot, Spread} {
		var reached []float64
		for _, t := range r.find(rows, "durable-ack", judgedMS) {
			reached = append(reached, t.PerSecond/float64(r.Rate))
		}
		r.atLeast(fmt.Sprintf("%s rows, flush 2 ms: rate of durable-ack / %d due: at least %.2f", rows, r.Rate,
			rateLeast), reached, rateLeast)
	}
	r.judgeAnswers(answerPaced)
}

func (r *Report) judgeAnswers(text string) {
	for _, rows := range []Rows{Hot, Spread} {
		var beyond []float64
		for _, t := range r.find(rows, "durable-ack", judgedMS) {
			beyond = append(beyond, t.P95MS-judgedMS)
		}
		r.Verdicts = append(r.Verdicts, Verdict{Text: string(rows) + " rows, " + text, Median: median(beyond),
			Worst: slices.Max(beyond), Met: slices.Max(beyond) <= answerMostMS})
	}
}

func (r *Report) atLeast(text string, values []float64, least float64) {
	r.Verdicts = append(r.Verdicts, Verdict{Text: text, Median: median(values), Worst: slices.Min(values),
		Met: slices.Min(values) >= least})
}

// Met says that every criterion is met.
func (r *Report) Met() bool {
	return !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return !v.Met })
}

func ratios(a, b []Turn, figure func(Turn) float64) (all []float64) {
	for i := range a {
		all = append(all, figure(a[i])/max(figure(b[i]), 1e-9))
	}
	return all
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Write the report as text.
func (r *Report) Write(to io.Writer) error {
	if r.Incomplete {
		fmt.Fprintf(to, "INCOMPLETE: stopped after %d of %d turns; what was not measured is left out, and no "+
			"criterion is judged\n", r.TurnsDone, r.Turns)
	}
	due := ""
	if r.Rate > 0 {
		due = fmt.Sprintf(", %d operations a second due", r.Rate)
	}
	fmt.Fprintf(to, "%d sessions on %d connections%s, %d turns of %.3g s of each side, %s\n", r.Sessions,
		r.Connections, due, r.Rounds, r.DurationS, r.Engine)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "flush ms\trows\tmode\tper second\tleast\tmost\tp50 ms\tp95 ms\t")
	for _, s := range r.Sides {
		if len(s.Turns) == 0 {
			continue
		}
		column := func(figure func(Turn) float64) (all []float64) {
			for _, t := range s.Turns {
				all = append(all, figure(t))
			}
			return all
		}
		rate := column(func(t Turn) float64 { return t.PerSecond })
		fmt.Fprintf(w, "%.3g\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.2f\t%.2f\t\n", s.FlushMS, s.Rows, s.Mode, median(rate),
			slices.Min(rate), slices.Max(rate), median(column(func(t Turn) float64 { return t.P50MS })),
			median(column(func(t Turn) float64 { return t.P95MS })))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, v := range r.Verdicts {
		met := "met"
		if !v.Met {
			met = "NOT met"
		}
		if _, err := fmt.Fprintf(to, "%s: median %.2f, worst %.2f: %s\n", v.Text, v.Median, v.Worst, met); err != nil {
			return err
		}
	}
	return nil
}
