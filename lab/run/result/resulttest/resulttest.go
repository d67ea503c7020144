// Package resulttest has a stored result, and judges runs made by tests on a machine that may be busy.
package resulttest

import (
	"slices"
	"strings"

	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// Against returns the reasons against a run that a busy machine does not excuse: tests run in parallel, and a generator
// without a processor lags and makes few operations.
func Against(r *result.Result) (reasons []string) {
	for i, cause := range r.InvalidCauses {
		if cause != result.ByGenerator && cause != result.ByFewness {
			reasons = append(reasons, r.InvalidReasons[i])
		}
	}
	return reasons
}

// Events of a run without those of a busy machine: standstills of the generator, and times without an answer.
func Events(r *result.Result) []result.Event {
	return slices.DeleteFunc(slices.Clone(r.Events), func(e result.Event) bool {
		return strings.HasPrefix(e.Text, "the generator stood still") || strings.HasPrefix(e.Text, "no valid answer")
	})
}

// Errors of a run without those of a busy machine: if the user ends the load, open operations have a few seconds.
func Errors(r *result.Result) (n int64) {
	for _, op := range r.Operations {
		n += op.Errors
		for _, e := range op.ErrorTexts {
			if e.Text == users.ErrUnfinished.Error() {
				n -= e.Count
			}
		}
	}
	return n
}
