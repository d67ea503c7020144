package trial

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/lab/prove/claims"
)

// Rules say what would confirm a claim and what would refute it.
type Rules struct {
	// Checks that every turn must pass; the first failure decides before anything else.
	Checks []Check
	// Requires must hold, or there is no verdict.
	Requires []Criterion
	// Criteria: all must hold to confirm; any one can refute.
	Criteria []Criterion
	// StoppedRefutes: a refutation stands although not all turns were made.
	StoppedRefutes bool
}

// Check of a turn (Record.Fail).
type Check struct {
	Name string
	Want string // "every turn is valid"
	// Refuted says why a failure refutes the claim: "the books are wrong". Empty: a failing turn proves nothing.
	Refuted string
}

// Criterion is a condition on a quantity.
type Criterion struct {
	Of      Quantity
	Confirm Test
	Refute  Test   // the zero Test refutes nothing
	Unless  string // meaning if it is not confirmed; may be empty
	// RefuteNeeds must hold too, or the criterion refutes nothing: what a small form shows a large one shows all the
	// more, and what it does not show a large one may.
	RefuteNeeds *Criterion
}

// Claimed is the criterion for a claimed figure: surely that much confirms, surely less refutes.
func Claimed(quantity Quantity, least float64) Criterion {
	return Criterion{Of: quantity, Confirm: AtLeast(least), Refute: Below(least)}
}

// Smaller is the criterion for a figure that is claimed to shrink: surely below ×1 confirms, surely not below refutes.
func Smaller(quantity Quantity) Criterion {
	return Criterion{Of: quantity, Confirm: Below(1), Refute: AtLeast(1)}
}

func (c Criterion) confirmText() string {
	return strings.TrimSpace(c.Of.Name() + " " + c.Confirm.text(c.Of))
}

func (c Criterion) refuteText() string {
	text := c.Of.Name() + " " + c.Refute.text(c.Of)
	if c.RefuteNeeds != nil {
		text += " with " + c.RefuteNeeds.confirmText()
	}
	return text
}

// refutes says whether the criterion refutes the claim, and by what.
func (c Criterion) refutes(m *Measurements) (why string) {
	if c.RefuteNeeds != nil && c.RefuteNeeds.lackText(m) != "" {
		return ""
	}
	if i := c.Of.Interval(m); c.Refute.holds(i) {
		return fmt.Sprintf("%s: %s is %s", c.Of.Name(), c.Of.Text(m), c.Refute.text(c.Of))
	}
	return ""
}

// lackText says why the criterion does not confirm.
func (c Criterion) lackText(m *Measurements) (why string) {
	i := c.Of.Interval(m)
	switch {
	case c.Confirm.holds(i):
		return ""
	case i.Unsure == tooFewTurns:
		return tooFewTurns
	case i.Unsure != "":
		return c.Of.Name() + ": " + i.Unsure
	}
	why = fmt.Sprintf("%s: %s is not %s", c.Of.Name(), c.Of.Text(m), c.Confirm.text(c.Of))
	if c.Unless != "" {
		why += " (" + c.Unless + ")"
	}
	if c.RefuteNeeds != nil && c.Refute.holds(i) {
		if needed := c.RefuteNeeds.lackText(m); needed != "" {
			why += ", and for a refutation " + needed
		}
	}
	return why
}

// Answer is the verdict, and why it is not "confirmed".
func (r Rules) Answer(m *Measurements) (claims.Verdict, string) {
	if len(m.failures) > 0 {
		return r.failed(m.failures[0])
	}
	for _, c := range r.Requires {
		if why := c.lackText(m); why != "" {
			return claims.Inconclusive, why
		}
	}
	const stopped = tooFewTurns + ": it was stopped before all were measured"
	if m.stopped && !r.StoppedRefutes {
		return claims.Inconclusive, stopped
	}
	if why := collect(r.Criteria, func(c Criterion) string { return c.refutes(m) }); why != nil {
		return claims.Refuted, strings.Join(why, "; ")
	}
	why := collect(r.Criteria, func(c Criterion) string { return c.lackText(m) })
	if m.stopped {
		why = append(why, stopped)
	}
	if why != nil {
		return claims.Inconclusive, strings.Join(why, "; ")
	}
	return claims.Confirmed, ""
}

func (r Rules) failed(f failure) (claims.Verdict, string) {
	for _, c := range r.Checks {
		if c.Name == f.check && c.Refuted != "" {
			return claims.Refuted, f.detail
		}
	}
	return claims.Inconclusive, f.detail
}

// collect the reasons of criteria, each once.
func collect(all []Criterion, reason func(Criterion) string) (found []string) {
	for _, c := range all {
		if why := reason(c); why != "" && !slices.Contains(found, why) {
			found = append(found, why)
		}
	}
	return found
}

// Refutable says whether anything could refute the claim.
func (r Rules) Refutable() bool { return len(r.refuting()) > 0 }

func (r Rules) refuting() (texts []string) {
	for _, c := range r.Checks {
		if c.Refuted != "" {
			texts = append(texts, c.Refuted)
		}
	}
	for _, c := range r.Criteria {
		if !c.Refute.empty() {
			texts = append(texts, c.refuteText())
		}
	}
	return texts
}

// Text of the rules: what confirms and what refutes.
func (r Rules) Text() string {
	var confirm, require []string
	for _, c := range r.Checks {
		confirm = append(confirm, c.Want)
	}
	for _, c := range r.Criteria {
		confirm = append(confirm, c.confirmText())
	}
	for _, c := range r.Requires {
		require = append(require, c.confirmText())
	}
	text := "confirmed when " + strings.Join(slices.Compact(confirm), ", and ")
	if refuting := r.refuting(); len(refuting) > 0 {
		text += "; refuted when " + strings.Join(refuting, ", or ")
	} else {
		text += "; nothing refutes it"
	}
	text += "; otherwise inconclusive"
	if len(require) > 0 {
		text += "; no verdict without " + strings.Join(require, ", and ")
	}
	return text
}
