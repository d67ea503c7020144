package scale

import (
	"math"
	"testing"

	"plimsoll/erp/books"
	"plimsoll/erp/operations"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// The words of the table.
type plant = sitetest.Plant

var four, with = sitetest.Four, sitetest.With

// c01Plant is four repetitions of a minute with a score and a rate.
func c01Plant(score, rate float64) plant {
	return plant{lowerScore: {score, score, score, score}, apdexScore: {score, score, score, score},
		site.OperationRate: {rate, rate, rate, rate},
		measuredTime:       {60, 60, 60, 60}, booksState: {0, 0, 0, 0}, differentCount: {0, 0, 0, 0},
		weight: four(claimedWeight / 2)}
}

// long is a load in one go as long as the report's situation asks for, whole a base of its scale.
var (
	long  = site.Bench{Duration: c01Full}
	whole = site.Bench{Documents: 3_500_000}
)

// c02Plant is a base that has its share of everything, with one thing so many times as often.
func c02Plant(name string, times float64) plant { return c02PlantOf(site.Bench{}, name, times) }

func c02PlantOf(b site.Bench, name string, times float64) plant {
	large := baseSide{scale: c02ScaleOf(b)}
	p := plant{}
	for series, reported := range reportedCounts() {
		n := math.Round(float64(reported) * large.scale)
		if series == name {
			n = math.Trunc(n * times)
		}
		p[large.name()+": "+series] = []float64{n}
	}
	return p
}

// kept is the pace with half of the session data in memory and with a tenth, where all of it gives 10, and the data of
// a session.
func kept(half, tenth, kB float64) plant {
	return plant{halfInMemory + ": " + sessionRate: four(half), tenthInMemory + ": " + sessionRate: four(tenth),
		allInMemory + ": " + sessionRate: four(10), sessionKB: four(kB)}
}

var rulings = []sitetest.Ruling{
	{Claim: "C01", Name: "AllWell", Bench: long, Figures: c01Plant(0.95, 24.9), Want: claims.Confirmed},
	{Claim: "C01", Name: "Short", Figures: c01Plant(0.95, 24.9), Want: claims.SmallScale, Why: "load in one go"},
	{Claim: "C01", Name: "SmallBase", Bench: long, Figures: with(c01Plant(0.95, 24.9), scaleOfBase, four(0.01)...),
		Want: claims.SmallScale, Why: "scale of the base: 0.01"},
	{Claim: "C01", Name: "LightOperations", Bench: long, Figures: with(c01Plant(0.95, 24.9), weight, four(0.03)...),
		Want: claims.SmallScale, Why: "core-seconds of an operation: 0.03"},
	{Claim: "C01", Name: "AllBelow", Figures: c01Plant(0.8499, 24.9), Want: claims.Refuted,
		Why: "less than 0.85 in every turn"},
	{Claim: "C01", Name: "AllBelowAndStopped", Figures: c01Plant(0.8499, 24.9), StopAfter: 2,
		Want: claims.Inconclusive, Why: "too few turns, 2 of 4"},
	{Claim: "C01", Name: "SomeBelow", Figures: with(c01Plant(0.95, 24.9), lowerScore, 0.95, 0.84, 0.95, 0.95),
		Want: claims.Inconclusive, Why: "is not at least 0.85 in every turn"},
	{Claim: "C01", Name: "WrongBooks", Figures: c01Plant(0.95, 24.9), Fail: []sitetest.Failing{{Check: checkBooks,
		Detail: "wrong books"}},
		Want: claims.Refuted, Why: "turn 1 of 4: wrong books"},
	{Claim: "C01", Name: "NotValid", Figures: c01Plant(0.95, 24.9),
		Fail: []sitetest.Failing{{Check: checkValid, Detail: "not valid: the generator lagged"}},
		Want: claims.Inconclusive,
		Why:  "generator lagged"},
	{Claim: "C01", Name: "RecountDiffers", Figures: c01Plant(0.95, 24.9),
		Fail: []sitetest.Failing{{Check: checkRecount, Detail: "5 reported, 6 recounted"}}, Want: claims.Inconclusive,
		Why: "5 reported"},
	{Claim: "C01", Name: "TooSlow", Figures: c01Plant(0.95, 20), Want: claims.Inconclusive, Why: "standard errors"},
	{Claim: "C01", Name: "RateWithinChance", Bench: long, Figures: c01Plant(0.95, 24.6), Want: claims.Confirmed},
	{Claim: "C01", Name: "Stopped", Figures: c01Plant(0.95, 24.9), StopAfter: 2, Want: claims.Inconclusive,
		Why: "too few turns, 2 of 4"},
	{Claim: "C01", Name: "FewerUsers", Bench: site.Bench{Users: 3000}, Figures: c01Plant(0.95, 2.49),
		Want: claims.SmallScale, Why: "users: 3,000, the report's 30,000"},
	{Claim: "C01", Name: "FewerUsersBelow", Bench: site.Bench{Users: 3000}, Figures: c01Plant(0.8, 2.49),
		Want: claims.Refuted, Why: "less than 0.85"},
	{Claim: "C01", Name: "FewerRepetitions", Bench: site.Bench{Repetitions: 1}, Figures: c01Plant(0.95, 24.9),
		Want: claims.Inconclusive, Why: "too few turns, 1 of 4"},
	{Claim: "C02", Name: "AllWell", Bench: whole, Figures: c02PlantOf(whole, "", 1), Want: claims.Confirmed},
	{Claim: "C02", Name: "SmallBase", Figures: c02Plant("", 1), Want: claims.SmallScale,
		Why: "scale of the base: 0.01"},
	{Claim: "C02", Name: "WithinRounding", Figures: c02Plant(books.GoodsSale, 1.004), Want: claims.SmallScale},
	{Claim: "C02", Name: "FewerInvoices", Figures: c02Plant(books.InvoiceIssued, 0.8), Want: claims.Inconclusive,
		Why: "not in proportion: invoice_issued (80.0 %)"},
	{Claim: "C02", Name: "NoInvoices", Figures: c02Plant(books.InvoiceIssued, 0), Want: claims.Refuted,
		Why: "types of documents: 16 is less than 17"},
	{Claim: "C02", Name: "ManyFewer", Figures: c02Plant(allDocuments, 0.97), Want: claims.Inconclusive,
		Why: "documents as a share of the report's count times the scale: 0.97"},
	{Claim: "C02", Name: "MoreSales", Figures: c02Plant(books.GoodsSale, 1.1), Want: claims.Inconclusive,
		Why: "goods_sale (110.0 %)"},
	{Claim: "C02", Name: "FewerContracts", Figures: c02Plant(books.Contracts, 0.5), Want: claims.Inconclusive,
		Why: "contracts (50.0 %)"},
	{Claim: "C02", Name: "FewerEmployees", Figures: c02Plant(books.Employees, 0.5), Want: claims.Inconclusive,
		Why: "employees (50.0 %)"},
	{Claim: "C02", Name: "FewerMovements", Figures: c02Plant(movementCount, 0.5), Want: claims.Inconclusive,
		Why: "cost movements as a share of the report's count times the scale: 0.50"},
	{Claim: "C02", Name: "MoreMovements", Figures: c02Plant(movementCount, 2), Want: claims.SmallScale},
	{Claim: "C02", Name: "FewerEntries", Figures: c02Plant(entryCount, 0.25), Want: claims.Inconclusive,
		Why: "entries (25 %, or 100 % with one per line of goods)"},
	{Claim: "C02", Name: "OtherThanFilled", Figures: c02Plant("", 1),
		Fail: []sitetest.Failing{{Check: checkRows, Detail: "differ from what was written"}},
		Want: claims.Refuted, Why: "differ from what was written"},
	{Claim: "C02", Name: "WrongBooks", Figures: c02Plant("", 1), Fail: []sitetest.Failing{{Check: checkBooks,
		Detail: "the books are wrong"}},
		Want: claims.Refuted, Why: "books"},
	{Claim: "C03", Name: "AllWell", Figures: plant{}, Want: claims.SmallScale, Why: "machines that make the load"},
	{Claim: "C03", Name: "FewerSessions", Bench: site.Bench{Users: 7680}, Figures: plant{}, Want: claims.SmallScale,
		Why: "sessions: 7,680, the report's 30,720"},
	{Claim: "C03", Name: "NotValid", Figures: plant{},
		Fail: []sitetest.Failing{{Check: checkValid, Detail: "not valid: lag"}}, Want: claims.Inconclusive,
		Why: "not valid: lag"},
	{Claim: "C03", Name: "AnotherLoad",
		Figures: plant{"one process: " + countOf(operations.All()[0].ID): four(100)}, Want: claims.Refuted,
		Why: "made by only one side"},
	{Claim: "C03", Name: "OtherScores", Figures: plant{"4 agents: apdex": four(9)},
		Want: claims.Refuted, Why: "surely less than ×0.99 or surely more than ×1.01"},
	{Claim: "C03", Name: "UnsureScores", Figures: plant{"4 agents: apdex": {9, 11, 9,
		11}},
		Want: claims.Inconclusive, Why: "not surely at least ×0.99"},
	{Claim: "C03", Name: "TooFewTurns", Bench: site.Bench{Repetitions: 2}, Figures: plant{},
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C03", Name: "Stopped", Figures: plant{}, StopAfter: 5,
		Want: claims.Inconclusive,
		Why:  "too few turns"},
	{Claim: "C04", Name: "AsClaimed", Bench: site.Bench{Full: true}, Figures: kept(8, 5, 850), Want: claims.Confirmed},
	{Claim: "C04", Name: "Both", Figures: kept(8, 5, 850),
		Want: claims.SmallScale, Why: "sessions: 480, the report's 30,000"},
	{Claim: "C04", Name: "LessData", Bench: site.Bench{Full: true}, Figures: kept(8, 5, 190),
		Want: claims.SmallScale, Why: "data of a session"},
	{Claim: "C04", Name: "TenthAlone", Figures: with(kept(8, 5, 850), "half of it: operations", 9, 11, 9, 11),
		Want: claims.Inconclusive, Why: "operations of half of it"},
	{Claim: "C04", Name: "TenthUnsure", Figures: with(kept(5, 5, 850), "a tenth of it: operations", 9, 11, 9, 11),
		Want: claims.Inconclusive},
	{Claim: "C04", Name: "NotFewer", Bench: site.Bench{Full: true}, Figures: kept(11, 11, 850), Want: claims.Refuted},
	{Claim: "C04", Name: "NotFewerOfFewSessions", Figures: kept(11, 11, 850), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C04", Name: "Stopped", Figures: plant{"half of it: operations": four(8),
		"a tenth of it: operations": four(5)}, StopAfter: 6, Want: claims.Inconclusive, Why: "too few turns"},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
