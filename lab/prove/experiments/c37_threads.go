package experiments

import (
	"fmt"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// c37Threads are the report's numbers, and one; the first is the base.
var c37Threads = []int{10, 1, 20, 50, 100}

// restoringThreads is the experiment behind C37: a method without a figure, so nothing refutes it.
func restoringThreads(b Bench, s *site) trial.Trial {
	var sides []restoringSide
	for _, n := range c37Threads {
		sides = append(sides, restoringSide{fmt.Sprintf("%d threads", n), lean, n, false})
	}
	t := b.restoring(s, "the lean restoring in 1 to 100 threads", sides,
		claims.Condition{Name: "threads", Text: fmt.Sprintf(
			"a warehouse each; the base has %d, more threads than that "+
				"have nothing to do", b.disorderOptions().Warehouses)},
		claims.Condition{Name: "claimed", Text: "a method, not a figure: every number of threads is to be measured " +
			"against 10"})
	t.Parts[0].Series = append(t.Parts[0].Series, trial.Series{Name: toTheEnd, Unit: "s"})
	pace := func(side restoringSide) trial.Spread { return trial.Spread{Of: lines(side), Format: "%.0f"} }
	base := sides[0]
	t.Measured = []trial.Phrase{trial.Say("%s: %s lines/s", base.name, pace(base))}
	for _, side := range sides[1:] {
		against := fasterLines(side, base)
		t.Measured = append(t.Measured, trial.Say("%s: %s lines/s, %s", side.name, pace(side), against))
		t.Rules.Criteria = append(t.Rules.Criteria, trial.Criterion{Of: against, Confirm: trial.Measured()})
	}
	t.Measured = append(t.Measured, trial.Say("against %s", base.name))
	return t
}
