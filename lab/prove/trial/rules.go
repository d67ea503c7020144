package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/lab/prove/claims"
)

// Rules ask three questions about a claim: does its effect show, is it of the claimed size, and is this the report's
// situation? Each answer is one that figures can change, and together they are the verdict:
//
//	Checks, Requires ──▶ Direction ──▶ Situation ──▶ Size ──▶ confirmed
//	    └ inconclusive       ├ refuted     └ small scale  └ in direction
//	                         └ inconclusive
type Rules struct {
	// Checks that every turn must pass; the first failure decides before anything else.
	Checks []Check
	// Requires must hold, or there is no verdict.
	Requires []Criterion
	// Direction: all must hold for the effect to show; any one can refute.
	Direction []Criterion
	// Size of the effect as claimed; empty: the claim gives no figure.
	Size []Band
	// Situation of the report, every condition of it that can change the answer; empty: the claim names none.
	Situation []Condition
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
	// Anywhere: it refutes in a smaller situation, too, since a counterexample is one at any scale.
	Anywhere bool
}

// Smaller is the criterion for a figure that is claimed to shrink, by no figure: surely below ×1 shows it, surely not
// below refutes.
func Smaller(quantity Quantity) Criterion {
	return Criterion{Of: quantity, Confirm: Below(1), Refute: AtLeast(1)}
}

// Larger is the same for a figure that is claimed to grow.
func Larger(quantity Quantity) Criterion {
	return Criterion{Of: quantity, Confirm: Above(1), Refute: AtMost(1)}
}

// Bar is the criterion for a bar that nobody has measured, such as the meaning of a word: surely that much shows the
// effect, surely less refutes it.
func Bar(quantity Quantity, least float64) Criterion {
	return Criterion{Of: quantity, Confirm: AtLeast(least), Refute: Below(least)}
}

// Band of sizes that count as the claimed one.
type Band struct {
	Of        Quantity
	None      float64 // where there is no effect: the far side of the band is the larger effect
	Low, High float64 // High is infinite where the claim is a lower bound
}

// trifle is the part of the claimed effect below which it is none.
const trifle = 0.25

// Effect adds a claimed effect with its figure: the direction from none towards the band, and the band itself. An
// effect that is surely less than a quarter of the band's near end is none, and so is one in the other direction.
func (r Rules) Effect(quantity Quantity, none, low, high float64) Rules {
	c := Criterion{Of: quantity, Confirm: Above(none), Refute: Below(part(none, low))}
	if low < none {
		c.Confirm, c.Refute = Below(none), Above(part(none, high))
	}
	r.Direction = append(slices.Clone(r.Direction), c)
	r.Size = append(slices.Clone(r.Size), Band{quantity, none, low, high})
	return r
}

// Times is the effect of a ratio.
func (r Rules) Times(quantity Quantity, low, high float64) Rules {
	return r.Effect(quantity, 1, low, high)
}

// part is a quarter of the way from none: of factors on a logarithmic scale, of differences on a linear one. It has
// three digits, as it is printed.
func part(none, near float64) float64 {
	at := none + trifle*(near-none)
	if none > 0 && near > 0 {
		at = none * math.Pow(near/none, trifle)
	}
	digits := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(at))))
	return math.Round(at*digits) / digits
}

func (b Band) test() Test {
	if math.IsInf(b.High, 1) {
		return AtLeast(b.Low)
	}
	return Within(b.Low, b.High)
}

// smaller and larger effects than the band's.
func (b Band) smaller() Test {
	if b.High < b.None {
		return Above(b.High)
	}
	return Below(b.Low)
}

func (b Band) larger() Test {
	if b.High < b.None {
		return Below(b.Low)
	}
	return Above(b.High)
}

// size of the effect, and why it is not the claimed one.
func (b Band) size(m *Measurements) (size claims.Size, why string) {
	i := b.Of.Interval(m)
	says := func(t Test) string { return fmt.Sprintf("%s: %s is %s", b.Of.Name(), b.Of.Text(m), t.text(b.Of)) }
	switch {
	case b.test().holds(i):
		return claims.AsClaimed, ""
	case b.smaller().holds(i):
		return claims.LessThanClaimed, says(b.smaller())
	case b.larger().holds(i):
		return claims.MoreThanClaimed, says(b.larger())
	}
	return claims.OpenSize, fmt.Sprintf("%s: %s is not %s", b.Of.Name(), b.Of.Text(m), b.test().text(b.Of))
}

func (c Criterion) confirmText() string {
	return strings.TrimSpace(c.Of.Name() + " " + c.Confirm.text(c.Of))
}

// refutes says whether the criterion refutes the claim, and by what.
func (c Criterion) refutes(m *Measurements) (why string) {
	if i := c.Of.Interval(m); c.Refute.holds(i) {
		return fmt.Sprintf("%s: %s is %s", c.Of.Name(), c.Of.Text(m), c.Refute.text(c.Of))
	}
	return ""
}

// lackText says why the criterion does not hold.
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
	return why
}

// Answer is the verdict, the answers that make it, and why it is not "confirmed".
func (r Rules) Answer(m *Measurements) (claims.Verdict, claims.Answers, string) {
	verdict, a, why := r.answer(m)
	a.Situation, _ = r.situation(m)
	return verdict, a, why
}

func (r Rules) answer(m *Measurements) (claims.Verdict, claims.Answers, string) {
	open := claims.Answers{Direction: claims.OpenDirection, Size: claims.OpenSize}
	if len(r.Size) == 0 {
		open.Size = claims.NoSize
	}
	if len(m.failures) > 0 {
		verdict, why := r.failed(m.failures[0])
		if verdict == claims.Refuted {
			open.Direction = claims.AgainstClaim
		}
		return verdict, open, why
	}
	for _, c := range r.Requires {
		if why := c.lackText(m); why != "" {
			return claims.Inconclusive, open, why
		}
	}
	const stopped = tooFewTurns + ": it was stopped before all were measured"
	if m.stopped && !r.StoppedRefutes {
		return claims.Inconclusive, open, stopped
	}
	_, smaller := r.situation(m)
	if verdict, why := r.against(m, smaller); verdict != "" {
		open.Direction = claims.AgainstClaim
		return verdict, open, why
	}
	why := collect(r.Direction, func(c Criterion) string { return c.lackText(m) })
	if m.stopped {
		why = append(why, stopped)
	}
	if why != nil {
		return claims.Inconclusive, open, strings.Join(why, "; ")
	}
	open.Direction = claims.InClaimedDirection
	return r.shown(m, open, smaller)
}

// against says what refutes the claim. A smaller situation than the report's refutes nothing, unless by a
// counterexample.
func (r Rules) against(m *Measurements, smaller []string) (claims.Verdict, string) {
	anywhere := collect(r.Direction, func(c Criterion) string {
		if !c.Anywhere && smaller != nil {
			return ""
		}
		return c.refutes(m)
	})
	if anywhere != nil {
		return claims.Refuted, strings.Join(anywhere, "; ")
	}
	if why := collect(r.Direction, func(c Criterion) string { return c.refutes(m) }); why != nil {
		return claims.Inconclusive, strings.Join(why, "; ") + "; a smaller situation refutes nothing: " +
			strings.Join(smaller, "; ")
	}
	return "", ""
}

// shown answers the other two questions about an effect that shows.
func (r Rules) shown(m *Measurements, a claims.Answers, smaller []string) (claims.Verdict, claims.Answers, string) {
	var sizes []string
	if len(r.Size) > 0 {
		a.Size = claims.AsClaimed
	}
	for _, b := range r.Size {
		size, why := b.size(m)
		if why != "" {
			sizes = append(sizes, why)
		}
		a.Size = a.Size.And(size)
	}
	why := strings.Join(append(slices.Clone(smaller), sizes...), "; ")
	switch {
	case smaller != nil:
		return claims.SmallScale, a, why
	case sizes != nil:
		return claims.InDirection, a, why
	}
	return claims.Confirmed, a, ""
}

func (r Rules) failed(f failure) (claims.Verdict, string) {
	if r.refutedBy(f.check) {
		return claims.Refuted, f.detail
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

// Words are the verdicts that figures can reach by these rules. A condition that is known beforehand not to be met
// leaves out some of them.
func (r Rules) Words() []claims.Verdict {
	words := []claims.Verdict{claims.Inconclusive}
	_, smaller := r.situation(nil)
	if smaller == nil {
		words = append(words, claims.Confirmed)
		if len(r.Size) > 0 {
			words = append(words, claims.InDirection)
		}
	}
	if len(r.refuting(smaller != nil)) > 0 {
		words = append(words, claims.Refuted)
	}
	if smaller != nil || slices.ContainsFunc(r.Situation, Condition.measured) {
		words = append(words, claims.SmallScale)
	}
	return words
}

// Refutable says whether anything could refute the claim in the report's situation.
func (r Rules) Refutable() bool { return len(r.refuting(false)) > 0 }

// refuting are what can refute the claim; in a smaller situation these are counterexamples alone.
func (r Rules) refuting(smaller bool) (texts []string) {
	for _, c := range r.Checks {
		if c.Refuted != "" {
			texts = append(texts, c.Refuted)
		}
	}
	for _, c := range r.Direction {
		if !c.Refute.empty() && (c.Anywhere || !smaller) {
			texts = append(texts, c.Of.Name()+" "+c.Refute.text(c.Of))
		}
	}
	return texts
}

// Text of the rules: what confirms, what less than that is said, and what refutes.
func (r Rules) Text() string {
	var show, sizes, require, situation []string
	for _, c := range r.Checks {
		show = append(show, c.Want)
	}
	for _, c := range r.Direction {
		show = append(show, c.confirmText())
	}
	for _, b := range r.Size {
		sizes = append(sizes, b.Of.Name()+" "+b.test().text(b.Of))
	}
	for _, c := range r.Requires {
		require = append(require, c.confirmText())
	}
	for _, c := range r.Situation {
		situation = append(situation, c.text())
	}
	and := func(all []string) string { return strings.Join(slices.Compact(all), ", and ") }
	text := "the effect shows when " + and(show)
	_, smaller := r.situation(nil)
	if len(sizes) > 0 {
		text += "; it has the claimed size when " + and(sizes) + ", else the verdict is in direction"
	}
	if len(situation) > 0 {
		text += "; it is the report's situation with " + and(situation) + ", else the verdict is small scale"
	}
	if smaller != nil {
		text += "; not confirmed here whatever the figures are: " + strings.Join(smaller, ", and ")
	} else {
		text += "; all of that confirms the claim"
	}
	if refuting := r.refuting(smaller != nil); len(refuting) > 0 {
		text += "; refuted when " + strings.Join(refuting, ", or ")
	} else {
		text += "; nothing refutes it here"
	}
	text += "; otherwise inconclusive"
	if len(require) > 0 {
		text += "; no verdict without " + and(require)
	}
	return text
}
