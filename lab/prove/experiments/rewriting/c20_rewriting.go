package rewriting

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/durability"
)

const (
	c20Claimed = 1.11
	c20Jobs    = 50
	// c20WaitsGone is the share of samples, in percent, up to which waits for the log count as gone.
	c20WaitsGone = 1
)

// asynchronousRewriting is the experiment behind C20.
func asynchronousRewriting(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(recordSetTurn)
	var sides []commitSide
	for _, mode := range commitModes {
		sides = append(sides, commitSide{c20Jobs, mode})
	}
	synchronous, asynchronous := commitSide{c20Jobs, durability.Sync}, commitSide{c20Jobs, durability.Async}
	t := trial.Trial{Text: fmt.Sprintf("%d jobs rewrite record sets of 1 to %d rows in each commit mode, with log "+
		"flushes slowed to %s", c20Jobs, recordSetRows, site.Listed(flushLatencies)), Overhead: 30 * time.Second,
		Conditions: recordSetConditions()}
	for _, latency := range judgedFirst() {
		part := recordSetPart(b, s, latencyPart(latency), latency, turn, sides)
		part.Measured = commitsMeasured(latency, synchronous, sides)
		t.Parts = append(t.Parts, part)
	}
	t.Rules = trial.Rules{
		Requires: lightlyLoaded(turn, recordSetTurn, synchronous, asynchronous),
		Criteria: []trial.Criterion{trial.Claimed(asynchronous.faster(synchronous, judgedLatency), c20Claimed),
			{Of: trial.Every{Of: synchronous.at(judgedLatency, waitsShare), Unit: "%"},
				Confirm: trial.Above(c20WaitsGone), Unless: "there were no waits for the log that could disappear"},
			{Of: trial.Every{Of: asynchronous.at(judgedLatency, waitsShare), Unit: "%"},
				Confirm: trial.AtMost(c20WaitsGone), Refute: trial.Above(c20WaitsGone),
				Unless: "waits for the log have not disappeared"}},
	}
	return t
}

// judgedFirst puts the latency that is judged before the others, which a budget may cut off.
func judgedFirst() (all []time.Duration) {
	all = slices.DeleteFunc(slices.Clone(flushLatencies), func(d time.Duration) bool { return d == judgedLatency })
	return append([]time.Duration{judgedLatency}, all...)
}

// commitsMeasured compares the commit modes at one flush latency.
func commitsMeasured(latency time.Duration, base commitSide, sides []commitSide) (all []trial.Phrase) {
	text := func(s commitSide, series, format string) trial.Spread {
		return trial.Spread{Of: s.at(latency, series), Format: format}
	}
	all = append(all, trial.Say("%s: %s objects/s with commit mode %s, waits for the log %s %%, processors busy %s %%",
		trial.Title(latencyPart(latency)), text(base, pace, "%.0f"), base.mode, text(base, waitsShare, "%.1f"),
		text(base, busyShare, "%.0f")))
	for _, s := range sides {
		if s != base {
			all = append(all, trial.Say("with %s %s, waits for the log %s %%", s.mode, s.faster(base, latency),
				text(s, waitsShare, "%.1f")))
		}
	}
	return all
}
