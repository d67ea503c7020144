package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
	"plimsoll/platform/posting"
)

const (
	c24Jobs = 50
	// c24Documents share a transaction and its statements on the larger side, where a job has as many.
	c24Documents = 100
)

// LargerStatements is the experiment behind C24.
type LargerStatements struct{}

// Claim implements Experiment.
func (LargerStatements) Claim() string { return "C24" }

// Sides of C24.
const (
	c24Small = iota
	c24SmallOn2
	c24SmallOn4
	c24Asynchronous
	c24AsynchronousOn4
	c24RecordSets
	c24Larger
	c24LargerOn4
)

var c24Sides = []rewriter{
	c24Small:           {"row by row, synchronous, 1 worker", 1, c24Jobs, small(false)},
	c24SmallOn2:        {"row by row, synchronous, 2 workers", 2, c24Jobs, small(false)},
	c24SmallOn4:        {"row by row, synchronous, 4 workers", 4, c24Jobs, small(false)},
	c24Asynchronous:    {"row by row, asynchronous, 1 worker", 1, c24Jobs, small(true)},
	c24AsynchronousOn4: {"row by row, asynchronous, 4 workers", 4, c24Jobs, small(true)},
	c24RecordSets:      {"record set by record set, synchronous, 1 worker", 1, c24Jobs, posting.Rewriting{Documents: 1}},
	c24Larger:          {"set by set, synchronous, 1 worker", 1, c24Jobs, posting.Rewriting{Documents: c24Documents}},
	c24LargerOn4:       {"set by set, synchronous, 4 workers", 4, c24Jobs, posting.Rewriting{Documents: c24Documents}},
}

// Plan implements Experiment.
func (LargerStatements) Plan(b Bench) Plan {
	return b.rewritingPlan(fmt.Sprintf("%d jobs of 1, 2 and 4 workers rewrite record sets row by row, or those of up to %d documents with few statements", c24Jobs, c24Documents), len(c24Sides))
}

// Run implements Experiment.
func (e LargerStatements) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s, made, partial, err := b.rewrite(ctx, l, c24Sides)
		if err != nil {
			return claims.Finding{}, err
		}
		to := func(base, variant int) ratio.Ratio { return against(made[base], made[variant], pace) }
		on1, on4 := to(c24Asynchronous, c24Larger), to(c24AsynchronousOn4, c24LargerOn4)
		verdict, why := e.judge(on1, on4, partial)
		return claims.Finding{
			Verdict: verdict, Partial: partial, Figures: s.listed(made, rewritingUnits),
			Measured: because(fmt.Sprintf("larger statements with synchronous commit against small ones with asynchronous: %s on 1 worker, %s on 4; row by row %s objects/s synchronous on 1 worker, on 2 %s, on 4 %s, asynchronous %s; a statement per record set %s; set by set %s, on 4 workers %s",
				on1, on4, spread(made[c24Small][pace], "%.0f"), to(c24Small, c24SmallOn2), to(c24Small, c24SmallOn4), to(c24Small, c24Asynchronous),
				to(c24Small, c24RecordSets), to(c24Small, c24Larger), to(c24Small, c24LargerOn4)), why),
			Conditions: rewritingConditions(b, l,
				claims.Condition{Name: "workers", Text: fmt.Sprintf("1, 2 and 4 processes with %d jobs in all; all on one machine (report: application servers on machines of their own)", c24Jobs)},
				claims.Condition{Name: "set by set", Text: fmt.Sprintf("a transaction for up to %d documents, or for all that a job has", c24Documents)},
				claims.Condition{Name: "judged by", Text: "larger statements with synchronous commit against small ones with asynchronous: confirmed when surely faster on 1 worker and on 4, refuted when surely slower on either"}),
		}, nil
	})
}

func (LargerStatements) judge(on1, on4 ratio.Ratio, partial bool) (claims.Verdict, string) {
	first, why := atLeast(on1, 1, partial)
	second, why4 := atLeast(on4, 1, partial)
	switch {
	case first == claims.Refuted:
		return first, why + " on 1 worker"
	case second == claims.Refuted:
		return second, why4 + " on 4 workers"
	case first == claims.Inconclusive:
		return first, why
	}
	return second, why4
}
