package run

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/lab/run/result"
)

// judgeCoverage makes a run not valid that left out what the scenario lists: an operation that was answered less often
// than its least count, or that never ran although chance does not explain it.
func judgeCoverage(v *verdict, all *result.Result) {
	for _, op := range all.Operations {
		answered := op.OK + op.Refused
		v.addReasonIf(result.ByFewness, answered < op.Least, "%s was answered %d times, its least count is %d", op.ID,
			answered, op.Least)
		expected := expected(all, op)
		v.addReasonIf(result.ByLoad, neverRan(all, op) && expected >= result.BrokenFrom,
			"%s never ran, %.0f times were expected", op.ID, expected)
	}
}

// neverRan: users never wanted to do an operation of the mix.
func neverRan(all *result.Result, op result.Operation) bool {
	times, _ := chosen(all, op)
	return op.Weight > 0 && times == 0
}

// expected is how often an operation should have been chosen among all that users did.
func expected(all *result.Result, op result.Operation) float64 { return op.Weight * float64(all.Ops) }

// addMissing warns of operations that the scenario lists and that never ran.
func (r *record) addMissing(all *result.Result) {
	var missing []string
	for _, op := range all.Operations {
		if neverRan(all, op) && expected(all, op) < result.BrokenFrom {
			missing = append(missing, fmt.Sprintf("%s (expected fewer than %d times; use a longer --duration or "+
				"more --users)", op.ID, result.BrokenFrom))
		}
	}
	if r.Scenario != nil { // that of a run whose process died is not known
		for _, id := range r.Scenario.Undone(r.crowd) {
			missing = append(missing, id+" (in no role's mix)")
		}
	}
	if len(missing) > 0 {
		all.Warnings = append(all.Warnings, "never ran: "+strings.Join(missing, ", "))
	}
}

// addHeadroom says how much of T the p95 takes.
func addHeadroom(all *result.Result) {
	for i := range all.Operations {
		op := &all.Operations[i]
		if op.LatencyAll != nil && op.LatencyAll.P95 != nil && op.TargetMS > 0 {
			share := *op.LatencyAll.P95 / op.TargetMS
			op.P95OfTarget = &share
		}
	}
}

// withoutUnused leaves out the operations that only stand in for others and never had to.
func withoutUnused(all []result.Operation) []result.Operation {
	return slices.DeleteFunc(all, func(op result.Operation) bool { return op.Weight == 0 && op.Ops == 0 })
}
