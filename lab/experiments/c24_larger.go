package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
	"plimsoll/platform/posting"
)

// c24Documents share a transaction and its statements on the larger side.
const c24Documents = 100

// LargerStatements is the experiment behind C24.
type LargerStatements struct{}

// Claim implements Experiment.
func (LargerStatements) Claim() string { return "C24" }

var c24Sides = []rewriter{
	{"row by row, asynchronous", 50, small(true)},
	{"set by set, synchronous", 50, posting.Rewriting{Documents: c24Documents}},
	{"row by row, synchronous", 50, small(false)},
	{"record set by record set, synchronous", 50, posting.Rewriting{Documents: 1}},
}

// Plan implements Experiment.
func (LargerStatements) Plan(b Bench) Plan {
	return b.rewritingPlan(fmt.Sprintf("50 jobs rewrite record sets row by row, or those of %d documents with few statements", c24Documents), len(c24Sides))
}

// Run implements Experiment.
func (LargerStatements) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s, made, partial, err := b.rewriting(ctx, l, c24Sides)
		if err != nil {
			return claims.Finding{}, err
		}
		larger := against(made[0], made[1], pace)
		verdict, why := atLeast(larger, 1, partial)
		return claims.Finding{
			Verdict: verdict, Partial: partial, Figures: s.listed(made, rewritingUnits),
			Measured: because(fmt.Sprintf("row by row %s objects/s synchronous, asynchronous %s; a statement per record set %s; statements for %d documents, synchronous %s; larger statements against asynchronous commit %s",
				spread(made[2][pace], "%.0f"), against(made[2], made[0], pace), against(made[2], made[3], pace), c24Documents, against(made[2], made[1], pace), larger), why),
			Conditions: rewritingConditions(b, l, claims.Condition{Name: "judged by", Text: "larger statements with synchronous commit against small ones with asynchronous: confirmed when surely faster, refuted when surely slower"}),
		}, nil
	})
}
