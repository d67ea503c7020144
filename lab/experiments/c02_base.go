package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/lab/claims"
	"plimsoll/lab/machine"
	"plimsoll/platform/problem"
)

// What report A gives for claim C02, beside the documents of each type (fill.Reported).
const (
	c02ClaimedContracts = 28_000_000
	c02ClaimedMovements = 22_000_000
	c02ClaimedEntries   = 20_000_000
)

const (
	c02Scale    = 0.01
	c02ScaleMin = 0.002 // below it a rounded count says little
	// c02Smaller is how much smaller another base is, by which it is seen what grows with the scale.
	c02Smaller = 5
	c02Audited = 0.2 // of documents and keys
	// c02Rounding is how far a count may be from the report's, beside one; c02Total how far all documents together.
	c02Rounding = 0.005
	c02Total    = 0.02
	// c02DiskShare of what is free is what both bases and their WAL may take.
	c02DiskShare = 0.5
)

// LargeBase is the experiment behind C02: the report's base, smaller, and what it would take whole.
type LargeBase struct{}

// Claim implements Experiment.
func (LargeBase) Claim() string { return "C02" }

// Plan implements Experiment.
func (e LargeBase) Plan(b Bench) Plan {
	scale := e.scale(b)
	var takes time.Duration
	for _, s := range []float64{scale, scale / c02Smaller} {
		sizes, err := fill.SizesOf(fill.Options{Scale: s})
		if err != nil {
			continue // Run says so
		}
		takes += 2 * fill.EstimateOf(sizes, e.streams()).Time // half of it to check and audit
	}
	return Plan{fmt.Sprintf("the base of the claim at scale %.3g and a fifth of that, filled, counted, checked row by row and audited", scale), takes + 10*time.Second}
}

// scale of the larger base: as many documents as were asked for, or, in full, what the disk takes.
func (LargeBase) scale(b Bench) float64 {
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

func (LargeBase) streams() int { return clients }

func claimedDocuments() (all int) {
	for _, n := range fill.Reported() {
		all += n
	}
	return all
}

// Run implements Experiment.
func (e LargeBase) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	scale := e.scale(b)
	if scale < c02ScaleMin {
		return claims.Finding{}, problem.New(problem.Usage, fmt.Errorf("%.0f documents are too few to tell proportions by", scale*float64(claimedDocuments())),
			fmt.Sprintf("--documents %.0f or more", math.Ceil(c02ScaleMin*float64(claimedDocuments()))))
	}
	return b.withLayer(ctx, func(l layer) (f claims.Finding, err error) {
		var small, large *filledBase
		for i, one := range []struct {
			to    **filledBase
			scale float64
		}{{&small, scale / c02Smaller}, {&large, scale}} {
			b.say("filling a base at scale %.3g", one.scale)
			b.step(float64(i)/4, e.Plan(b).Takes*time.Duration(4-i)/4, fmt.Sprintf("scale %.3g", one.scale))
			if *one.to, err = fillBase(ctx, l.cluster, one.scale, e.streams()); err != nil {
				return f, err
			}
			defer func() { err = errors.Join(err, (*one.to).drop(context.WithoutCancel(ctx))) }()
		}
		b.step(0.6, e.Plan(b).Takes/3, "check")
		checked, err := large.check(ctx)
		if err != nil {
			return f, err
		}
		b.step(0.8, e.Plan(b).Takes/6, "audit")
		books, err := large.audit(ctx, c02Audited)
		if err != nil {
			return f, err
		}
		return e.finding(small, large, checked, books, l), nil
	})
}

// proportion is how many there are of something in a base, against how many of it the report has.
type proportion struct {
	what            string
	found, reported int64
}

// of the report's, at a scale.
func (p proportion) of(scale float64) float64 {
	return float64(p.found) / (float64(p.reported) * scale)
}

// holds within what rounding does.
func (p proportion) holds(scale float64) bool {
	want := float64(p.reported) * scale
	return math.Abs(float64(p.found)-want) <= max(1, want*c02Rounding)
}

func (e LargeBase) finding(small, large *filledBase, checked fill.Checked, books audit.Report, l layer) claims.Finding {
	verdict, why := e.judge(large, checked.Clean(), books.Clean())
	disk, took := at(1, small, large, (*filledBase).size), at(1, small, large, (*filledBase).seconds)
	measured := fmt.Sprintf("scale %.3g: %s of %s documents of %d types (%.1f %% of the report's), %s contracts, %s cost movements (%.0f %%), %s entries (%.0f %%), %s on disk, filled in %s",
		large.scale, thousands(large.total()), thousands(int64(math.Round(float64(claimedDocuments())*large.scale))), large.types(), 100*large.whole().of(large.scale),
		thousands(large.contracts.found), thousands(large.movements.found), 100*large.movements.of(large.scale), thousands(large.entries.found), 100*large.entries.of(large.scale),
		fill.Bytes(large.bytes), length(large.took.Round(time.Second/10)))
	if short := large.apart(); len(short) > 0 {
		measured += "; not in proportion: " + strings.Join(short, ", ")
	}
	measured += fmt.Sprintf("; %s rows checked, %d of %d units differ; audit of %.0f %%: %d violations; scale 1 would take %s and %s, by the growth from scale %.3g; it was not filled",
		thousands(checked.Rows), len(checked.Differences), checked.Units, 100*c02Audited, books.Violations, fill.Bytes(int64(disk)), length(time.Duration(took*float64(time.Second)).Round(time.Minute)), small.scale)
	return claims.Finding{
		Verdict: verdict, Measured: because(measured, why),
		Figures: append(figuresOf(small), append(figuresOf(large), claims.Figure{Name: "scale 1, extrapolated: size", Unit: "bytes", Values: []float64{disk}},
			claims.Figure{Name: "scale 1, extrapolated: time of filling", Unit: "s", Values: []float64{took}})...),
		Conditions: append(l.conditions,
			claims.Condition{Name: "base", Text: fmt.Sprintf("made by 'fill' at scale %.4g and %.4g, %d streams, in databases of their own, which are dropped in the end (report: %s documents, about 1 TB)",
				large.scale, small.scale, e.streams(), thousands(int64(claimedDocuments())))},
			claims.Condition{Name: "invoices", Text: "one for each sale and purchase, the others of what has been paid ahead"},
			claims.Condition{Name: "movements", Text: fmt.Sprintf("of every document in all registers of its type, which the audit holds against its lines; documents of goods have %.1f lines on average, by which cost movements come to the report's (it does not say how many lines)", fill.LinesAverage)},
			claims.Condition{Name: "entries", Text: fmt.Sprintf("of goods there is one for each account of a document, as accounts 41 and 10 are kept by warehouse and the stock knows the items; with one for each line there would be %s, %.0f %% of the report's",
				thousands(large.byItem.found), 100*large.byItem.of(large.scale))},
			claims.Condition{Name: "size", Text: "rows here are narrower and registers fewer than in the report's ERP: the same documents take a part of its terabyte"},
			claims.Condition{Name: "not proven", Text: "the base at scale 1: its size and time are extrapolated in a straight line from two smaller ones, which hold in memory what it would read from disk"},
			claims.Condition{Name: "judged by", Text: fmt.Sprintf("confirmed when every type, and the contracts, are the report's times the scale within %.1f %% or one, all documents within %.0f %%, cost movements and entries not fewer than the report's by more than that, every row is what was written and the audit finds nothing; refuted when a row or the books are wrong, or a type is missing",
				100*c02Rounding, 100*c02Total)}),
	}
}

func figuresOf(f *filledBase) []claims.Figure {
	name := fmt.Sprintf("scale %.4g: ", f.scale)
	figures := []claims.Figure{
		{Name: name + "size", Unit: "bytes", Values: []float64{f.size()}}, {Name: name + "time of filling", Unit: "s", Values: []float64{f.seconds()}},
	}
	for _, p := range f.all() {
		figures = append(figures, claims.Figure{Name: name + p.what, Values: []float64{float64(p.found)}})
	}
	return figures
}

// at a scale what grows from one base to another would come to.
func at(scale float64, small, large *filledBase, of func(*filledBase) float64) float64 {
	slope := (of(large) - of(small)) / (large.scale - small.scale)
	return of(large) + slope*(scale-large.scale)
}

// judge a base by its proportions, and by what was found to be wrong with it.
func (LargeBase) judge(f *filledBase, asWritten, balanced bool) (claims.Verdict, string) {
	missing := slices.ContainsFunc(f.documents, func(p proportion) bool { return p.found == 0 })
	switch {
	case !asWritten:
		return claims.Refuted, "rows are not what was written"
	case !balanced:
		return claims.Refuted, "the books are wrong"
	case missing:
		return claims.Refuted, "there are documents of fewer types"
	}
	var short []string
	for _, p := range append(slices.Clone(f.documents), f.contracts) {
		if !p.holds(f.scale) {
			short = append(short, fmt.Sprintf("%s are %.1f %% of the report's", p.what, 100*p.of(f.scale)))
		}
	}
	for _, p := range []proportion{f.whole(), f.movements, f.entries} {
		if p.of(f.scale) < 1-c02Total {
			short = append(short, fmt.Sprintf("%s are only %.0f %% of the report's", p.what, 100*p.of(f.scale)))
		}
	}
	if f.entries.of(f.scale) < 1-c02Total {
		short[len(short)-1] += fmt.Sprintf(" (%.0f %%, were goods kept by item in the ledger too)", 100*f.byItem.of(f.scale))
	}
	if short != nil {
		return claims.Inconclusive, strings.Join(short, ", ")
	}
	return claims.Confirmed, ""
}
