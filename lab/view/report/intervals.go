package report

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/ground/human"
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
	b.WriteString(Wrap(text, "  ", "  "))
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
	text := fmt.Sprintf("intervals by block bootstrap, blocks of %s of %s; differences between runs are not in them",
		human.Seconds(basis.BlockS), human.Seconds(basis.SteadyS))
	if only := scope(basis); only != "" {
		text += "; " + only
	}
	return text
}

// intervalName says what the intervals of a run are about; older results do not record it.
func intervalName(r *result.Result) string {
	if b := r.IntervalBasis; b != nil && b.Of == result.OfRun {
		return "95 % interval of this run"
	}
	return "95 % interval"
}

// scope says why the intervals are of the run alone, and how long one must be; empty: they are of the system.
func scope(b *result.IntervalBasis) string {
	if b == nil || b.Of != result.OfRun {
		return ""
	}
	if b.Staged {
		return "of this run, not of the system: its load varied by stages"
	}
	text := fmt.Sprintf("of this run, not of the system: slow spells must come several times, for which "+
		"--duration %s is "+
		"needed", spanOf(b.NeedsS))
	if b.CheckpointS > 0 {
		text += fmt.Sprintf("; it saw no checkpoint (one every %s)", spanOf(b.CheckpointS))
	}
	return text
}

func spanOf(s float64) string { return human.Duration(time.Duration(s * float64(time.Second))) }

// rangeText is empty if nothing is known.
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
