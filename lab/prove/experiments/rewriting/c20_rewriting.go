package rewriting

import (
	"fmt"
	"time"

	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/durability"
)

const (
	// The band around the claimed gain of 11 %.
	c20Low, c20High = 1.06, 1.17

	c20Jobs = 50
	// c20WaitsGone is the share of samples, in percent, up to which waits for the log count as gone.
	c20WaitsGone = 1
)

// asynchronousRewriting is the experiment behind C20. That waits disappear shows at the report's pace; how much that
// gains follows from what the application does besides, so it is judged with work that was measured.
func asynchronousRewriting(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(recordSetTurn)
	var sides []commitSide
	for _, mode := range commitModes {
		sides = append(sides, commitSide{jobs: c20Jobs, mode: mode})
	}
	synchronous, asynchronous := commitSide{jobs: c20Jobs, mode: durability.Sync}, commitSide{jobs: c20Jobs,
		mode: durability.Async}
	both := []commitSide{synchronous, asynchronous}
	t := trial.Trial{Text: fmt.Sprintf("%d jobs rewrite record sets of 1 to %d rows in each commit mode, with log "+
		"flushes slowed to %s, at the report's pace and with our ERP's own work, on both flavours", c20Jobs,
		recordSetRows, site.Listed(flushLatencies)), Overhead: recordSetBothOverhead, Conditions: recordSetConditions()}
	for _, v := range bothEngines {
		atPace, own := judgedPlaces(v)
		part, ownPart := recordSetPart(b, s, atPace, turn, sides), recordSetPart(b, s, own, turn, both)
		part.Measured = commitsMeasured(atPace, synchronous, sides)
		ownPart.Measured = append(commitsMeasured(own, synchronous, both), workMeasured(own, asynchronous))
		t.Parts = append(t.Parts, part, ownPart)
	}
	t.Parts = append(t.Parts, unjudgedLatencies(b, s, turn, sides, func(place recordSetPlace) []trial.Phrase {
		return commitsMeasured(place, synchronous, sides)
	})...)
	t.ByEngine(func(engine string) trial.Rules {
		atPace, own := judgedPlaces(site.Flavour(engine))
		return trial.Rules{
			Requires: lightlyLoadedAt(atPace, turn, recordSetTurn, synchronous, asynchronous),
			Situation: append(recordSetSituationAt(atPace, synchronous), measuredWork(own, synchronous,
				asynchronous)...),
			Direction: []trial.Criterion{
				{Of: trial.Every{Of: atPace.of(synchronous, waitsShare), Unit: "%"},
					Confirm: trial.Above(c20WaitsGone), Unless: "there were no waits for the log that could disappear"},
				{Of: trial.Every{Of: atPace.of(asynchronous, waitsShare), Unit: "%"},
					Confirm: trial.AtMost(c20WaitsGone), Refute: trial.Above(c20WaitsGone),
					Unless: "waits for the log have not disappeared"},
				trial.Larger(atPace.faster(asynchronous, synchronous))},
			Size: []trial.Band{{Of: own.faster(asynchronous, synchronous), None: 1, Low: c20Low, High: c20High}},
		}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// recordSetBothOverhead is to start servers of both flavours, and to measure our ERP's work on each.
const recordSetBothOverhead = 2 * time.Minute

var bothEngines = []site.Variant{site.Stock, site.Ours}

// judgedPlaces of an engine: at the report's pace, and with our ERP's own work.
func judgedPlaces(v site.Variant) (atPace, own recordSetPlace) {
	atPace = recordSetPlace{latency: judgedLatency, engine: v.Engine}
	own = atPace
	own.erp = true
	return atPace, own
}

// unjudgedLatencies are parts on stock at the report's pace, which a budget may cut off.
func unjudgedLatencies(b site.Bench, s *site.Site, turn time.Duration, sides []commitSide,
	measured func(recordSetPlace) []trial.Phrase) (all []trial.Part) {
	for _, latency := range flushLatencies {
		if latency != judgedLatency {
			place := recordSetPlace{latency: latency, engine: site.Stock.Engine}
			part := recordSetPart(b, s, place, turn, sides)
			part.Measured = measured(place)
			all = append(all, part)
		}
	}
	return all
}

// workMeasured tells what the application does.
func workMeasured(place recordSetPlace, side commitSide) trial.Phrase {
	return trial.Say("the application works %s ms on an object, its server is busy by %s %% with %s",
		trial.Median{Of: place.of(side, applicationWork), Format: "%.2f"},
		trial.Median{Of: place.of(side, applicationBusy), Format: "%.0f"}, side)
}

// commitsMeasured compares the commit modes in one place.
func commitsMeasured(place recordSetPlace, base commitSide, sides []commitSide) (all []trial.Phrase) {
	text := func(s commitSide, series, format string) trial.Spread {
		return trial.Spread{Of: place.of(s, series), Format: format}
	}
	all = append(all, trial.Say("%s: %s objects/s with commit mode %s, waits for the log %s %%, processors busy %s %%",
		trial.Title(place.part()), text(base, pace, "%.0f"), base.mode, text(base, waitsShare, "%.1f"),
		text(base, busyShare, "%.0f")))
	for _, s := range sides {
		if s != base {
			all = append(all, trial.Say("with %s %s, waits for the log %s %%", s.mode, place.faster(s, base),
				text(s, waitsShare, "%.1f")))
		}
	}
	return all
}
