package run

import (
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// RefusedBeyond is how far the share of refusals may lie above the expected one. A refusal is quick and a valid answer,
// so a system that refuses its users scores well and serves few.
const RefusedBeyond = 0.1

// judgeRefusals makes a run not valid if controls refused far more of an operation than expected, or of all of them.
// That all were refused is a reason of its own.
func judgeRefusals(v *verdict, all *result.Result) {
	found, expected := false, 0.0
	for _, op := range all.Operations {
		expected += op.RefusedExpected * float64(op.OK+op.Refused)
		if farMore(op.Totals, op.RefusedExpected) {
			found = true
			v.addReasonIf(result.BySystem, true, "%s was refused %d times of %d (%.0f %%), %.0f %% were expected",
				op.ID, op.Refused, op.OK+op.Refused, 100*result.ValueOrZero(op.Totals.Refusals()),
				100*op.RefusedExpected)
		}
	}
	if expected /= float64(max(1, all.OK+all.Refused)); !found && all.OK > 0 && farMore(all.Totals, expected) {
		v.addReasonIf(result.BySystem, true, "%d of %d operations were refused (%.0f %%), %.0f %% were expected",
			all.Refused, all.OK+all.Refused, 100*result.ValueOrZero(all.Totals.Refusals()), 100*expected)
	}
}

// farMore than expected, and not by chance: the lower end of the share's 95 % interval lies beyond the limit.
func farMore(t result.Totals, expected float64) bool {
	answered := t.OK + t.Refused
	if answered < result.BrokenFrom {
		return false
	}
	interval := apdex.Counts{Satisfied: t.Refused, Frustrated: t.OK}.Interval()
	return interval.Low > expected+RefusedBeyond
}
