package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
)

const (
	c21Claimed     = 1.47 // 75 jobs asynchronous against 50 synchronous
	c21Synchronous = 1.23 // 75 against 50, both synchronous
)

// MoreJobs is the experiment behind C21.
type MoreJobs struct{}

// Claim implements Experiment.
func (MoreJobs) Claim() string { return "C21" }

// c21Jobs are the points of the curve; the first is the base.
var c21Jobs = []int{50, 75, 25, 10, 1}

// Sides of C21 that are named in its claim.
const (
	c21Base = iota // 50 jobs, synchronous
	c21BaseAsynchronous
	c21More // 75 jobs, synchronous
	c21MoreAsynchronous
)

// c21Sides are each point of the curve synchronous, then asynchronous.
func c21Sides() (all []rewriter) {
	for _, n := range c21Jobs {
		all = append(all, rewriter{fmt.Sprintf("%d jobs, synchronous", n), 1, n, small(false)}, rewriter{fmt.Sprintf("%d jobs, asynchronous", n), 1, n, small(true)})
	}
	return all
}

// Plan implements Experiment.
func (MoreJobs) Plan(b Bench) Plan {
	return b.rewritingPlan("1 to 75 jobs of a worker rewrite record sets, synchronous and asynchronous", len(c21Sides()))
}

// Run implements Experiment.
func (MoreJobs) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s, made, partial, err := b.rewrite(ctx, l, c21Sides())
		if err != nil {
			return claims.Finding{}, err
		}
		both := against(made[c21Base], made[c21MoreAsynchronous], pace)
		verdict, why := atLeast(both, c21Claimed, partial)
		return claims.Finding{
			Verdict: verdict, Partial: partial, Figures: s.listed(made, rewritingUnits),
			Measured: because(fmt.Sprintf("%s objects/s with 50 jobs synchronous; 75 synchronous %s (claimed ×%g), waits for the log %s %%; 75 asynchronous %s (claimed ×%g); by jobs, synchronous and asynchronous: %s",
				spread(made[c21Base][pace], "%.0f"), against(made[c21Base], made[c21More], pace), c21Synchronous, spread(made[c21More][waitsShare], "%.1f"), both, c21Claimed, curve(made)), why),
			Conditions: rewritingConditions(b, l, claims.Condition{Name: "judged by", Text: fmt.Sprintf("75 jobs asynchronous against 50 synchronous: confirmed when surely ×%g, refuted when surely less", c21Claimed)}),
		}, nil
	})
}

// curve is objects per second by the number of jobs, the fewest first.
func curve(made []series) (text string) {
	for i := len(c21Jobs) - 1; i >= 0; i-- {
		text += fmt.Sprintf("%d %.0f and %.0f", c21Jobs[i], middle(made[2*i][pace]), middle(made[2*i+1][pace]))
		if i > 0 {
			text += ", "
		}
	}
	return text
}
