package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
)

// What C20 and C21 claim.
const (
	c20Claimed     = 1.11
	c21Claimed     = 1.47 // 75 jobs asynchronous against 50 synchronous
	c21Synchronous = 1.23 // 75 against 50, both synchronous
)

const pace = "objects per second"

// AsynchronousRewriting is the experiment behind C20.
type AsynchronousRewriting struct{}

// Claim implements Experiment.
func (AsynchronousRewriting) Claim() string { return "C20" }

var c20Sides = []rewriter{{"50 jobs, synchronous", 50, small(false)}, {"50 jobs, asynchronous", 50, small(true)}}

// Plan implements Experiment.
func (AsynchronousRewriting) Plan(b Bench) Plan {
	return b.rewritingPlan("50 jobs rewrite record sets, with synchronous and asynchronous commit", len(c20Sides))
}

// Run implements Experiment.
func (AsynchronousRewriting) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s, made, partial, err := b.rewriting(ctx, l, c20Sides)
		if err != nil {
			return claims.Finding{}, err
		}
		faster := against(made[0], made[1], pace)
		verdict, why := atLeast(faster, c20Claimed, partial)
		const waits = "waits for the log"
		return claims.Finding{
			Verdict: verdict, Partial: partial, Figures: s.listed(made, rewritingUnits),
			Measured: because(fmt.Sprintf("%s objects/s synchronous, %s asynchronous, %s; waits for the log %s and %s %% of what sessions did",
				spread(made[0][pace], "%.0f"), spread(made[1][pace], "%.0f"), faster, spread(made[0][waits], "%.1f"), spread(made[1][waits], "%.1f")), why),
			Conditions: rewritingConditions(b, l, claims.Condition{Name: "judged by", Text: fmt.Sprintf("objects per second: confirmed when surely ×%g, refuted when surely less", c20Claimed)}),
		}, nil
	})
}

func because(measured, why string) string {
	if why != "" {
		measured += "; " + why
	}
	return measured
}

// MoreJobs is the experiment behind C21.
type MoreJobs struct{}

// Claim implements Experiment.
func (MoreJobs) Claim() string { return "C21" }

var c21Sides = []rewriter{
	{"50 jobs, synchronous", 50, small(false)}, {"75 jobs, synchronous", 75, small(false)}, {"75 jobs, asynchronous", 75, small(true)}, {"10 jobs, synchronous", 10, small(false)},
}

// Plan implements Experiment.
func (MoreJobs) Plan(b Bench) Plan {
	return b.rewritingPlan("10, 50 and 75 jobs rewrite record sets, synchronous and asynchronous", len(c21Sides))
}

// Run implements Experiment.
func (MoreJobs) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s, made, partial, err := b.rewriting(ctx, l, c21Sides)
		if err != nil {
			return claims.Finding{}, err
		}
		both := against(made[0], made[2], pace)
		verdict, why := atLeast(both, c21Claimed, partial)
		return claims.Finding{
			Verdict: verdict, Partial: partial, Figures: s.listed(made, rewritingUnits),
			Measured: because(fmt.Sprintf("%s objects/s with 50 jobs synchronous; 75 synchronous %s (claimed ×%g); 75 asynchronous %s (claimed ×%g); 10 synchronous %s",
				spread(made[0][pace], "%.0f"), against(made[0], made[1], pace), c21Synchronous, both, c21Claimed, against(made[0], made[3], pace)), why),
			Conditions: rewritingConditions(b, l, claims.Condition{Name: "judged by", Text: fmt.Sprintf("75 jobs asynchronous against 50 synchronous: confirmed when surely ×%g, refuted when surely less", c21Claimed)}),
		}, nil
	})
}
