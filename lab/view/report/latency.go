package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// never stands for a percentile that is among the failures.
const never = "∞"

func p50(l result.Latency) *float64     { return l.P50 }
func p95(l result.Latency) *float64     { return l.P95 }
func p99(l result.Latency) *float64     { return l.P99 }
func longest(l result.Latency) *float64 { return l.Max }

// ofAll operations, failures being the longest; older results have only those that were answered.
func ofAll(op result.Operation, which func(result.Latency) *float64) string {
	if op.LatencyAll == nil {
		return millis(which(op.Latency))
	}
	if ms := which(*op.LatencyAll); ms != nil {
		return millis(ms)
	}
	return never
}

// answered are the percentiles without failures.
type answered struct{ P50, P95, P99, Max string }

// answeredOnly is nil if nothing failed: then they equal those of all.
func answeredOnly(op result.Operation) *answered {
	if op.LatencyAll == nil || op.Errors+op.Overload == 0 || op.Latency.P50 == nil {
		return nil
	}
	l := op.Latency
	return &answered{millis(l.P50), millis(l.P95), millis(l.P99), millis(l.Max)}
}

// writeAnsweredOnly writes the percentiles without failures, if there were any, and explains them.
func writeAnsweredOnly(b *strings.Builder, operations []result.Operation) {
	some := false
	for _, op := range operations {
		l := answeredOnly(op)
		if l == nil {
			continue
		}
		some = true
		b.WriteString(Wrap(fmt.Sprintf("%s p50 %s, p95 %s, p99 %s, max %s ms", op.ID, l.P50, l.P95, l.P99, l.Max),
			"  answered only: ", "    "))
	}
	if some {
		b.WriteString("  " + never + ": this percentile is a failed operation; these count as the longest\n")
	}
}

// rates of valid answers and, where some failed, of all operations.
func rates(r *result.Result) string {
	text := fmt.Sprintf("%.1f per second", r.OpsPerS)
	if r.AllPerS == nil || r.Errors+r.Overload == 0 {
		return text
	}
	return fmt.Sprintf("%.1f per second, %.1f of them with a valid answer", *r.AllPerS, r.OpsPerS)
}

// standstillText stands next to the score, which hides it: a user who waits starts no operation that could be late.
func standstillText(r *result.Result) string {
	if len(r.Standstills) == 0 || r.Availability == nil {
		return ""
	}
	return fmt.Sprintf(", no valid answer for %s of it", human.Seconds((1-*r.Availability)*r.DurationS))
}

// allRate is that of all operations, where some failed.
func allRate(r *result.Result) string {
	if r.AllPerS == nil || r.Errors+r.Overload == 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f per s with those that failed", *r.AllPerS)
}

// ownWaitShown is the mean from which on a terminal shows the generator's own part; the JSON has all.
const ownWaitShown = 1.0

// ownWaitsNamed operations, those that waited longest, are named.
const ownWaitsNamed = 3

// ownWaits is a line of how the generator delayed operations.
func ownWaits(b *strings.Builder, operations []result.Operation) {
	worst := slices.DeleteFunc(slices.Clone(operations), func(op result.Operation) bool {
		return op.OwnWait == nil || op.OwnWait.MeanMS < ownWaitShown
	})
	if len(worst) == 0 {
		return
	}
	slices.SortStableFunc(worst, func(a, b result.Operation) int {
		return cmp.Compare(b.OwnWait.MeanMS, a.OwnWait.MeanMS)
	})
	var named []string
	for _, op := range worst[:min(ownWaitsNamed, len(worst))] {
		w := op.OwnWait
		named = append(named, fmt.Sprintf("%s mean %s ms (for a connection %s), max %s ms", op.ID, millis(&w.MeanMS),
			millis(&w.PoolMeanMS), millis(&w.MaxMS)))
	}
	if more := len(worst) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	b.WriteString(Wrap(strings.Join(named, "; "), "  waited for the generator: ", "    "))
}

// ownWait is the column of the page.
func ownWait(op result.Operation) string {
	if op.OwnWait == nil {
		return unknown
	}
	return millis(&op.OwnWait.MeanMS)
}
