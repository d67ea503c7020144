package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
)

// What C33 and C34 claim of each step, and of both.
const (
	c33Claimed  = 3.0
	c34Claimed  = 2.0
	bothClaimed = 6.0
)

// RewrittenQueries is the experiment behind C33.
type RewrittenQueries struct{}

// Claim implements Experiment.
func (RewrittenQueries) Claim() string { return "C33" }

var c33Sides = []restorer{{"whole warehouse read", classicWide, 0, false}, {"only the document's goods", classicNarrow, 0, false}}

// Plan implements Experiment.
func (RewrittenQueries) Plan(b Bench) Plan {
	return b.restoringPlan("balances at a document's moment that read the whole warehouse, or the document's goods alone", len(c33Sides))
}

// Run implements Experiment.
func (RewrittenQueries) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.step33(ctx, c33Sides, c33Claimed, "both with totals that reach to the beginning of the history only")
}

// RecalculatedTotals is the experiment behind C34.
type RecalculatedTotals struct{}

// Claim implements Experiment.
func (RecalculatedTotals) Claim() string { return "C34" }

var c34Sides = []restorer{{"stale totals", classicNarrow, 0, false}, {"totals to the start of the month", classicMonth, 0, false}, {"stale totals and whole warehouse read", classicWide, 0, false}}

// Plan implements Experiment.
func (RecalculatedTotals) Plan(b Bench) Plan {
	return b.restoringPlan("balances at a document's moment from totals of the beginning of the history, or of its month", len(c34Sides))
}

// Run implements Experiment.
func (RecalculatedTotals) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.step33(ctx, c34Sides, c34Claimed, "both read the document's goods alone; the third is both steps undone")
}

// step33 measures by how much the second side is faster than the first.
func (b Bench) step33(ctx context.Context, all []restorer, claimed float64, text string) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		r, err := b.restoring(ctx, l, all)
		if err != nil {
			return claims.Finding{}, err
		}
		faster := against(r.made[0], r.made[1], linePace)
		verdict, why := atLeast(faster, claimed, r.partial)
		measured := fmt.Sprintf("%s: %s lines/s, %s: %s lines/s, %s", r.names[0], spread(r.made[0][linePace], "%.0f"), r.names[1], spread(r.made[1][linePace], "%.0f"), faster)
		if len(all) > 2 {
			measured += fmt.Sprintf("; both steps together %s (claimed ×%g)", against(r.made[2], r.made[1], linePace), bothClaimed)
		}
		measured = because(measured, why)
		return claims.Finding{
			Verdict: verdict, Measured: measured, Partial: r.partial, Figures: r.listed(r.made, map[string]string{linePace: "1/s"}),
			Conditions: append(r.conditions(b, l), claims.Condition{Name: "sides", Text: text},
				claims.Condition{Name: "threads", Text: fmt.Sprint(b.threads())},
				claims.Condition{Name: "judged by", Text: fmt.Sprintf("pace of the classic restoring: confirmed when surely ×%g, refuted when surely less", claimed)}),
		}, nil
	})
}
