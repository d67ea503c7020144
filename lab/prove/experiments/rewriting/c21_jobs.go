package rewriting

import (
	"fmt"
	"time"

	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/durability"
)

// What C21 claims: 2,138 objects/s of 75 jobs asynchronous, 1,797 of 75 and 1,459 of 50 synchronous.
const (
	c21Claimed     = 1.47 // 75 jobs asynchronous against 50 synchronous
	c21Synchronous = 1.23 // 75 against 50, both synchronous
	c21SameJobs    = 1.19 // 75 jobs, asynchronous against synchronous
)

// c21Jobs are the points of the curve.
var c21Jobs = []int{10, 25, 50, 75, 100}

// moreJobs is the experiment behind C21.
func moreJobs(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(recordSetTurn)
	var sides []commitSide
	for _, n := range c21Jobs {
		for _, mode := range commitModes {
			sides = append(sides, commitSide{n, mode})
		}
	}
	t := trial.Trial{Text: fmt.Sprintf("%s jobs rewrite record sets of 1 to %d rows in each commit mode, with log "+
		"flushes slowed to %s", site.Listed(c21Jobs), recordSetRows, site.Listed(flushLatencies)),
		Overhead:   time.Minute,
		Conditions: recordSetConditions(), Chart: c21Chart()}
	for _, latency := range judgedFirst() {
		part := recordSetPart(b, s, latencyPart(latency), latency, turn, sides)
		if part.Unjudged { // one chart has them all; two turns of each are enough to see its shape
			part.Rounds = min(part.Rounds, 2)
		}
		t.Parts = append(t.Parts, part)
	}
	base, more := commitSide{50, durability.Sync}, commitSide{75, durability.Sync}
	both := commitSide{75, durability.Async}
	against := both.faster(base, judgedLatency)
	same := both.faster(more, judgedLatency)
	t.Parts[0].Measured = []trial.Phrase{
		trial.Say("%s: %s objects/s with 50 jobs synchronous", trial.Title(latencyPart(judgedLatency)),
			trial.Spread{Of: base.at(judgedLatency, pace), Format: "%.0f"}),
		trial.Say("75 synchronous %s (claimed ×%g), waits for the log %s %%", more.faster(base, judgedLatency),
			c21Synchronous, trial.Spread{Of: more.at(judgedLatency, waitsShare), Format: "%.1f"}),
		trial.Say("75 asynchronous %s (claimed ×%g), %s against 75 synchronous (claimed ×%g), processors busy %s %%",
			against,
			c21Claimed, same, c21SameJobs, trial.Spread{Of: both.at(judgedLatency, busyShare), Format: "%.0f"}),
	}
	for _, latency := range judgedFirst() {
		t.Measured = append(t.Measured, c21Curve(latency))
	}
	t.Rules = trial.Rules{Requires: lightlyLoaded(turn, recordSetTurn, base, more, both),
		Criteria: []trial.Criterion{trial.Claimed(against, c21Claimed), trial.Claimed(same, c21SameJobs)}}
	return t
}

// c21Curve is objects per second by the number of jobs, the fewest first.
func c21Curve(latency time.Duration) trial.Phrase {
	format, values := "%s, objects/s synchronous and asynchronous: ", []any{latencyPart(latency)}
	for i, n := range c21Jobs {
		if i > 0 {
			format += ", "
		}
		format += "%d jobs %s and %s"
		values = append(values, n,
			trial.Median{Of: commitSide{n, durability.Sync}.at(latency, pace), Format: "%.0f"},
			trial.Median{Of: commitSide{n, durability.Async}.at(latency, pace), Format: "%.0f"})
	}
	return trial.Say(format, values...)
}

func c21Chart() *trial.Chart {
	c := &trial.Chart{Title: "Record sets rewritten, by jobs, commit mode and flush latency", X: "jobs",
		Y: "objects/s"}
	for _, latency := range flushLatencies {
		for _, mode := range commitModes {
			line := trial.Line{Name: fmt.Sprintf("%s, flush %s", mode, latency)}
			for _, n := range c21Jobs {
				line.At = append(line.At, trial.Place{X: float64(n), Of: commitSide{n, mode}.at(latency, pace)})
			}
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}
