package experiments

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
)

const (
	c20Claimed = 1.11
	// c20WaitsGone is what is left of the waits for the log when they have disappeared, in % of what sessions at work did.
	c20WaitsGone = 1
)

const pace = "objects per second"

// AsynchronousRewriting is the experiment behind C20.
type AsynchronousRewriting struct{}

// Claim implements Experiment.
func (AsynchronousRewriting) Claim() string { return "C20" }

var c20Sides = []rewriter{{"50 jobs, synchronous", 1, 50, small(false)}, {"50 jobs, asynchronous", 1, 50, small(true)}}

// Plan implements Experiment.
func (AsynchronousRewriting) Plan(b Bench) Plan {
	return b.rewritingPlan("50 jobs of a worker rewrite record sets, with synchronous and asynchronous commit", len(c20Sides))
}

// Run implements Experiment.
func (e AsynchronousRewriting) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s, made, partial, err := b.rewrite(ctx, l, c20Sides)
		if err != nil {
			return claims.Finding{}, err
		}
		faster := against(made[0], made[1], pace)
		verdict, why := e.judge(faster, made[1][waitsShare], partial)
		return claims.Finding{
			Verdict: verdict, Partial: partial, Figures: s.listed(made, rewritingUnits),
			Measured: because(fmt.Sprintf("%s objects/s synchronous, %s asynchronous, %s; waits for the log %s and %s %% of what sessions did; the log was flushed %s and %s times a second",
				spread(made[0][pace], "%.0f"), spread(made[1][pace], "%.0f"), faster, spread(made[0][waitsShare], "%.1f"), spread(made[1][waitsShare], "%.1f"),
				spread(made[0][flushes], "%.0f"), spread(made[1][flushes], "%.0f")), why),
			Conditions: rewritingConditions(b, l, claims.Condition{Name: "judged by", Text: fmt.Sprintf(
				"objects per second: confirmed when surely ×%g and waits for the log are at most %d %% with asynchronous commit in every turn, refuted when surely less than ×%g", c20Claimed, c20WaitsGone, c20Claimed)}),
		}, nil
	})
}

func (AsynchronousRewriting) judge(faster ratio.Ratio, waits []float64, partial bool) (claims.Verdict, string) {
	verdict, why := atLeast(faster, c20Claimed, partial)
	if verdict == claims.Confirmed && (len(waits) == 0 || slices.Max(waits) > c20WaitsGone) {
		return claims.Inconclusive, "faster, but waits for the log have not disappeared"
	}
	return verdict, why
}
