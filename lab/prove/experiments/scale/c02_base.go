package scale

import (
	"context"
	"fmt"
	"math"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures that report A gives for claim C02, besides the documents of each type and the elements of each catalog
// (package fill).
const (
	c02ClaimedMovements = 22_000_000
	c02ClaimedEntries   = 20_000_000
)

const (
	c02Scale = 0.01
	// c02Full is half of the report's base: as large as two cores fill and audit within an hour.
	c02Full     = 0.5
	c02ScaleMin = 0.002 // smaller counts are mostly rounding
	// c02Smaller is the ratio of the second, smaller base, which shows what grows with the scale.
	c02Smaller = 5
	c02Audited = 0.2 // of documents and keys
	// c02Rounding is the tolerated difference of a count from the report's, besides one row; c02Total that of all
	// documents together.
	c02Rounding = 0.005
	c02Total    = 0.02
	// c02DiskShare is the share of the free disk that the base may take: its WAL, and what sorting writes, come on top.
	c02DiskShare = 0.7
)

// c02ScaleOf the larger base, of which nobody makes copies.
func c02ScaleOf(b site.Bench) float64 { return b.ScaleWithin(c02DiskShare, c02Scale, c02Full) }

func refuseSmallBase(b site.Bench) error {
	if scale := c02ScaleOf(b); scale < c02ScaleMin {
		return problem.New(problem.Usage,
			fmt.Errorf("%.0f documents are too few to judge proportions", scale*float64(fill.ReportedTotal())),
			fmt.Sprintf("--documents %.0f or more", math.Ceil(c02ScaleMin*float64(fill.ReportedTotal()))))
	}
	return nil
}

// Names of the figures of C02; those of documents are named after their type.
const (
	baseSize      = "size"
	fillTime      = "time of filling"
	allDocuments  = "documents"
	movementCount = "cost movements"
	entryCount    = "entries"
	entriesByLine = "entries, if goods were kept by item"

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
	part := trial.Part{InOrder: true, Rounds: 1, Counted: true,
		Between: (small.takes() + large.takes()) / 2, Series: c02Series(),
		Sides:    []trial.Side{small.side(s, false), large.side(s, true)},
		Check:    func(_ context.Context, r *trial.Record) error { extrapolate(r, small, large); return nil },
		Measured: large.measured(small)}
	return trial.Trial{
		Text: fmt.Sprintf("two bases with the report's proportions, at scale %.3g and a fifth of that, are filled; "+
			"their rows are counted and compared with what was written, and the books audited", large.scale),
		Overhead: 10 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{
			Checks: []trial.Check{
				{Name: checkRows, Want: "every row equals what was written", Refuted: "rows differ from what " +
					"was written"},
				{Name: checkBooks, Want: "the audit finds nothing", Refuted: "the books are wrong"},
			},
			Direction: large.proportions(),
			Situation: []trial.Condition{site.ScaleOf(large.scale)},
		},
		Conditions: c02Conditions(small, large),
	}
}

func c02Conditions(small, large baseSide) []claims.Condition {
	return []claims.Condition{
		{Name: "base", Text: fmt.Sprintf("filled by 'plimsoll fill' at scale %.4g and %.4g with %d parallel streams, "+
			"each in a database of its own that is dropped afterwards (report: %s documents, about 1 TB)", large.scale,
			small.scale,
			site.Streams,
			human.Thousands(fill.ReportedTotal()))},
		{Name: "invoices", Text: "one for each sale and purchase; the remaining ones are for advance payments"},
		{Name: "movements", Text: fmt.Sprintf("each document has movements in every register of its type; the audit "+
			"compares them with its lines. The report does not say how many lines a document has: with %.1f on "+
			"average for goods, the number of cost movements is the report's", fill.LinesAverage)},
		{Name: "entries", Text: "a document of goods has one entry per account, not one per line: accounts 41 and 10 " +
			"are kept by warehouse, and a register of stock has the items. The figures also say how many entries " +
			"there would be with one per line"},
		{Name: "size", Text: "the same documents take less than the report's terabyte, because rows are narrower and " +
			"registers fewer than in its ERP"},
		{Name: "not proven", Text: "the whole base at scale 1: its size and fill time are extrapolated linearly from " +
			"two small bases, which fit in memory; the whole one would have to read from disk"},
	}
}
