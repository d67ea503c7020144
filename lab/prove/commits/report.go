package commits

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/stats"
)

// Schema of the JSON.
const Schema = 2

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

// empty turns say nothing about times, and nothing can be divided by their rate.
func (t Turn) empty() bool { return t.PerSecond == 0 }

// Verdict on a criterion. All of the range must meet it: of a ratio its interval, of a time the turns.
type Verdict struct {
	Text  string  `json:"text"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Confidence of an interval; 0: the range is that of the turns.
	Confidence float64 `json:"confidence,omitempty"`
	Met        bool    `json:"met"`
}

func summed(took []time.Duration, duration time.Duration) (t Turn) {
	if len(took) == 0 {
		return t
	}
	at := func(share float64) float64 { return human.MS(stats.Percentile(took, share)) }
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
	answerMostMS  = 2.0 // beyond a synchronous commit that waits for no row
	answerClients = "with as many sessions as connections, "
	answerBeyond  = "p95 of an acknowledgement beyond that of sync on spread rows, ms: at most 2"
	flushBeyond   = "beyond one flush"
	rateLeast     = 0.95 // of what is due
)

// judge compares the turns.
func (r *Report) judge() {
	durable, sync := r.find(Hot, "durable-ack", judgedMS), r.find(Hot, "sync", judgedMS)
	if durable == nil {
		return
	}
	if r.Rate > 0 {
		r.judgePaced()
		return
	}
	for _, s := range r.Sides {
		if s.FlushMS == judgedMS && slices.ContainsFunc(s.Turns, Turn.empty) {
			r.Verdicts = append(r.Verdicts, Verdict{Text: fmt.Sprintf("%s rows, %s: operations acknowledged in each "+
				"turn (--duration makes turns longer)", s.Rows, s.Mode)})
		}
	}
	r.atLeast("hot rows, flush 2 ms: rate of durable-ack / rate of sync: at least 5", hotLeast, sync, durable)
	durable = r.find(Spread, "durable-ack", judgedMS)
	async, again := r.find(Spread, "async", judgedMS), r.find(Spread, "async again", judgedMS)
	r.atLeast("spread rows, flush 2 ms: rate of durable-ack / rate of async: at least 0.9", spreadLeast,
		slices.Concat(async, again), durable)
	r.atLeast("  noise: rate of async again / rate of async", 0, async, again)
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
		v := ofTurns(fmt.Sprintf("%s rows, flush 2 ms: rate of durable-ack / %d due: at least %.2f", rows, r.Rate,
			rateLeast), reached)
		v.Met = v.Low >= rateLeast
		r.Verdicts = append(r.Verdicts, v)
	}
	r.judgeAnswers("")
}

// judgeAnswers compares an acknowledgement with a synchronous commit that waits for no row, not against one flush:
// PostgreSQL flushes its log one flush at a time, so in either mode whoever comes during a flush waits for that and for
// the next.
func (r *Report) judgeAnswers(when string) {
	sync := r.find(Spread, "sync", judgedMS)
	p95 := func(turns []Turn) (all []float64) {
		for _, t := range turns {
			all = append(all, t.P95MS)
		}
		return all
	}
	reference := stats.Median(p95(sync))
	for _, rows := range []Rows{Hot, Spread} {
		answers := p95(r.find(rows, "durable-ack", judgedMS))
		v := ofTurns(string(rows)+" rows, "+when+answerBeyond, minus(answers, reference))
		v.Met = v.High <= answerMostMS
		one := ofTurns("  "+flushBeyond, minus(answers, judgedMS))
		one.Met = true
		r.Verdicts = append(r.Verdicts, v, one)
	}
	one := ofTurns("  sync on spread rows "+flushBeyond, minus(p95(sync), judgedMS))
	one.Met = true
	r.Verdicts = append(r.Verdicts, one)
}

func minus(all []float64, by float64) (less []float64) {
	for _, x := range all {
		less = append(less, x-by)
	}
	return less
}

// ofTurns is the median of the turns and their range.
func ofTurns(text string, values []float64) Verdict {
	return Verdict{Text: text, Value: stats.Median(values), Low: slices.Min(values), High: slices.Max(values)}
}

// atLeast judges the rate of a side over that of another. Turns without an answer have been judged before, and have no
// ratio.
func (r *Report) atLeast(text string, least float64, base, variant []Turn) {
	v := Verdict{Text: text}
	if r, err := stats.RatioOf(rates(base), rates(variant)); err == nil {
		v.Value, v.Low, v.High, v.Confidence = r.Ratio, r.Low, r.High, r.Confidence
		v.Met = v.Low >= least
	}
	r.Verdicts = append(r.Verdicts, v)
}

func rates(turns []Turn) (all []float64) {
	for _, t := range turns {
		all = append(all, t.PerSecond)
	}
	return all
}

// Met says that every criterion is met.
func (r *Report) Met() bool {
	return !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return !v.Met })
}

// rangeOf says what the range is.
func (v Verdict) rangeOf() string {
	if v.Confidence == 0 {
		return "turns "
	}
	return fmt.Sprintf("%.0f %% interval ", 100*v.Confidence)
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
		fmt.Fprintf(w, "%.3g\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.2f\t%.2f\t\n", s.FlushMS, s.Rows, s.Mode, stats.Median(rate),
			slices.Min(rate), slices.Max(rate), stats.Median(column(func(t Turn) float64 { return t.P50MS })),
			stats.Median(column(func(t Turn) float64 { return t.P95MS })))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, v := range r.Verdicts {
		met := ": met"
		switch {
		case strings.HasPrefix(v.Text, " "): // only told
			met = ""
		case !v.Met:
			met = ": NOT met"
		}
		if _, err := fmt.Fprintf(to, "%s: %.2f (%s%.2f to %.2f)%s\n", v.Text, v.Value, v.rangeOf(), v.Low, v.High,
			met); err != nil {
			return err
		}
	}
	return nil
}
