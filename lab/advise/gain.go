package advise

import (
	"fmt"

	"plimsoll/ground/human"
)

// Actual gain, as a comparison measured it. Gain and Interval are above 0 where the server is better now: the share of
// the metric that is saved or, if HigherBetter, added; as amounts of the metric if Amount says so.
type Actual struct {
	Comparison   string  `json:"comparison"`
	Verdict      string  `json:"verdict"`
	Metric       string  `json:"metric"`
	HigherBetter bool    `json:"higher_better,omitempty"`
	Amount       bool    `json:"amount,omitempty"`
	Gain         float64 `json:"gain"`
	Interval     Range   `json:"interval"`
	Confidence   float64 `json:"confidence"`
	// Together: the comparison measured all applied advice at once.
	Together int `json:"together"`
}

// Effect of the server as it is over the server as it was, as a comparison has it: a ratio, or a difference if Amount
// says so.
func (a Actual) Effect(effect, low, high float64) Actual {
	if !a.Amount {
		effect, low, high = effect-1, low-1, high-1
	}
	if !a.HigherBetter {
		effect, low, high = -effect, -high, -low
	}
	a.Gain, a.Interval = effect, Range{low, high}
	return a
}

// GainText shows the expected and the actual gain.
func (s Step) GainText() string {
	expected := "expected: not known, no diagnosis priced it"
	if g := s.Expected; g != nil {
		expected = fmt.Sprintf("expected: %s to %s of the time", human.Share(g.Low), human.Share(g.High))
	}
	if s.Actual == nil {
		return expected + "; actual: not measured"
	}
	return expected + "; actual: " + s.Actual.text()
}

// text in the direction of the change: what got worse is not a saving below 0.
func (a Actual) text() string {
	sign, direction := 1.0, "lower"
	if a.HigherBetter != (a.Gain < 0) {
		direction = "higher"
	}
	low, high := a.Interval.Low, a.Interval.High
	if a.Gain < 0 {
		sign, low, high = -1, -high, -low
	}
	text := fmt.Sprintf("%s %s %s (%s to %s, %.0f %% confidence): %s", a.Metric, a.figure(sign*a.Gain), direction,
		a.figure(low), a.figure(high), 100*a.Confidence, a.Verdict)
	if a.Together > 1 {
		text += fmt.Sprintf("; of all %d changes together", a.Together)
	}
	return text
}

func (a Actual) figure(x float64) string {
	if a.Amount {
		return human.Decimal(x, 3)
	}
	return human.Percent1(x)
}
