package rewriting

import (
	"fmt"
	"slices"
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

	// The bands around the first and the last.
	c21Low, c21High         = 1.35, 1.60
	c21SameLow, c21SameHigh = 1.12, 1.27
)

// c21Jobs are the points of the curve.
var c21Jobs = []int{10, 25, 50, 75, 100}

// c21Full is how busy an application server is that is full, in percent.
const c21Full = 90

// moreJobs is the experiment behind C21. That more jobs help shows at the report's pace; by how much is judged with
// work that was measured, on an application server that can fill up.
func moreJobs(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(recordSetTurn)
	var sides []commitSide
	for _, n := range c21Jobs {
		for _, mode := range commitModes {
			sides = append(sides, commitSide{jobs: n, mode: mode})
		}
	}
	base, more := commitSide{jobs: 50, mode: durability.Sync}, commitSide{jobs: 75, mode: durability.Sync}
	both := commitSide{jobs: 75, mode: durability.Async}
	judged := []commitSide{base, more, both}
	t := trial.Trial{Text: fmt.Sprintf("%s jobs rewrite record sets of 1 to %d rows in each commit mode, with log "+
		"flushes slowed to %s, at the report's pace and with our ERP's own work, on both flavours",
		site.Listed(c21Jobs), recordSetRows, site.Listed(flushLatencies)),
		Overhead:   recordSetBothOverhead,
		Conditions: recordSetConditions(), Chart: c21Chart()}
	for _, v := range bothEngines {
		atPace, own := judgedPlaces(v)
		all := judged
		if v.Name == site.Stock.Name { // one curve is enough
			all = sides
		}
		part, ownPart := recordSetPart(b, s, atPace, turn, all), recordSetPart(b, s, own, turn, judged)
		part.Measured = c21Measured(atPace, base, more, both)
		ownPart.Measured = append(c21Measured(own, base, more, both), workMeasured(own, both))
		t.Parts = append(t.Parts, part, ownPart)
	}
	unjudged := unjudgedLatencies(b, s, turn, sides, func(recordSetPlace) []trial.Phrase { return nil })
	for i := range unjudged { // one chart has them all; two turns of each are enough to see its shape
		unjudged[i].Rounds = min(unjudged[i].Rounds, 2)
	}
	t.Parts = append(t.Parts, unjudged...)
	for _, latency := range flushLatencies {
		t.Measured = append(t.Measured, c21Curve(latency))
	}
	t.ByEngine(func(engine string) trial.Rules {
		atPace, own := judgedPlaces(site.Flavour(engine))
		return trial.Rules{Requires: lightlyLoadedAt(atPace, turn, recordSetTurn, judged...),
			Direction: []trial.Criterion{trial.Larger(atPace.faster(both, base)),
				trial.Larger(atPace.faster(both, more))},
			Size: []trial.Band{{Of: own.faster(both, base), None: 1, Low: c21Low, High: c21High},
				{Of: own.faster(both, more), None: 1, Low: c21SameLow, High: c21SameHigh}},
			Situation: slices.Concat(recordSetSituationAt(atPace, base), measuredWork(own, judged...),
				[]trial.Condition{{Of: trial.Every{Of: own.of(both, applicationBusy), Unit: "%",
					As: "application server busy with 75 jobs"}, Report: "full with 75 jobs",
					Met: trial.AtLeast(c21Full)}})}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// c21Measured compares the numbers of jobs in one place.
func c21Measured(place recordSetPlace, base, more, both commitSide) []trial.Phrase {
	return []trial.Phrase{
		trial.Say("%s: %s objects/s with 50 jobs synchronous", trial.Title(place.part()),
			trial.Spread{Of: place.of(base, pace), Format: "%.0f"}),
		trial.Say("75 synchronous %s (claimed ×%g), waits for the log %s %%", place.faster(more, base),
			c21Synchronous, trial.Spread{Of: place.of(more, waitsShare), Format: "%.1f"}),
		trial.Say("75 asynchronous %s (claimed ×%g), %s against 75 synchronous (claimed ×%g), processors busy %s %%",
			place.faster(both, base), c21Claimed, place.faster(both, more), c21SameJobs,
			trial.Spread{Of: place.of(both, busyShare), Format: "%.0f"}),
	}
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
			trial.Median{Of: commitSide{jobs: n, mode: durability.Sync}.at(latency, pace), Format: "%.0f"},
			trial.Median{Of: commitSide{jobs: n, mode: durability.Async}.at(latency, pace), Format: "%.0f"})
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
				line.At = append(line.At, trial.Place{X: float64(n), Of: commitSide{jobs: n, mode: mode}.at(latency,
					pace)})
			}
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}
