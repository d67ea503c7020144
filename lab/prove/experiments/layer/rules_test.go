package layer

import (
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
)

// The words of the table.
type plant = sitetest.Plant

var four = sitetest.Four

// whole is a base of the report's scale, half an hour the report's life of a connection.
var (
	whole    = site.Bench{Documents: 3_500_000}
	halfHour = site.Bench{Duration: 30 * time.Minute}
)

// postedAt is the time of a posted document one by one and in chains, on every path.
func postedAt(oneByOne, chained float64) plant {
	return plant{"classic: median": four(oneByOne), "classic, chains of 100: median": four(chained)}
}

// pools of stock: what the claimed optimum and a larger one do (the smallest does 10), and the larger one's memory
// (that of the optimum is 10).
func pools(optimum, beyond, memory float64) plant {
	at := func(size int, series string) string { return poolName(site.Stock, size) + ": " + series }
	return plant{at(c18Optimum, site.OperationRate): four(optimum), at(c18Beyond, site.OperationRate): four(beyond),
		at(c18Beyond, poolMemory): four(memory), at(c18Small, site.OperationRate): four(10)}
}

// unvacuumedWith are the documents and dead rows of both engines without autovacuum; with it they are 10 of each.
func unvacuumedWith(documents, dead float64) plant {
	p := plant{}
	for _, v := range bothEngines {
		name := c32Side(v, unvacuumed) + ": "
		p[name+documentRate], p[name+c32Dead] = four(documents), four(dead)
	}
	return p
}

// otherDisk: /proc is on another device than anything that could hold data; otherDisks are three such.
var (
	otherDisk  = site.Bench{Disks: []string{"/proc"}}
	otherDisks = site.Bench{Disks: []string{"/proc", "/sys", "/dev/pts"}, Documents: whole.Documents}
)

var rulings = []sitetest.Ruling{
	{Claim: "C05", Name: "More", Bench: whole, Figures: plant{reported.name + ": documents": four(15)},
		Want: claims.Confirmed},
	{Claim: "C05", Name: "MoreOnASmallBase", Figures: plant{reported.name + ": documents": four(15)},
		Want: claims.SmallScale, Why: "scale of the base: 0.01"},
	{Claim: "C05", Name: "MoreOnAFullMachine", Bench: whole, Figures: plant{reported.name + ": documents": four(15),
		trial.Busy: four(95)}, Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C05", Name: "Less", Bench: whole, Figures: plant{reported.name + ": documents": four(5)},
		Want: claims.Refuted},
	{Claim: "C05", Name: "LessOnASmallBase", Figures: plant{reported.name + ": documents": four(5)},
		Want: claims.Inconclusive, Why: "a smaller situation refutes nothing"},
	{Claim: "C05", Name: "TheSame", Figures: plant{reported.name +
		": documents": {9, 11, 9, 11}}, Want: claims.Inconclusive},
	{Claim: "C05", Name: "SmallBase", Bench: site.Bench{Documents: 20_000},
		Figures: plant{reported.name + ": documents": four(15)},
		Want:    claims.Inconclusive, Why: "a smaller base fits into the memory"},
	{Claim: "C05", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second}, Figures: plant{
		reported.name + ": documents": four(15)}, Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C13", Name: "Fewer", Figures: plant{"stock, pool of 2000: within 4T": four(15)}, Want: claims.Confirmed},
	{Claim: "C13", Name: "FewerOnAFullMachine", Figures: plant{"stock, pool of 2000: within 4T": four(15),
		"stock, pool of 50: " + trial.Busy: four(99)}, Want: claims.SmallScale, Why: "processors busy of"},
	{Claim: "C13", Name: "More", Figures: plant{"stock, pool of 2000: within 4T": four(5)}, Want: claims.Refuted,
		Why: "within 4T of 'stock, pool of 2000' against 'stock, pool of 50'"},
	{Claim: "C13", Name: "TheSame", Figures: plant{"stock, pool of 2000: within 4T": {9, 11, 9, 11}},
		Want: claims.Inconclusive},
	{Claim: "C13", Name: "NoTail", Figures: plant{"beyond 4T": {0, 0, 0, 0}}, Want: claims.Inconclusive,
		Why: "no operation is beyond 4T"},
	{Claim: "C13", Name: "OnStockAlone", Figures: plant{"stock, pool of 2000: within 4T": four(15),
		"ours, pool of 2000: within 4T": four(5)}, Want: claims.Confirmed, Why: "stock: confirmed, ours: refuted"},
	{Claim: "C13", Name: "Stopped", Figures: plant{"stock, pool of 2000: within 4T": four(15)}, StopAfter: 22,
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C14", Name: "Smaller", Bench: halfHour, Figures: plant{"stock, jittered: " + excessTime: four(5)},
		Want: claims.Confirmed, Why: "stock: confirmed, ours: refuted"},
	{Claim: "C14", Name: "SmallerInSeconds", Figures: plant{"stock, jittered: " + excessTime: four(5)},
		Want: claims.SmallScale, Why: "load in one go of at least 30m: 20s"},
	{Claim: "C14", Name: "Larger", Bench: halfHour, Figures: plant{"stock, jittered: " + excessTime: four(15)},
		Want: claims.Refuted},
	{Claim: "C14", Name: "TheSame", Figures: plant{"stock, jittered: " + excessTime: {9, 11, 9, 11}},
		Want: claims.Inconclusive},
	{Claim: "C14", Name: "ShortLives", Bench: site.Bench{Duration: 3 * time.Second}, Figures: plant{"jittered: " +
		excessTime: four(5)}, Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C15", Name: "AsClaimed", Figures: plant{clearedSide(site.Stock, byAsking) + ": operations": four(10.6)},
		Want: claims.SmallScale, Why: "nothing but temp tables"},
	{Claim: "C15", Name: "MoreThanClaimed", Figures: plant{clearedSide(site.Stock,
		byAsking) + ": operations": four(18)},
		Want: claims.SmallScale, Why: "surely more than ×1.15"},
	{Claim: "C15", Name: "TheOtherWay", Figures: plant{clearedSide(site.Stock, byAsking) + ": operations": four(8)},
		Want: claims.Inconclusive, Why: "a smaller situation refutes nothing"},
	{Claim: "C15", Name: "Noise", Figures: plant{clearedSide(site.Stock, byAsking) + ": operations": {9.8, 10.8, 10.8,
		12}}, Want: claims.Inconclusive, Why: "is not surely more than ×1"},
	{Claim: "C15", Name: "TruncateDoesNotCount", Figures: plant{clearedSide(site.Stock, byTruncate) +
		": operations": four(5)}, Want: claims.Inconclusive, Why: "surely less than ×1.01; a smaller"},
	{Claim: "C15", Name: "FewTurns", Figures: plant{"operations": {10, 10}}, Want: claims.Inconclusive,
		Why: "too few turns"},
	{Claim: "C16", Name: "AsClaimed", Figures: postedAt(300, 180), Want: claims.Confirmed},
	{Claim: "C16", Name: "FasterByLittle", Figures: postedAt(100, 60), Want: claims.InDirection,
		Why: "40.6 ms is less than 50 ms"},
	{Claim: "C16", Name: "FasterByMuch", Figures: postedAt(1000, 300), Want: claims.InDirection,
		Why: "is more than 200 ms"},
	{Claim: "C16", Name: "FullMachine", Figures: sitetest.With(postedAt(300, 180), trial.Busy, four(99)...),
		Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C16", Name: "BatchesDoNotCount", Figures: plant{"one by one: median": four(300),
		"chained: median": four(150)}, Want: claims.Refuted, Why: "median of posted documents"},
	{Claim: "C16", Name: "LongDelaysDoNotCount", Figures: sitetest.With(postedAt(300, 180),
		"posted documents, 2ms delay, classic, chains of 100: median", four(400)...), Want: claims.Confirmed},
	{Claim: "C16", Name: "DelayNotTrue", Figures: postedAt(300, 180),
		Fail: []sitetest.Failing{{Check: checkDelay, Detail: "the round trip misses it by 0.30 " +
			"ms"}}, Want: claims.Inconclusive, Why: "misses it"},
	{Claim: "C16", Name: "OneSlower", Figures: sitetest.With(postedAt(300, 180),
		"posted documents, 500µs delay, classic, chains of 100: median", four(400)...), Want: claims.Refuted,
		Why: "surely at least ×1"},
	{Claim: "C16", Name: "OneUnsure", Figures: sitetest.With(postedAt(300, 180),
		"posted documents, 500µs delay, classic, chains of 100: median", 250, 350, 250, 350), Want: claims.Inconclusive,
		Why: "500µs"},
	{Claim: "C16", Name: "OnePathMissing", Figures: postedAt(300, 180), StopAfter: 16, Want: claims.Inconclusive,
		Why: "too few turns"},
	{Claim: "C18", Name: "AnOptimum", Figures: pools(20, 15, 30), Want: claims.Confirmed,
		Why: "stock: confirmed, ours: refuted"},
	{Claim: "C18", Name: "AnOptimumOfAFullMachine", Figures: sitetest.With(pools(20, 15, 30), trial.Busy, four(99)...),
		Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C18", Name: "LargerIsBetter", Figures: pools(20, 25, 30), Want: claims.Refuted, Why: "surely at least ×1"},
	{Claim: "C18", Name: "LargerIsNoWorse", Figures: sitetest.With(pools(20, 20, 30), poolName(site.Stock,
		c18Beyond)+": "+site.OperationRate, 19, 21, 19, 21), Want: claims.Inconclusive,
		Why: "is not surely less than ×1"},
	{Claim: "C18", Name: "SmallerIsBetter", Figures: pools(9, 5, 30), Want: claims.Refuted, Why: "surely at most ×1"},
	{Claim: "C18", Name: "SmallerIsBetterOnAFullMachine", Figures: sitetest.With(pools(9, 5, 30), trial.Busy,
		four(99)...), Want: claims.Inconclusive, Why: "a smaller situation refutes nothing"},
	{Claim: "C18", Name: "NoMoreMemory", Figures: pools(20, 15, 9), Want: claims.Refuted, Why: poolMemory},
	{Claim: "C18", Name: "FewTurns", Figures: sitetest.With(pools(20, 15, 30), poolName(site.Stock, c18Optimum)+": "+
		site.OperationRate, 20, 20), Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C19", Name: "BothHalves", Bench: otherDisks, Figures: plant{allApart.name + ": documents": four(12)},
		Want: claims.Confirmed},
	{Claim: "C19", Name: "BothHalvesOnDisksOfItsOwn", Bench: site.Bench{Documents: otherDisks.Documents},
		Figures: plant{allApart.name + ": documents": four(12)}, Want: claims.Confirmed},
	{Claim: "C19", Name: "BothHalvesOnASmallBase", Figures: plant{allApart.name + ": documents": four(12)},
		Want: claims.SmallScale, Why: "scale of the base: 0.01"},
	{Claim: "C19", Name: "BothHalvesOnTwoDisks", Bench: otherDisk,
		Figures: plant{allApart.name + ": documents": four(12)},
		Want:    claims.SmallScale, Why: "disks besides that of the data: 1"},
	{Claim: "C19", Name: "NoHalfOfA", Bench: otherDisks, Figures: plant{}, Want: claims.Refuted,
		Why: "documents of all apart against one disk"},
	{Claim: "C19", Name: "Faster", Bench: otherDisks, Figures: plant{tempApart.name + ": documents": four(15),
		allApart.name + ": documents": four(15)}, Want: claims.Refuted,
		Why: "documents of temp tables apart against one disk"},
	{Claim: "C19", Name: "Unsure", Bench: otherDisks, Figures: plant{tempApart.name + ": documents": {9, 11, 9, 11},
		allApart.name + ": documents": four(12)}, Want: claims.Inconclusive},
	{Claim: "C19", Name: "MemoryIsNoDisk", Bench: site.Bench{Disks: []string{"/dev/shm"}}, Figures: plant{},
		Want: claims.Inconclusive, Why: "all folders are on the disk of the data"},
	{Claim: "C19", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second, Disks: otherDisk.Disks},
		Figures: plant{}, Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C32", Name: "Fewer", Figures: unvacuumedWith(9.4, 30), Want: claims.SmallScale,
		Why: "load in one go of at least 1h: 30s"},
	{Claim: "C32", Name: "FewerInHours", Bench: site.Bench{Full: true}, Figures: unvacuumedWith(9.4, 30),
		Want: claims.SmallScale, Why: "the load: documents posted"},
	{Claim: "C32", Name: "FarFewer", Figures: unvacuumedWith(5, 30), Want: claims.SmallScale,
		Why: "surely less than ×0.9"},
	{Claim: "C32", Name: "FewerWithoutDeadRows", Figures: unvacuumedWith(9.4, 9), Want: claims.Inconclusive,
		Why: "dead rows"},
	{Claim: "C32", Name: "More", Figures: unvacuumedWith(15, 30), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C32", Name: "TheSame", Figures: sitetest.With(unvacuumedWith(10, 30),
		"stock, autovacuum off: documents", 9, 11, 9, 11), Want: claims.Inconclusive},
	{Claim: "C32", Name: "FewerOnOursAlone", Figures: sitetest.With(unvacuumedWith(15, 30),
		"ours, autovacuum off: documents", four(9.4)...), Want: claims.Inconclusive,
		Why: "stock: inconclusive, ours: small scale"},
	{Claim: "C36", Name: "Slower",
		Figures: plant{targetSide(10_000) + ": operations": four(5)},
		Want:    claims.SmallScale, Why: "the lag of a replica"},
	{Claim: "C36", Name: "Faster",
		Figures: plant{targetSide(10_000) + ": operations": four(12)},
		Want:    claims.Inconclusive, Why: "surely at least ×1; a smaller situation refutes nothing"},
	{Claim: "C36", Name: "TheSame", Figures: plant{targetSide(10_000) +
		": operations": {9,
		11, 9,
		11}}, Want: claims.Inconclusive},
	{Claim: "C36", Name: "SmallBase", Bench: site.Bench{Documents: 20_000},
		Figures: plant{targetSide(10_000) + ": operations": four(5)},
		Want:    claims.Inconclusive, Why: "do not have 10,000 values"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
