package extensions

import (
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// The words of the table.
type plant = sitetest.Plant

var four, with = sitetest.Four, sitetest.With

// searches take so long, for all shapes; the generic matcher takes 10.
func searches(times ...float64) plant {
	p := plant{}
	for _, shape := range c10Shapes {
		p[likeSide(searched, shape)+": "+queryTime] = times
	}
	return p
}

// withoutStatistics all joins on a flavour take so long; with them they take 10.
func withoutStatistics(v site.Variant, times ...float64) plant {
	p := plant{}
	for _, shape := range c35Shapes {
		for _, rows := range c35Rows {
			p[joinSide(v, noStatistics, rows, shape)+": "+batchTime] = times
		}
	}
	return p
}

var worstJoin = c35Shapes[len(c35Shapes)-1]

var rulings = []sitetest.Ruling{
	{Claim: "C10", Name: "Faster", Figures: searches(four(1)...), Want: claims.Confirmed},
	{Claim: "C10", Name: "SlowerOnOneShape", Figures: with(searches(four(1)...),
		likeSide(searched, c10Shapes[5])+": "+queryTime, four(20)...), Want: claims.Refuted,
		Why: "surely less than ×1"},
	{Claim: "C10", Name: "FasterByLittle", Figures: searches(four(5)...), Want: claims.Confirmed},
	{Claim: "C10", Name: "Around", Figures: searches(8, 12, 8, 12), Want: claims.Inconclusive},
	{Claim: "C10", Name: "FindsSomethingElse", Figures: searches(four(1)...), Want: claims.Refuted,
		Fail: []sitetest.Failing{{Check: checkMatches, Detail: "substring search finds 3 of 4 values"}}, Why: "3 of 4"},
	{Claim: "C10", Name: "FewTurns", Figures: searches(1, 1), Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C17", Name: "All", Figures: with(plant{works: {1}}, controlSide+": "+works, 0), Want: claims.Confirmed,
		Why: "on ours 6, on stock 6"},
	{Claim: "C17", Name: "OneLess", Figures: with(with(plant{works: {1}}, controlSide+": "+works, 0),
		"ours, fulleq: "+works, 0), Want: claims.Refuted, Why: "ours, fulleq"},
	{Claim: "C17", Name: "NothingIsTested", Figures: plant{works: {1}}, Want: claims.Inconclusive,
		Why: "what is not there seems to work"},
	{Claim: "C35", Name: "MuchSlower", Figures: withoutStatistics(site.Stock, four(400)...), Want: claims.SmallScale,
		Why: "surely more than ×24"},
	{Claim: "C35", Name: "AsClaimed", Figures: withoutStatistics(site.Stock, four(170)...), Want: claims.SmallScale,
		Why: "a month's costs restored"},
	{Claim: "C35", Name: "MuchSlowerOfOneJoin", Figures: plant{joinSide(site.Stock, noStatistics, c35Rows[0],
		worstJoin) + ": " + batchTime: four(170)}, Want: claims.SmallScale},
	{Claim: "C35", Name: "Slower", Figures: withoutStatistics(site.Stock, four(50)...), Want: claims.SmallScale,
		Why: "surely less than ×12"},
	{Claim: "C35", Name: "Around", Figures: withoutStatistics(site.Stock, 8, 190, 8, 190),
		Want: claims.Inconclusive},
	{Claim: "C35", Name: "SmallRegister", Bench: site.Bench{Documents: 10_000},
		Figures: withoutStatistics(site.Stock, four(400)...), Want: claims.SmallScale,
		Why: "rows of the register: 10,000, the report's millions"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
