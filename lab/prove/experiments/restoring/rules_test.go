package restoring

import (
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
)

// The words of the table.
type plant = sitetest.Plant

var four, with = sitetest.Four, sitetest.With

// restored in a manner at some pace, on both engines.
func restored(m manner, lines ...float64) plant {
	return plant{m.on(site.Stock).String() + ": " + linePace: lines, m.on(site.Ours).String() + ": " + linePace: lines}
}

var rulings = []sitetest.Ruling{
	// 2,000,000 lines in 12 h are 46.3 a second
	{Claim: "C31", Name: "Slower", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, four(32)...),
		Want: claims.SmallScale, Why: "code and machine: ours, the report's the vendor's"},
	{Claim: "C31", Name: "Faster", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, four(60)...),
		Want: claims.Inconclusive, Why: "a smaller situation refutes nothing"},
	{Claim: "C31", Name: "Both", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, 40, 41, 62, 63),
		Want: claims.Inconclusive},
	{Claim: "C31", Name: "Small", Figures: restored(wholeWarehouse, four(32)...), Want: claims.SmallScale,
		Why: "documents of the month: 15,000, the report's 150,000"},
	{Claim: "C31", Name: "OtherThreads", Bench: site.Bench{Full: true, Threads: 5},
		Figures: restored(wholeWarehouse, four(32)...), Want: claims.SmallScale, Why: "threads: 5, the report's 10"},
	{Claim: "C31", Name: "FewTurns", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, 40, 41, 42),
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C33", Name: "AsClaimed", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, four(30)...),
		Want: claims.Confirmed},
	{Claim: "C33", Name: "More", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, four(40)...),
		Want: claims.InDirection, Why: "surely more than ×3.75"},
	{Claim: "C33", Name: "Less", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, four(20)...),
		Want: claims.InDirection, Why: "surely less than ×2.4"},
	{Claim: "C33", Name: "None", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, four(10)...),
		Want: claims.Refuted, Why: "surely less than ×1.24"},
	{Claim: "C33", Name: "MoreOnOursAlone", Bench: site.Bench{Full: true}, Figures: plant{"ours, " +
		documentsGoods.name +
		": lines per second": four(30)}, Want: claims.Refuted, Why: "stock: refuted, ours: confirmed"},
	{Claim: "C33", Name: "Around", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, 9, 32, 9, 32),
		Want: claims.Inconclusive},
	{Claim: "C33", Name: "Small", Figures: restored(documentsGoods, four(30)...), Want: claims.SmallScale,
		Why: "documents of the month: 15,000"},
	{Claim: "C34", Name: "AsClaimed", Bench: site.Bench{Full: true}, Figures: with(restored(monthTotals, four(60)...),
		documentsGoods.on(site.Stock).String()+": "+linePace, four(30)...), Want: claims.Confirmed},
	{Claim: "C34", Name: "Less", Bench: site.Bench{Full: true}, Figures: restored(monthTotals, four(15)...),
		Want: claims.InDirection, Why: "surely less than ×1.6"},
	{Claim: "C34", Name: "TwiceButNotSixTimes", Bench: site.Bench{Full: true}, Figures: restored(monthTotals,
		four(20)...),
		Want: claims.InDirection, Why: "surely less than ×4.8"},
	{Claim: "C34", Name: "None", Bench: site.Bench{Full: true}, Figures: restored(monthTotals, four(10)...),
		Want: claims.Refuted},
	{Claim: "C34", Name: "Around", Bench: site.Bench{Full: true}, Figures: restored(monthTotals, 9, 62, 9, 62),
		Want: claims.Inconclusive},
	{Claim: "C34", Name: "Small", Figures: restored(monthTotals, four(15)...), Want: claims.SmallScale,
		Why: "documents of the month: 15,000"},
	{Claim: "C37", Name: "ItMatters", Bench: site.Bench{Full: true}, Figures: plant{"100 threads: lines per " +
		"second": four(10),
		"stock, 50 threads: lines per second": four(20), "ours, 50 threads: lines per second": four(20)},
		Want: claims.Confirmed},
	{Claim: "C37", Name: "OneNumberWouldDo", Figures: plant{}, Want: claims.Refuted},
	{Claim: "C37", Name: "PerhapsItMatters", Bench: site.Bench{Full: true}, Figures: plant{
		"stock, 50 threads: lines per second": {8, 10, 10, 12}}, Want: claims.Inconclusive},
	{Claim: "C37", Name: "NotAll", Bench: site.Bench{Full: true}, Figures: plant{
		"stock, 100 threads: lines per second": {10, 10}}, Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C37", Name: "FullMachine", Bench: site.Bench{Full: true}, Figures: plant{trial.Busy: four(99),
		"stock, 50 threads: lines per second": four(20)}, Want: claims.SmallScale, Why: "processors with room"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
