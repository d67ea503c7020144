package line

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// ComparisonSchema names the form of the JSON. It grows by adding names.
const ComparisonSchema = "plimsoll.lines/1"

// Comparison is the lines of several systems from one session: the JSON of `plimsoll line
// --configurations`, and the source of its text and page.
type Comparison struct {
	Schema   string    `json:"schema"`
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`
	Complete bool      `json:"complete"`
	Stopped  string    `json:"stopped,omitempty"` // as of a Line
	// Lines in the order asked for; the first is what the others are held against.
	Lines []Compared `json:"lines"`
}

// Compared is a line beside others.
type Compared struct {
	// Ratio of its users to those of the first; null for the first, and where one of the two has no line.
	Ratio *Ratio `json:"ratio"`
	Line  *Line  `json:"line"`
}

// Ratio of two lines. A line in [a, a') and another in [b, b') have one between b/a' and b'/a;
// an end is null where nothing failed. It covers what the search left open, not the luck
// of the session.
type Ratio struct {
	Users float64  `json:"users"` // b/a
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func ratioOf(base, other *Answer) *Ratio {
	if base == nil || other == nil {
		return nil
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

// conclude holds the lines against the first.
func (c *Comparison) conclude() {
	c.Complete = true
	for i := range c.Lines {
		c.Complete = c.Complete && c.Lines[i].Line.Complete
		if i > 0 {
			c.Lines[i].Ratio = ratioOf(c.Lines[0].Line.Answer, c.Lines[i].Line.Answer)
		}
	}
	if c.Complete {
		c.Stopped = ""
	}
}

// fingerprint of the plans of all lines, in their order.
func (c *Comparison) fingerprint() (all string) {
	for _, one := range c.Lines {
		all += one.Line.Plan.Fingerprint()
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

// Statement is the answer in a sentence.
func (c *Comparison) Statement() string {
	var parts []string
	for _, one := range c.Lines {
		parts = append(parts, one.Line.Plan.Configuration+" "+one.Line.usersText())
	}
	return "users: " + strings.Join(parts, ", ")
}

// usersText is the line's interval, as short as can be.
func (l *Line) usersText() string {
	a := l.Answer
	switch {
	case a == nil && len(l.Trials) == 0:
		return "not tried"
	case a == nil && leastFailed(l.Trials) == 0:
		return "not known"
	case a == nil:
		return fmt.Sprintf("below %d", leastFailed(l.Trials))
	case a.Below == nil:
		return fmt.Sprintf("%d or more", a.Users)
	case a.Confirmed < l.Plan.Confirmations:
		return fmt.Sprintf("%d to %d, not confirmed", a.Users, *a.Below)
	}
	return fmt.Sprintf("%d to %d", a.Users, *a.Below)
}

func (r *Ratio) String() string {
	if r == nil {
		return "-"
	}
	text := fmt.Sprintf("×%.3g", r.Users)
	switch {
	case r.Low != nil && r.High != nil:
		return text + fmt.Sprintf(" (%.3g to %.3g)", *r.Low, *r.High)
	case r.High != nil:
		return text + fmt.Sprintf(" (up to %.3g)", *r.High)
	case r.Low != nil:
		return text + fmt.Sprintf(" (%.3g or more)", *r.Low)
	}
	return text
}

// WriteJSON writes the comparison, indented, with a line end.
func (c *Comparison) WriteJSON(w io.Writer) error { return writeJSON(w, c) }
