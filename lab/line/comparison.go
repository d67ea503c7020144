package line

import (
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/lab/session"
)

// ComparisonSchema is the version of the JSON. Only names are added.
const ComparisonSchema = "plimsoll.lines/1"

// Comparison holds the load lines of several systems from one session: the JSON of 'plimsoll line --configurations',
// and the source of its text and page.
type Comparison struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	// Headline is the answer in a sentence.
	Headline string    `json:"statement"`
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`
	Complete bool      `json:"complete"`
	Stopped  string    `json:"stopped,omitempty"` // as in Line
	// Lines in the requested order; all are compared with the first.
	Lines []Compared `json:"lines"`
}

// Compared is one line of a comparison.
type Compared struct {
	// Ratio of its users to those of the first; null for the first, if either has no line, and if nothing failed on
	// either side.
	Ratio *Ratio `json:"ratio"`
	// Control is the first system searched again (A/A): the distance between the two lines is the noise of the session.
	Control bool  `json:"control,omitempty"`
	Line    *Line `json:"line"`
}

// Ratio of two lines: the interval is the answer.
type Ratio struct {
	// IntervalLow and IntervalHigh are the 95 % interval of the ratio, from the outcomes of all trials. An end is null
	// if no trial bounds it.
	IntervalLow  *float64 `json:"interval_low,omitempty"`
	IntervalHigh *float64 `json:"interval_high,omitempty"`
	// Differs: 1 lies outside the interval.
	Differs bool `json:"differs,omitempty"`
	// Users is the ratio of the brackets' lower ends. Brackets [a, a') and [b, b') allow one between b/a' and b'/a, Low
	// and High; an end is null if nothing failed. That is no confidence interval: it ignores that trials repeated may
	// end differently.
	Users float64  `json:"users"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func ratioOf(base, other *Answer) *Ratio {
	if base == nil || other == nil || base.Below == nil && other.Below == nil {
		return nil // two lower bounds cannot be compared
	}
	over := func(a, b int) *float64 { r := float64(a) / float64(b); return &r }
	r := &Ratio{Users: *over(other.Users, base.Users)}
	if base.Below != nil {
		r.Low = over(other.Users, *base.Below)
	}
	if other.Below != nil {
		r.High = over(*other.Below, base.Users)
	}
	return r
}

// addInterval computes the interval.
func (r *Ratio) addInterval(base, other posterior) {
	if r == nil {
		return
	}
	r.IntervalLow, r.IntervalHigh = other.ratioTo(base)
	r.Differs = r.IntervalLow != nil && *r.IntervalLow > 1 || r.IntervalHigh != nil && *r.IntervalHigh < 1
}

// NothingFailed says that all lines lie above what was tried, so that there is nothing to compare; empty if some system
// failed, or could not be measured.
func (c *Comparison) NothingFailed() string {
	least := 0
	for _, one := range c.Lines {
		a := one.Line.Answer
		if !one.Line.Complete || a == nil || a.Below != nil || one.Line.Unmeasured != nil {
			return ""
		}
		if least == 0 || a.Users < least {
			least = a.Users
		}
	}
	if least == 0 {
		return ""
	}
	return fmt.Sprintf("no system failed at %d users: each line is above that, so nothing can be compared", least)
}

// NothingFailedHint says how to get a comparison.
const NothingFailedHint = "raise --most, or let each user do more: --think 500ms, or 0s for no pause at all"

// conclude compares the lines with the first.
func (c *Comparison) conclude() {
	c.Complete = true
	for i := range c.Lines {
		c.Complete = c.Complete && c.Lines[i].Line.Complete
		if i > 0 {
			c.Lines[i].Ratio = ratioOf(c.Lines[0].Line.Answer, c.Lines[i].Line.Answer)
			c.Lines[i].Ratio.addInterval(posteriorOf(c.Lines[0].Line.Trials), posteriorOf(c.Lines[i].Line.Trials))
		}
	}
	if c.Complete {
		c.Stopped = ""
	}
	c.Headline = c.Statement()
}

// plans of all lines, in their order.
func (c *Comparison) plans() (all []Plan) {
	for _, one := range c.Lines {
		all = append(all, one.Line.Plan)
	}
	return all
}

// Trials of all lines.
func (c *Comparison) Trials() (n int) {
	for _, one := range c.Lines {
		n += len(one.Line.Trials)
	}
	return n
}

// StoppedBy is Stopped as a reader sees it.
func (c *Comparison) StoppedBy() string { return session.StoppedBy(c.Stopped) }

// Statement is the answer in a sentence.
func (c *Comparison) Statement() string {
	var parts []string
	for _, one := range c.Lines {
		parts = append(parts, one.Line.Plan.Configuration+" "+one.Line.brief())
	}
	return "users (95 % intervals): " + strings.Join(parts, ", ")
}

// String is the 95 % interval of the ratio, and whether it shows a difference.
func (r *Ratio) String() string {
	if r == nil || r.IntervalLow == nil && r.IntervalHigh == nil {
		return "-"
	}
	says := "no difference shown"
	if r.Differs {
		says = "differs"
	}
	return "×" + endsText(r.IntervalLow, r.IntervalHigh, "%.3g") + ", " + says
}

// bracketText is the ratio of the lower ends of the brackets, and what the brackets allow.
func (r *Ratio) bracketText() string {
	text := fmt.Sprintf("×%.3g", r.Users)
	if r.Low == nil && r.High == nil {
		return text
	}
	return text + " (brackets allow " + endsText(r.Low, r.High, "%.3g") + ")"
}

// WriteJSON writes the comparison, indented, with a final newline.
func (c *Comparison) WriteJSON(w io.Writer) error { return kept.JSON(w, c) }
