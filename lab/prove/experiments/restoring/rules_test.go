package restoring

import (
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
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
	{Claim: "C31", Name: "Slower", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, four(40)...),
		Want: claims.Confirmed, Why: "stock: confirmed, ours: confirmed"},
	{Claim: "C31", Name: "Faster", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, four(60)...),
		Want: claims.Refuted},
	{Claim: "C31", Name: "FasterOnOurs", Bench: site.Bench{Full: true}, Figures: with(restored(wholeWarehouse,
		four(40)...),
		"ours, "+wholeWarehouse.name+": lines per second", four(60)...), Want: claims.Confirmed,
		Why: "stock: confirmed, ours: refuted"},
	{Claim: "C31", Name: "Both", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, 40, 41, 62, 63),
		Want: claims.Inconclusive},
	{Claim: "C31", Name: "Small", Figures: restored(wholeWarehouse, four(60)...), Want: claims.Inconclusive,
		Why: "this month is smaller; the figures extrapolate from it"},
	{Claim: "C31", Name: "OtherThreads", Bench: site.Bench{Full: true, Threads: 5},
		Figures: restored(wholeWarehouse, four(60)...), Want: claims.Inconclusive},
	{Claim: "C31", Name: "FewTurns", Bench: site.Bench{Full: true}, Figures: restored(wholeWarehouse, 40, 41, 42),
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C33", Name: "More", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, four(40)...),
		Want: claims.Confirmed},
	{Claim: "C33", Name: "Less", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, four(20)...),
		Want: claims.Refuted},
	{Claim: "C33", Name: "MoreOnOursAlone", Bench: site.Bench{Full: true}, Figures: plant{"ours, " +
		documentsGoods.name +
		": lines per second": four(40)}, Want: claims.Refuted, Why: "stock: refuted, ours: confirmed"},
	{Claim: "C33", Name: "Around", Bench: site.Bench{Full: true}, Figures: restored(documentsGoods, 28, 32, 28, 32),
		Want: claims.Inconclusive},
	{Claim: "C33", Name: "Small", Figures: restored(documentsGoods, four(20)...), Want: claims.Inconclusive,
		Why: "this month is smaller"},
	{Claim: "C34", Name: "More", Bench: site.Bench{Full: true}, Figures: restored(monthTotals, four(70)...),
		Want: claims.Confirmed},
	{Claim: "C34", Name: "Less", Bench: site.Bench{Full: true}, Figures: restored(monthTotals, four(15)...),
		Want: claims.Refuted},
	{Claim: "C34", Name: "TwiceButNotSixTimes", Bench: site.Bench{Full: true}, Figures: restored(monthTotals,
		four(30)...),
		Want: claims.Refuted, Why: "surely less than ×6"},
	{Claim: "C34", Name: "Around", Bench: site.Bench{Full: true}, Figures: restored(monthTotals, 58, 62, 58, 62),
		Want: claims.Inconclusive},
	{Claim: "C34", Name: "Small", Figures: restored(monthTotals, four(15)...), Want: claims.Inconclusive,
		Why: "this month is smaller"},
	{Claim: "C37", Name: "ItMatters", Bench: site.Bench{Full: true}, Figures: plant{"100 threads: lines per " +
		"second": four(10),
		"stock, 50 threads: lines per second": four(20), "ours, 50 threads: lines per second": four(20)},
		Want: claims.Confirmed},
	{Claim: "C37", Name: "OneNumberWouldDo", Bench: site.Bench{Full: true}, Figures: plant{}, Want: claims.Refuted},
	{Claim: "C37", Name: "PerhapsItMatters", Bench: site.Bench{Full: true}, Figures: plant{
		"stock, 50 threads: lines per second": {8, 10, 10, 12}}, Want: claims.Inconclusive},
	{Claim: "C37", Name: "NotAll", Bench: site.Bench{Full: true}, Figures: plant{
		"stock, 100 threads: lines per second": {10, 10}}, Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C37", Name: "FewWarehouses", Figures: plant{}, Want: claims.Inconclusive,
		Why: "more threads than warehouses are idle"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
