package result

import (
	"fmt"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/gate"
)

// GateVerdict says what became of a gate.
type GateVerdict string

const (
	GatePassed    GateVerdict = "passed"
	GateFailed    GateVerdict = "failed"
	GateUndecided GateVerdict = "undecided" // too little was measured, or the run is not valid: no pass
)

// Text is the verdict in words.
func (v GateVerdict) Text() string {
	if v == GateUndecided {
		return "cannot be decided"
	}
	return string(v)
}

// Gate is a condition under which the run fails, and what was measured.
type Gate struct {
	Gate      string      `json:"gate"`                // as it is written: goods_sale.post: p95 > 200ms
	Operation string      `json:"operation,omitempty"` // empty: the whole run
	Figure    string      `json:"figure"`
	Unit      gate.Unit   `json:"unit"`
	Limit     float64     `json:"limit"`
	Verdict   GateVerdict `json:"verdict"`
	// Measured is null where there is no figure: nothing was measured, or the percentile is a failed operation.
	Measured *float64 `json:"measured"`
	// Interval of what was measured, 95 %, within this run; absent where none can be computed.
	Interval *Range `json:"interval,omitempty"`
	// Operations that the figure is of.
	Operations int64 `json:"operations"`
	// Because says why it cannot be decided, or what failed if there is no figure.
	Because string `json:"because,omitempty"`
}

// NotPassed lists the gates that failed, then those that cannot be decided.
func NotPassed(gates []Gate) (all []Gate) {
	for _, verdict := range []GateVerdict{GateFailed, GateUndecided} {
		for _, g := range gates {
			if g.Verdict == verdict {
				all = append(all, g)
			}
		}
	}
	return all
}

// LongerHint is what decides a gate of a run.
const LongerHint = "what cannot be decided does not pass: measure for longer, with --duration, or with more --users"

// JudgeGates is why gates did not pass; nil: they did. The hint says how to decide what cannot be decided.
func JudgeGates(gates []Gate, hint string) error {
	bad := NotPassed(gates)
	if len(bad) == 0 {
		return nil
	}
	var texts []string
	for _, g := range bad {
		text := g.Verdict.Text()
		if measured := g.MeasuredText(); measured != "" {
			text += ": " + measured
		}
		texts = append(texts, g.Gate+" ("+text+")")
	}
	if bad[0].Verdict != GateUndecided {
		hint = ""
	}
	return problem.New(problem.Threshold, fmt.Errorf("%s: %s", GatesText(gates), strings.Join(texts, ", ")), hint)
}

// GatesText counts the verdicts: 1 of 3 gates failed, 1 cannot be decided. Empty: there are no gates.
func GatesText(all []Gate) string {
	count := map[GateVerdict]int{}
	for _, g := range all {
		count[g.Verdict]++
	}
	failed, undecided := count[GateFailed], count[GateUndecided]
	noun := "gates"
	if len(all) == 1 {
		noun = "gate"
	}
	switch {
	case len(all) == 0:
		return ""
	case failed == 0 && undecided == 0 && len(all) == 1:
		return "the gate passed"
	case failed == 0 && undecided == 0:
		return fmt.Sprintf("all %d gates passed", len(all))
	case failed == 0:
		return fmt.Sprintf("%d of %d %s cannot be decided", undecided, len(all), noun)
	case undecided == 0:
		return fmt.Sprintf("%d of %d %s failed", failed, len(all), noun)
	}
	return fmt.Sprintf("%d of %d gates failed, %d cannot be decided", failed, len(all), undecided)
}

// MeasuredText is what was measured with its interval, and why it does not decide.
func (g Gate) MeasuredText() string {
	var parts []string
	if g.Measured != nil {
		text := g.Unit.Text(*g.Measured)
		if g.Interval != nil {
			text += " (" + g.IntervalText() + ")"
		}
		parts = append(parts, text)
	}
	if g.Because != "" {
		parts = append(parts, g.Because)
	}
	return strings.Join(parts, "; ")
}

// IntervalText is the 95 % interval; empty: there is none.
func (g Gate) IntervalText() string {
	switch {
	case g.Interval == nil:
		return ""
	case g.Interval.High == nil:
		return g.Unit.Text(g.Interval.Low) + " or more"
	}
	return g.Unit.Text(g.Interval.Low) + " to " + g.Unit.Text(*g.Interval.High)
}
