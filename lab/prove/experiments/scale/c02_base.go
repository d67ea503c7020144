package scale

import (
	"context"
	"fmt"
	"math"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/lab/host/machine"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/problem"
)

// Figures that report A gives for claim C02, beside the documents of each type (fill.Reported).
const (
	c02ClaimedContracts = 28_000_000
	c02ClaimedMovements = 22_000_000
	c02ClaimedEntries   = 20_000_000
)

const (
	c02Scale    = 0.01
	c02ScaleMin = 0.002 // smaller counts are mostly rounding
	// c02Smaller is the ratio of the second, smaller base, which shows what grows with the scale.
	c02Smaller = 5
	c02Audited = 0.2 // of documents and keys
	// c02Rounding is the tolerated difference of a count from the report's, beside one row; c02Total that of all
	// documents together.
	c02Rounding = 0.005
	c02Total    = 0.02
	// c02DiskShare is the share of the free disk that both bases and their WAL may take.
	c02DiskShare = 0.5
)

// c02Scale of the larger base: as many documents as asked for, or with --full as many as fit on the disk.
func c02ScaleOf(b site.Bench) float64 {
	switch {
	case b.Documents != 0:
		return float64(b.Documents) / float64(claimedDocuments())
	case b.Full:
		facts, err := machine.Read("/")
		if err != nil {
			return c02Scale
		}
		return min(1, fill.ScaleOf(int64(float64(facts.DiskFreeBytes)*c02DiskShare)))
	}
	return c02Scale
}

func refuseSmallBase(b site.Bench) error {
	if scale := c02ScaleOf(b); scale < c02ScaleMin {
		return problem.New(problem.Usage,
			fmt.Errorf("%.0f documents are too few to judge proportions", scale*float64(claimedDocuments())),
			fmt.Sprintf("--documents %.0f or more", math.Ceil(c02ScaleMin*float64(claimedDocuments()))))
	}
	return nil
}

func claimedDocuments() (all int) {
	for _, n := range fill.Reported() {
		all += n
	}
	return all
}

// Figures of C02, beside the documents of each type.
const (
	baseSize      = "size"
	fillTime      = "time of filling"
	allDocuments  = "documents"
	contractCount = "contracts"
	movementCount = "cost movements"
	entryCount    = "entries"
	entriesByLine = "entries, were goods kept by item"

	checkedRows    = "rows checked"
	checkedUnits   = "units checked"
	differentUnits = "units that differ"
	violations     = "violations"
)

// Checks of C02.
const checkRows = "rows"

// extrapolated is the side of the estimate for the whole base.
const extrapolated = "scale 1, extrapolated"

// largeBase is the experiment behind C02: a smaller copy of the report's base, and an estimate of the whole.
func largeBase(b site.Bench, s *site.Site) trial.Trial {
	large := baseSide{scale: c02ScaleOf(b)}
	small := baseSide{scale: large.scale / c02Smaller}
	part := trial.Part{InOrder: true, Rounds: 1, Between: (small.takes() + large.takes()) / 2, Series: c02Series(),
		Sides:    []trial.Side{small.side(s, false), large.side(s, true)},
		Check:    func(_ context.Context, r *trial.Record) error { extrapolate(r, small, large); return nil },
		Measured: large.measured(small)}
	return trial.Trial{
		Text: fmt.Sprintf("the base of the claim at scale %.3g and a fifth of that, filled, counted, checked row "+
			"by row and audited", large.scale),
		Overhead: 10 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{
			Checks: []trial.Check{
				{Name: checkRows, Want: "every row is what was written", Refuted: "rows are not what was written"},
				{Name: checkBooks, Want: "the audit finds nothing", Refuted: "the books are wrong"},
			},
			Criteria: large.proportions(),
		},
		Conditions: c02Conditions(small, large),
	}
}

func c02Conditions(small, large baseSide) []claims.Condition {
	return []claims.Condition{
		{Name: "base", Text: fmt.Sprintf("made by 'fill' at scale %.4g and %.4g, %d streams, in databases of their "+
			"own, which are dropped in the end (report: %s documents, about 1 TB)", large.scale, small.scale,
			site.Clients,
			site.Thousands(claimedDocuments()))},
		{Name: "invoices", Text: "one for each sale and purchase, the others of what has been paid ahead"},
		{Name: "movements", Text: fmt.Sprintf("of every document in all registers of its type, which the audit holds "+
			"against its lines; documents of goods have %.1f lines on average, by which cost movements come to the "+
			"report's (it does not say how many lines)", fill.LinesAverage)},
		{Name: "entries", Text: "of goods there is one for each account of a document, as accounts 41 and 10 are " +
			"kept by " +
			"warehouse and the stock knows the items; what there would be with one for each line is among the figures"},
		{Name: "size", Text: "rows here are narrower and registers fewer than in the report's ERP: the same " +
			"documents take a part of its terabyte"},
		{Name: "not proven", Text: "the base at scale 1: its size and time are extrapolated in a straight line " +
			"from two smaller ones, which hold in memory what it would read from disk"},
	}
}
