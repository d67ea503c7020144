package report

import (
	"fmt"
	"strings"

	"plimsoll/lab/run/result"
)

// intervals of every key operation; nothing where the steady state was too short for them.
func intervals(b *strings.Builder, r *result.Result) error {
	if r.IntervalBasis == nil {
		return nil
	}
	var t table
	t.add("95 % intervals", "Apdex", "p50 ms", "p95", "p99")
	for _, op := range r.Operations {
		if l := ofPercentiles(op); l != nil {
			t.add(op.ID, interval(op.Interval), rangeText(l.P50, millis), rangeText(l.P95, millis),
				rangeText(l.P99, millis))
		}
	}
	b.WriteString("\n")
	if err := t.write(b); err != nil {
		return err
	}
	text := intervalNote(r.IntervalBasis)
	if rate := r.OpsPerSInterval; rate != nil {
		text = rangeText(rate, perSecond) + " operations per second; " + text
	}
	b.WriteString(wrap(text, "  ", "  "))
	return nil
}

// ofPercentiles as they are shown: of all operations, where some failed.
func ofPercentiles(op result.Operation) *result.LatencyIntervals {
	if op.LatencyAll == nil { // older results know only answered ones
		return op.LatencyIntervals
	}
	return op.LatencyAllIntervals
}

func intervalNote(basis *result.IntervalBasis) string {
	return fmt.Sprintf("intervals by block bootstrap, blocks of %s of %s; differences between runs are not in them",
		seconds(basis.BlockS), seconds(basis.SteadyS))
}

// intervalName says what the intervals of a run are about.
func intervalName(*result.Result) string { return "95 % interval" }

// rangeText is empty where nothing is known.
func rangeText(r *result.Range, text func(*float64) string) string {
	switch {
	case r == nil:
		return unknown
	case r.High == nil:
		return text(&r.Low) + " or more"
	}
	return text(&r.Low) + "–" + text(r.High)
}

func perSecond(x *float64) string { return fmt.Sprintf("%.1f", *x) }
