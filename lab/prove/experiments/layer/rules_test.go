package layer

import (
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// The words of the table.
type plant = sitetest.Plant

var four = sitetest.Four

// pools of stock: what the claimed optimum and a larger one do (the smallest does 10), and the larger one's memory
// (that of the optimum is 10).
func pools(optimum, beyond, memory float64) plant {
	at := func(size int, series string) string { return poolName(site.Stock, size) + ": " + series }
	return plant{at(c18Optimum, site.OperationRate): four(optimum), at(c18Beyond, site.OperationRate): four(beyond),
		at(c18Beyond, poolMemory): four(memory), at(c18Small, site.OperationRate): four(10)}
}

// otherDisk: /proc is on another device than anything that could hold data.
var otherDisk = site.Bench{Disks: []string{"/proc"}}

var rulings = []sitetest.Ruling{
	{Claim: "C05", Name: "More", Figures: plant{reported.name +
		": documents": four(15)}, Want: claims.Confirmed},
	{Claim: "C05", Name: "Less", Figures: plant{reported.name +
		": documents": four(5)}, Want: claims.Refuted},
	{Claim: "C05", Name: "TheSame", Figures: plant{reported.name +
		": documents": {9, 11, 9, 11}}, Want: claims.Inconclusive},
	{Claim: "C05", Name: "SmallBase", Bench: site.Bench{Documents: 20_000},
		Figures: plant{reported.name + ": documents": four(15)},
		Want:    claims.Inconclusive, Why: "a smaller base fits into the memory"},
	{Claim: "C05", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second}, Figures: plant{
		reported.name + ": documents": four(15)}, Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C13", Name: "Fewer", Figures: plant{"stock, pool of 2000: beyond 4T": four(5)}, Want: claims.Confirmed},
	{Claim: "C13", Name: "More", Figures: plant{"stock, pool of 2000: beyond 4T": four(15)}, Want: claims.Refuted,
		Why: "beyond 4T of 'stock, pool of 50'"},
	{Claim: "C13", Name: "TheSame", Figures: plant{"stock, pool of 2000: beyond 4T": {9, 11, 9, 11}},
		Want: claims.Inconclusive},
	{Claim: "C13", Name: "NoTail", Figures: plant{"beyond 4T": {0, 0, 0, 0}}, Want: claims.Inconclusive,
		Why: "no operation is beyond 4T"},
	{Claim: "C13", Name: "OnStockAlone", Figures: plant{"stock, pool of 2000: beyond 4T": four(5),
		"ours, pool of 2000: beyond 4T": four(15)}, Want: claims.Confirmed, Why: "stock: confirmed, ours: refuted"},
	{Claim: "C13", Name: "Stopped", Figures: plant{"stock, pool of 2000: beyond 4T": four(5)}, StopAfter: 22,
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C14", Name: "OnStockAlone", Figures: plant{"stock, jittered: " + worstTime: four(5)},
		Want: claims.Confirmed, Why: "stock: confirmed, ours: refuted"},
	{Claim: "C14", Name: "Smaller", Figures: plant{"stock, jittered: " + worstTime: four(5)}, Want: claims.Confirmed},
	{Claim: "C14", Name: "Larger", Figures: plant{"stock, jittered: " + worstTime: four(15)}, Want: claims.Refuted},
	{Claim: "C14", Name: "TheSame", Figures: plant{"stock, jittered: " + worstTime: {9, 11, 9, 11}},
		Want: claims.Inconclusive},
	{Claim: "C14", Name: "ShortLives", Bench: site.Bench{Duration: 3 * time.Second}, Figures: plant{"jittered: " +
		worstTime: four(5)}, Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C15", Name: "MoreThanClaimed", Figures: plant{"stock, ask: operations": four(12)}, Want: claims.Confirmed},
	{Claim: "C15", Name: "SurelyLess", Figures: plant{"stock, ask: operations": four(10.1)}, Want: claims.Refuted,
		Why: "surely less than ×1.05"},
	{Claim: "C15", Name: "Noise", Figures: plant{"stock, ask: " +
		"operations": {9.8, 10.8, 10.8, 12}}, Want: claims.Inconclusive,
		Why: "is not surely more than ×1 and at least ×1.05 on the median"},
	{Claim: "C15", Name: "MoreByLittle", Figures: plant{"stock, ask: operations": {10.2, 10.3, 10.4, 10.6}},
		Want: claims.Inconclusive, Why: "at least ×1.05 on the median"},
	{Claim: "C15", Name: "FewTurns", Figures: plant{"operations": {10, 10}}, Want: claims.Inconclusive,
		Why: "too few turns"},
	{Claim: "C15", Name: "OnStockAlone", Figures: plant{"stock, ask: operations": four(12), "ours, ask: " +
		"operations": four(9)},
		Want: claims.Confirmed, Why: "stock: confirmed, ours: refuted"},
	{Claim: "C16", Name: "AllFasterByEnough",
		Figures: plant{"one by one: median": four(300), "chained: median": four(150)},
		Want:    claims.Confirmed},
	{Claim: "C16", Name: "AllFasterByLittle",
		Figures: plant{"one by one: median": four(100), "chained: median": four(60)},
		Want:    claims.Inconclusive, Why: "40.6 ms is not at least 100 ms"},
	{Claim: "C16", Name: "DelayNotTrue", Figures: plant{"one by one: median": four(300), "chained: median": four(150)},
		Fail: []sitetest.Failing{{Check: checkDelay, Detail: "the round trip misses it by 0.30 " +
			"ms"}}, Want: claims.Inconclusive, Why: "misses it"},
	{Claim: "C16", Name: "OneSlower", Figures: plant{"one by one: median": four(300), "chained: median": four(150),
		"1ms delay, chained: median": four(400)}, Want: claims.Refuted,
		Why: "median of chained against one by one (1ms delay)"},
	{Claim: "C16", Name: "OneUnsure", Figures: plant{"one by one: median": four(300), "chained: median": four(150),
		"loopback, chained: median": {250, 350, 250, 350}}, Want: claims.Inconclusive, Why: "(loopback)"},
	{Claim: "C16", Name: "OnePathMissing",
		Figures:   plant{"one by one: median": four(300), "chained: median": four(150)},
		StopAfter: 16, Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C18", Name: "AnOptimum", Figures: pools(20, 15, 30), Want: claims.Confirmed},
	{Claim: "C18", Name: "LargerIsBetter", Figures: pools(20, 25, 30), Want: claims.Refuted,
		Why: "surely at least ×1"},
	{Claim: "C18", Name: "LargerIsNoWorse", Figures: sitetest.With(pools(20, 20, 30), poolName(site.Stock,
		c18Beyond)+": "+
		site.OperationRate, 19, 21, 19, 21), Want: claims.Inconclusive, Why: "is not surely less than ×1"},
	{Claim: "C18", Name: "SmallerIsBetter", Figures: pools(9, 5, 30), Want: claims.Refuted, Why: "surely at most ×1"},
	{Claim: "C18", Name: "NoMoreMemory", Figures: pools(20, 15, 9), Want: claims.Refuted, Why: poolMemory},
	{Claim: "C18", Name: "FewTurns", Figures: sitetest.With(pools(20, 15, 30), poolName(site.Stock, c18Optimum)+": "+
		site.OperationRate, 20, 20), Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C19", Name: "NoChange", Bench: otherDisk,
		Figures: plant{tempApart.name + ": documents": {10, 10, 10.1, 10}}, Want: claims.Confirmed},
	{Claim: "C19", Name: "Faster", Bench: otherDisk, Figures: plant{tempApart.name + ": documents": four(15)},
		Want: claims.Refuted, Why: "documents of temp tables apart against one disk"},
	{Claim: "C19", Name: "Unsure", Bench: otherDisk, Figures: plant{tempApart.name + ": documents": {9, 11, 9, 11}},
		Want: claims.Inconclusive},
	{Claim: "C19", Name: "OneDisk", Figures: plant{tempApart.name + ": documents": {10, 10, 10.1, 10}},
		Want: claims.Inconclusive, Why: "all folders are on the disk of the data"},
	{Claim: "C19", Name: "ShortTurns", Bench: site.Bench{Duration: time.Second, Disks: otherDisk.Disks},
		Figures: plant{tempApart.name + ": documents": {10, 10, 10.1, 10}}, Want: claims.Inconclusive,
		Why: "turns are shorter"},
	{Claim: "C32", Name: "Fewer", Figures: plant{"autovacuum off: documents": four(5)}, Want: claims.Confirmed},
	{Claim: "C32", Name: "More", Figures: plant{"autovacuum off: documents": four(15)}, Want: claims.Refuted},
	{Claim: "C32", Name: "TheSame", Figures: plant{"autovacuum off: documents": {9, 11, 9, 11}},
		Want: claims.Inconclusive},
	{Claim: "C36", Name: "Slower",
		Figures: plant{targetSide(10_000) + ": operations": four(5)},
		Want:    claims.Confirmed},
	{Claim: "C36", Name: "Faster",
		Figures: plant{targetSide(10_000) + ": operations": four(12)},
		Want:    claims.Refuted},
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
