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

// commits of a side at the judged latency: one of its series.
func commits(side, series string, figure float64) plant {
	return plant{latencyPart(judgedLatency) + ", " + side + ": " + series: four(figure)}
}

// buffers of 100 jobs: how often the log's buffer was full, and the worst seconds synchronous and asynchronous.
func buffers(full, synchronous, asynchronous float64) plant {
	p := commits("100 jobs, sync", bufferFull, full)
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
	{Claim: "C20", Name: "FasterWithoutWaits", Figures: with(commits("50 jobs, async", pace, 13),
		"flush 2ms, 50 jobs, async: waits for the log", 0, 0.4, 1, 0), Want: claims.Confirmed},
	{Claim: "C20", Name: "FasterWithWaits", Figures: with(commits("50 jobs, async", pace, 13),
		"flush 2ms, 50 jobs, async: waits for the log", 0, 0, 1.5, 0), Want: claims.Inconclusive,
		Why: "not disappeared"},
	{Claim: "C20", Name: "FasterUnwatched", Figures: with(commits("50 jobs, async", pace, 13), "waits for the log"),
		Want: claims.Inconclusive},
	{Claim: "C20", Name: "NothingToWaitFor", Figures: with(commits("50 jobs, async", pace, 13), "waits for the log",
		0, 0, 0, 0), Want: claims.Inconclusive, Why: "there were no waits for the log that could disappear"},
	{Claim: "C20", Name: "StillWaits", Figures: commits("50 jobs, async", pace, 13), Want: claims.Refuted,
		Why: "(flush 2ms): 10 (10 to 10) % is more than 1 % in every turn"},
	{Claim: "C20", Name: "SurelyLess", Figures: with(commits("50 jobs, async", pace, 10),
		"flush 2ms, 50 jobs, async: waits for the log", 0, 0, 0, 0), Want: claims.Refuted},
	{Claim: "C20", Name: "OtherLatenciesDoNotCount", Figures: plant{"flush 5ms, 50 jobs, async: objects per " +
		"second": four(13),
		"flush 2ms, 50 jobs, async: waits for the log": four(0)}, Want: claims.Refuted},
	{Claim: "C20", Name: "ProcessorsFull", Figures: with(with(commits("50 jobs, "+
		"async", pace, 10), busyShare, 85, 90, 85,
		90), "flush 2ms, 50 jobs, async: waits for the log", 0, 0, 0, 0), Want: claims.Inconclusive,
		Why: "the processors are the limit, not the log"},
	{Claim: "C20", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second}, Figures: with(commits("50 jobs, "+
		"async", pace,
		13), "flush 2ms, 50 jobs, async: waits for the log", 0, 0, 0, 0), Want: claims.Inconclusive,
		Why: "turns are shorter"},
	{Claim: "C21", Name: "More", Figures: commits("75 jobs, async", pace, 15), Want: claims.Confirmed},
	{Claim: "C21", Name: "LessThanOf50", Figures: with(commits("75 jobs, async", pace, 12),
		"flush 2ms, 75 jobs, sync: objects per second", four(8)...), Want: claims.Refuted,
		Why: "against '50 jobs, sync' (flush 2ms): ×1.22 (1.2 to 1.24) is surely less"},
	{Claim: "C21", Name: "NoMoreThanSynchronous", Figures: with(commits("75 jobs, async", pace, 15),
		"flush 2ms, 75 jobs, sync: objects per second", four(14)...), Want: claims.Refuted, Why: "'75 jobs, sync'"},
	{Claim: "C21", Name: "Around", Figures: with(commits("75 jobs, async", pace, 15),
		"flush 2ms, 75 jobs, async: objects per second", 14, 15, 14, 15), Want: claims.Inconclusive},
	{Claim: "C21", Name: "ProcessorsFull", Figures: with(commits("75 jobs, async", pace, 12), busyShare, four(90)...),
		Want: claims.Inconclusive, Why: "the processors are the limit"},
	{Claim: "C24", Name: "Both", Figures: plant{"set by set, synchronous, 1 worker: objects per second": four(13),
		"set by set, synchronous, 4 workers: objects per second": four(13)}, Want: claims.Confirmed},
	{Claim: "C24", Name: "SlowerOn1", Figures: plant{"set by set, synchronous, 1 worker: objects per second": four(8),
		"set by set, synchronous, 4 workers: objects per second": four(13)}, Want: claims.Refuted, Why: "1 worker"},
	{Claim: "C24", Name: "SlowerOn4", Figures: plant{
		"set by set, synchronous, 1 worker: objects per second":  {9, 11, 9, 11},
		"set by set, synchronous, 4 workers: objects per second": four(8)}, Want: claims.Refuted, Why: "4 workers"},
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
	{Claim: "C55", Name: "Named", Figures: plant{busyShare: four(95)}, Want: claims.Confirmed,
		Why: "the limit: the processors"},
	{Claim: "C55", Name: "NamedByWaits", Figures: plant{waitsShare: four(60)}, Want: claims.Confirmed,
		Why: "the limit: flushes of the log"},
	{Claim: "C55", Name: "Nameless", Figures: plant{}, Want: claims.Refuted,
		Why: "no counter names the limit"},
	{Claim: "C55", Name: "StillRises", Figures: with(commits("400 jobs, sync", pace, 20), busyShare, four(95)...),
		Want: claims.Inconclusive, Why: "no limit was reached"},
	{Claim: "C55", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second}, Figures: plant{busyShare: four(95)},
		Want: claims.Inconclusive, Why: "turns are shorter"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
