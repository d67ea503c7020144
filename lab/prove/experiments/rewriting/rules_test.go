package rewriting

import (
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// The words of the table.
type plant = sitetest.Plant

var four, with = sitetest.Four, sitetest.With

// commits of a side at the judged latency: one of its series. Objects write as much log as the report's, 11 kB of 10
// objects a second.
func commits(side, series string, figure float64) plant {
	return plant{latencyPart(judgedLatency) + ", " + side + ": " + series: four(figure), logVolume: four(0.11)}
}

// The judged parts of stock: at the report's pace, and with our ERP's own work.
var atPace, ownWork = partsOf(site.Stock)

func partsOf(v site.Variant) (string, string) {
	paced, own := judgedPlaces(v)
	return paced.part(), own.part()
}

const async50Waits = "flush 2ms, 50 jobs, async: waits for the log"

// asReported is an application that works on an object as long as the report's, on a server that is full, and objects
// that write as much log, 11 kB of 10 objects a second.
func asReported(p plant) plant {
	p[logVolume], p[applicationWork], p[applicationBusy] = four(0.11), four(31), four(95)
	return p
}

// async50 is what 50 jobs do asynchronously at the report's pace and with our ERP's own work, without waits;
// synchronously they do 10.
func async50(paced, own float64) plant {
	return asReported(plant{atPace + ", 50 jobs, async: " + pace: four(paced),
		ownWork + ", 50 jobs, async: " + pace: four(own), async50Waits: {0, 0.4, 1, 0}})
}

// jobs75 is what 75 jobs do asynchronously and synchronously, at the report's pace and with our ERP's own work; 50 do
// 10.
func jobs75(pacedAsync, pacedSync, ownAsync, ownSync float64) plant {
	return asReported(plant{atPace + ", 75 jobs, async: " + pace: four(pacedAsync),
		atPace + ", 75 jobs, sync: " + pace: four(pacedSync), ownWork + ", 75 jobs, async: " + pace: four(ownAsync),
		ownWork + ", 75 jobs, sync: " + pace: four(ownSync)})
}

// grown are jobs whose pace follows from their number up to a most, and a counter that is so much from some number on.
func grown(most float64, series string, from int, counter float64) plant {
	p := plant{}
	for _, n := range c55Jobs {
		name := latencyPart(judgedLatency) + ", " + c55Side(n).String() + ": "
		p[name+pace] = four(min(most, float64(n)))
		if n >= from {
			p[name+series] = four(counter)
		}
	}
	return p
}

// transactions: waits for the log of short and long ones, and the deadlocks of the long ones; the short have none.
func transactions(short, long, locked float64) plant {
	name := func(c commitSide, series string) string {
		return latencyPart(judgedLatency) + ", " + c.String() + ": " + series
	}
	return plant{logVolume: four(0.11), name(c28Short, waitsShare): four(short), name(c28Long, waitsShare): four(long),
		name(c28Short, deadlocks): four(0), name(c28Long, deadlocks): four(locked)}
}

// buffers of 100 jobs: how often the log's buffer was full, and the worst seconds synchronous and asynchronous.
func buffers(full, synchronous, asynchronous float64) plant {
	p := commits("100 jobs, sync", bufferFull, full)
	p[c27Own+", 100 jobs, async: "+worstSecond] = four(95)
	p[latencyPart(judgedLatency)+", 100 jobs, sync: "+worstSecond] = four(synchronous)
	p[latencyPart(judgedLatency)+", 100 jobs, async: "+worstSecond] = four(asynchronous)
	return p
}

// halves: five half-done after each kill, all named and ended with markers, none without.
func halves() plant {
	five, none := []float64{5, 5, 5, 5}, []float64{0, 0, 0, 0}
	return plant{halfDone: five, marked + ": " + namedHalf: five, unmarked + ": " + namedHalf: none,
		marked + ": " + leftHalf: none, unmarked + ": " + leftHalf: five, doneTwice: none, wrongThen: none}
}

var rulings = []sitetest.Ruling{
	{Claim: "C20", Name: "AsClaimed", Figures: async50(10.9, 10.9), Want: claims.Confirmed,
		Why: "stock: confirmed, ours: refuted"},
	{Claim: "C20", Name: "FasterThanClaimed", Figures: async50(10.9, 13), Want: claims.InDirection,
		Why: "surely more than ×1.17"},
	{Claim: "C20", Name: "TheSizeAtTheReportsPaceDoesNotCount", Figures: async50(13, 10.9), Want: claims.Confirmed},
	{Claim: "C20", Name: "LightApplication", Figures: with(async50(10.9, 13), applicationWork, four(0.6)...),
		Want: claims.SmallScale, Why: "application's work on an object: 0.6"},
	{Claim: "C20", Name: "FullWithOurErp", Figures: with(async50(10.9, 10.9), ownWork+", 50 jobs, async: "+busyShare,
		four(95)...), Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C20", Name: "SmallObjects", Figures: with(async50(10.9, 10.9), logVolume, four(0.04)...),
		Want: claims.SmallScale, Why: "log of an object, kB: 4.1, the report's 9 to 14"},
	{Claim: "C20", Name: "FasterWithWaits", Figures: with(async50(10.9, 10.9), async50Waits, 0, 0, 1.5, 0),
		Want: claims.Inconclusive, Why: "not disappeared"},
	{Claim: "C20", Name: "FasterUnwatched", Figures: with(with(async50(10.9, 10.9), "waits for the log"),
		async50Waits), Want: claims.Inconclusive},
	{Claim: "C20", Name: "NothingToWaitFor", Figures: with(async50(10.9, 10.9), "waits for the log", 0, 0, 0, 0),
		Want: claims.Inconclusive, Why: "there were no waits for the log that could disappear"},
	{Claim: "C20", Name: "StillWaits", Figures: with(async50(10.9, 10.9), async50Waits, four(10)...),
		Want: claims.Refuted, Why: "is more than 1 % in every turn"},
	{Claim: "C20", Name: "SurelyNone", Figures: async50(9, 10.9), Want: claims.Refuted},
	{Claim: "C20", Name: "SurelyNoneOfALightApplication", Figures: with(async50(9, 9), applicationWork, four(0.6)...),
		Want: claims.Inconclusive, Why: "a smaller situation refutes nothing"},
	{Claim: "C20", Name: "OtherLatenciesDoNotCount", Figures: with(async50(10, 10.9),
		"flush 5ms, 50 jobs, async: objects per second", four(13)...), Want: claims.Inconclusive,
		Why: "is not surely more than ×1"},
	{Claim: "C20", Name: "ProcessorsFull", Figures: with(async50(10.9, 10.9), busyShare, 85, 90, 85, 90),
		Want: claims.Inconclusive, Why: "the processors are the limit, not the log"},
	{Claim: "C20", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second}, Figures: async50(10.9, 10.9),
		Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C21", Name: "AsClaimed", Figures: jobs75(14.7, 12.3, 14.7, 12.3), Want: claims.Confirmed},
	{Claim: "C21", Name: "OtherThanClaimed", Figures: jobs75(14.7, 12.3, 18, 15), Want: claims.InDirection,
		Why: "surely more than ×1.6"},
	{Claim: "C21", Name: "ServerWithRoom", Figures: with(jobs75(14.7, 12.3, 14.7, 12.3), applicationBusy,
		four(20)...), Want: claims.SmallScale, Why: "application server busy with 75 jobs: 20"},
	{Claim: "C21", Name: "LightApplication", Figures: with(jobs75(14.7, 12.3, 14.7, 12.3), applicationWork,
		four(0.6)...), Want: claims.SmallScale, Why: "application's work on an object: 0.6"},
	{Claim: "C21", Name: "LessThanOf50", Figures: jobs75(9, 8, 14.7, 12.3), Want: claims.Refuted,
		Why: "surely at most ×1"},
	{Claim: "C21", Name: "NoMoreThanSynchronous", Figures: jobs75(14.7, 16, 14.7, 12.3), Want: claims.Refuted,
		Why: "'75 jobs, async' against '75 jobs, sync'"},
	{Claim: "C21", Name: "LessThanOf50AtASmallScale", Figures: with(jobs75(9, 8, 9, 8), applicationBusy, four(20)...),
		Want: claims.Inconclusive, Why: "a smaller situation refutes nothing"},
	{Claim: "C21", Name: "Around", Figures: with(jobs75(14.7, 12.3, 14.7, 12.3), atPace+", 75 jobs, async: "+pace, 9,
		15, 9, 15), Want: claims.Inconclusive},
	{Claim: "C21", Name: "ProcessorsFull", Figures: with(jobs75(14.7, 12.3, 14.7, 12.3), busyShare, four(90)...),
		Want: claims.Inconclusive, Why: "the processors are the limit"},
	{Claim: "C24", Name: "Both", Figures: plant{"set by set, synchronous, 1 worker: objects per second": four(13),
		"set by set, synchronous, 4 workers: objects per second": four(13)}, Want: claims.SmallScale,
		Why: "application servers"},
	{Claim: "C24", Name: "SlowerOn1", Figures: plant{"set by set, synchronous, 1 worker: objects per second": four(8),
		"set by set, synchronous, 4 workers: objects per second": four(13)}, Want: claims.Inconclusive,
		Why: "1 worker"},
	{Claim: "C24", Name: "UnsureOn4", Figures: plant{"set by set, synchronous, 1 worker: objects per second": four(13),
		"set by set, synchronous, 4 workers: objects per second": {9, 11, 9, 11}}, Want: claims.Inconclusive},
	{Claim: "C26", Name: "FoundAndEnded", Figures: halves(), Want: claims.Confirmed},
	{Claim: "C26", Name: "OneIsNotNamed", Figures: with(halves(), marked+": "+namedHalf, 5, 4, 5, 5),
		Want: claims.Refuted, Why: "not named: 1 is more than 0"},
	{Claim: "C26", Name: "AWholeOneIsNamed", Figures: with(halves(), marked+": "+namedHalf, 5, 6, 5, 5),
		Want: claims.Refuted, Why: "not named"},
	{Claim: "C26", Name: "OneStaysHalfDone", Figures: with(halves(), marked+": "+leftHalf, 0, 0, 1, 0),
		Want: claims.Refuted, Why: "still half-done"},
	{Claim: "C26", Name: "DoneTwice", Figures: with(halves(), marked+": "+doneTwice, 0, 0, 0, 2),
		Want: claims.Refuted, Why: "closed twice"},
	{Claim: "C26", Name: "WrongBooks", Figures: with(halves(), marked+": "+wrongThen, 1, 0, 0, 0),
		Want: claims.Refuted, Why: "violations after recovery"},
	{Claim: "C26", Name: "NoticedWithoutThem", Figures: with(halves(), unmarked+": "+namedHalf, 3, 5, 5, 5),
		Want: claims.Refuted, Why: "without groups"},
	{Claim: "C26", Name: "KillsMissed", Figures: with(with(halves(), marked+": "+halfDone, 1, 1, 1, 1),
		marked+": "+namedHalf, 1, 1, 1, 1), Want: claims.Inconclusive, Why: "too few kills hit the middle"},
	{Claim: "C26", Name: "OneOfFewIsNotNamed", Figures: with(with(halves(), marked+": "+halfDone, 1, 1, 1, 1),
		marked+": "+namedHalf, 1, 0, 1, 1), Want: claims.Refuted, Why: "not named: 1 is more than 0"},
	{Claim: "C27", Name: "WaitsBeginAndThePaceIsEven", Figures: buffers(20, 60, 95), Want: claims.Confirmed},
	{Claim: "C27", Name: "TheServersOwnIsNeverFull", Figures: with(buffers(20, 60, 95), c27Own+", 100 jobs, sync: "+
		bufferFull, 0, 0, 0, 0), Want: claims.SmallScale, Why: "the server's own log buffer full with 100 jobs: 0"},
	{Claim: "C27", Name: "DipsWithTheServersOwn", Figures: with(buffers(20, 60, 95), c27Own+", 100 jobs, async: "+
		worstSecond, four(60)...), Want: claims.Refuted, Why: "less than 80 %"},
	{Claim: "C27", Name: "NoWaits", Figures: buffers(9, 60, 95), Want: claims.Refuted,
		Why: "is at most log buffer full of '50 jobs, sync'"},
	{Claim: "C27", Name: "Dips", Figures: buffers(20, 60, 65), Want: claims.Refuted, Why: "less than 80 % in every " +
		"turn"},
	{Claim: "C27", Name: "SynchronousIsMoreEven", Figures: buffers(20, 97.5, 84), Want: claims.Refuted,
		Why: "worst second of '100 jobs, async'"},
	{Claim: "C27", Name: "SomeDips", Figures: with(buffers(20, 60, 95), "flush 2ms, 100 jobs, async: worst second", 95,
		70, 95, 95), Want: claims.Inconclusive, Why: "is not at least 80 % in every turn"},
	{Claim: "C27", Name: "ShortTurns", Bench: site.Bench{Duration: 5 * time.Second}, Figures: buffers(20, 60, 95),
		Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C28", Name: "AsSaid", Figures: transactions(10, 0, 5), Want: claims.Confirmed},
	{Claim: "C28", Name: "StillWaits", Figures: transactions(10, 8, 5), Want: claims.Refuted, Why: "is more than 1 %"},
	{Claim: "C28", Name: "NoDeadlocks", Figures: transactions(10, 0, 0), Want: claims.Refuted, Why: "deadlocks"},
	{Claim: "C28", Name: "NothingToWaitFor", Figures: transactions(0, 0, 5), Want: claims.Inconclusive,
		Why: "no waits for the log that could disappear"},
	{Claim: "C28", Name: "SmallObjects", Figures: with(transactions(10, 0, 5), logVolume, four(0.04)...),
		Want: claims.SmallScale, Why: "log of an object"},
	{Claim: "C55", Name: "Named", Figures: grown(200, busyShare, 200, 95), Want: claims.Confirmed,
		Why: "the limit: the processors"},
	{Claim: "C55", Name: "NamedByWaits", Figures: grown(200, waitsShare, 200, 60), Want: claims.Confirmed,
		Why: "the limit: flushes of the log"},
	{Claim: "C55", Name: "NamedWhileDoublingPays", Figures: grown(200, waitsShare, 50, 91), Want: claims.Refuted,
		Why: "no counter names the limit"},
	{Claim: "C55", Name: "Nameless", Figures: grown(200, waitsShare, 200, 10), Want: claims.Refuted,
		Why: "no counter names the limit"},
	{Claim: "C55", Name: "StillRises", Figures: grown(400, busyShare, 400, 95), Want: claims.Inconclusive,
		Why: "no limit was reached"},
	{Claim: "C55", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second}, Figures: grown(200, busyShare, 200,
		95),
		Want: claims.Inconclusive, Why: "turns are shorter"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
