package trial

import (
	"fmt"
	"strings"

	"plimsoll/lab/prove/claims"
)

// Condition of the report's situation: how large, how busy, how durable, how many. What is here is known before the
// experiment or measured by it, and printed beside what the report had.
type Condition struct {
	Of     Quantity
	Report string // what the report had
	Met    Test
}

// Absent is a condition that this experiment does not meet, at whatever size: here says what there is in its place.
func Absent(name, report, here string) Condition {
	return Condition{Of: Given{As: name, Else: here}, Report: report, Met: Measured()}
}

// measured says whether the condition is not known beforehand.
func (c Condition) measured() bool {
	switch c.Of.(type) {
	case Known, Given:
		return false
	}
	return true
}

func (c Condition) text() string {
	text := strings.TrimSpace(c.Of.Name() + " " + c.Met.text(c.Of))
	if c.Report != "" {
		text += " (report: " + c.Report + ")"
	}
	return text
}

func (c Condition) look(m *Measurements) claims.Met {
	i := c.Of.Interval(m)
	here := c.Of.Text(m)
	if i.Unsure != "" && i.Unsure != tooFewTurns {
		here = i.Unsure
	}
	return claims.Met{Name: c.Of.Name(), Report: c.Report, Here: here, Met: c.Met.holds(i)}
}

// situation looks at every condition; smaller says which are not met. Without measurements these are those that no
// figure can change.
func (r Rules) situation(m *Measurements) (all []claims.Met, smaller []string) {
	for _, c := range r.Situation {
		if m == nil && c.measured() {
			continue
		}
		met := c.look(m)
		all = append(all, met)
		if !met.Met {
			why := fmt.Sprintf("%s: %s", met.Name, met.Here)
			if met.Report != "" {
				why += ", the report's " + met.Report
			}
			smaller = append(smaller, why)
		}
	}
	return all, smaller
}
