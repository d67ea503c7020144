package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// InsteadMost is the largest share of an operation that may be replaced by others, because there was nothing to act on.
// Beyond it the load is not the mix that the result names: the operation is measured less often than its neighbours,
// and those that stand in for it more often. It is as far as the share of refusals may be off (RefusedBeyond).
const InsteadMost = 0.1

// chosen is how often users wanted to do an operation: as often as it was carried out for itself, and as often as
// something else was in its place.
func chosen(all *result.Result, op result.Operation) (times, replaced int64) {
	times = op.Ops
	for _, n := range op.Instead {
		replaced += n
	}
	for _, other := range all.Operations {
		times -= other.Instead[op.ID]
	}
	for stand, n := range op.Instead {
		if !slices.ContainsFunc(all.Operations, func(o result.Operation) bool { return o.ID == stand }) {
			times -= n // counted under this operation's own name
		}
	}
	return times + replaced, replaced
}

// addShortages says how often each operation was replaced.
func addShortages(all *result.Result) {
	for i := range all.Operations {
		if times, replaced := chosen(all, all.Operations[i]); times > 0 {
			share := float64(replaced) / float64(times)
			all.Operations[i].InsteadShare = &share
		}
	}
}

// shortages name the operations that came less often than the mix says; those beyond the limit are reasons against the
// run.
func shortages(all *result.Result) (texts []string) {
	for _, op := range all.Operations {
		if text := shortage(all, op); text != "" && !tooShort(all, op) {
			texts = append(texts, text)
		}
	}
	return texts
}

func judgeShortages(v *verdict, all *result.Result) {
	for _, op := range all.Operations {
		v.addReasonIf(result.ByLoad, tooShort(all, op), "%s; at most %.0f %% may be", shortage(all, op),
			100*InsteadMost)
	}
}

// shortage of one operation in words; empty: there was none.
func shortage(all *result.Result, op result.Operation) string {
	times, replaced := chosen(all, op)
	if replaced == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d of %d (%.0f %%) had nothing to act on and were carried out, and counted, as %s", op.ID,
		replaced, times, 100*float64(replaced)/float64(times),
		strings.Join(slices.Sorted(maps.Keys(op.Instead)), " or "))
}

// tooShort: more than the limit was replaced, and not by chance: the lower end of the share's interval lies beyond it.
func tooShort(all *result.Result, op result.Operation) bool {
	times, replaced := chosen(all, op)
	if times < result.BrokenFrom {
		return false
	}
	return apdex.Counts{Satisfied: replaced, Frustrated: times - replaced}.Interval().Low > InsteadMost
}
