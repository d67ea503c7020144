package rewriting

import (
	"fmt"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/books/posting"
)

const (
	c24Jobs = 50
	// c24Documents share a transaction and its statements on the larger side, if a job has that many.
	c24Documents = 100
)

// Sides of C24.
var (
	c24Small           = rewritingSide{"row by row, synchronous, 1 worker", 1, c24Jobs, small(false)}
	c24SmallOn2        = rewritingSide{"row by row, synchronous, 2 workers", 2, c24Jobs, small(false)}
	c24SmallOn4        = rewritingSide{"row by row, synchronous, 4 workers", 4, c24Jobs, small(false)}
	c24Asynchronous    = rewritingSide{"row by row, asynchronous, 1 worker", 1, c24Jobs, small(true)}
	c24AsynchronousOn4 = rewritingSide{"row by row, asynchronous, 4 workers", 4, c24Jobs, small(true)}
	c24RecordSets      = rewritingSide{"record set by record set, synchronous, 1 worker", 1, c24Jobs,
		posting.Rewriting{Documents: 1}}
	c24Larger = rewritingSide{"set by set, synchronous, 1 worker", 1, c24Jobs,
		posting.Rewriting{Documents: c24Documents}}
	c24LargerOn4 = rewritingSide{"set by set, synchronous, 4 workers", 4, c24Jobs,
		posting.Rewriting{Documents: c24Documents}}
	c24Sides = []rewritingSide{c24Small, c24SmallOn2, c24SmallOn4, c24Asynchronous, c24AsynchronousOn4, c24RecordSets,
		c24Larger, c24LargerOn4}
)

// largerStatements is the experiment behind C24.
func largerStatements(b site.Bench, s *site.Site) trial.Trial {
	t := rewriting(b, s, fmt.Sprintf("%d jobs in 1, 2 or 4 workers rewrite record sets row by row, or those of up to "+
		"%d documents with few statements", c24Jobs, c24Documents), c24Sides,
		claims.Condition{Name: "workers", Text: fmt.Sprintf(
			"1, 2 or 4 processes with %d jobs in all, on one machine (report: application servers on machines of "+
				"their own)", c24Jobs)},
		claims.Condition{Name: "set by set", Text: fmt.Sprintf(
			"one transaction for up to %d documents, or for all documents of a job that has fewer", c24Documents)})
	faster := func(side, base rewritingSide) trial.Ratio { return fasterObjects(side.name, base.name) }
	on1, on4 := faster(c24Larger, c24Asynchronous), faster(c24LargerOn4, c24AsynchronousOn4)
	t.Measured = []trial.Phrase{
		trial.Say("larger statements with synchronous commit against small ones with asynchronous: %s on 1 worker, "+
			"%s on 4",
			on1, on4),
		trial.Say("row by row %s objects/s synchronous on 1 worker; %s on 2, %s on 4, %s asynchronous on 1",
			trial.Spread{Of: objects(c24Small.name), Format: "%.0f"}, faster(c24SmallOn2, c24Small),
			faster(c24SmallOn4, c24Small), faster(c24Asynchronous, c24Small)),
		trial.Say("a statement per record set %s", faster(c24RecordSets, c24Small)),
		trial.Say("set by set %s on 1 worker, %s on 4", faster(c24Larger, c24Small), faster(c24LargerOn4, c24Small)),
	}
	t.Rules = trial.Rules{Direction: []trial.Criterion{trial.Larger(on1), trial.Larger(on4)},
		Situation: []trial.Condition{
			{Of: trial.Known{As: "jobs", Value: c24Jobs}, Report: "50", Met: trial.AtLeast(c24Jobs)},
			trial.Absent("application servers", "several machines", "processes beside the database")}}
	return t
}
