package experiments

import (
	"fmt"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// What C33 and C34 claim of each step and of both together.
const (
	c33Claimed  = 3.0
	c34Claimed  = 2.0
	bothClaimed = 6.0
)

// Sides of C33 and C34.
var (
	wholeWarehouse = restoringSide{"whole warehouse read", classicWide, 0, false}
	documentsGoods = restoringSide{"only the document's goods", classicNarrow, 0, false}

	staleTotals = restoringSide{"stale totals", classicNarrow, 0, false}
	monthTotals = restoringSide{"totals to the start of the month", classicMonth, 0, false}
	bothUndone  = restoringSide{"stale totals and whole warehouse read", classicWide, 0, false}
)

// rewrittenQueries is the experiment behind C33.
func rewrittenQueries(b Bench, s *site) trial.Trial {
	return b.restoringStep(s, "balances at a document's moment that read the whole warehouse, or the document's goods "+
		"alone", []restoringSide{wholeWarehouse, documentsGoods}, c33Claimed,
		"both with totals that reach to the beginning of the history only")
}

// recalculatedTotals is the experiment behind C34.
func recalculatedTotals(b Bench, s *site) trial.Trial {
	t := b.restoringStep(s, "balances at a document's moment from totals of the beginning of the history, or of "+
		"its month",
		[]restoringSide{staleTotals, monthTotals, bothUndone}, c34Claimed,
		"both read the document's goods alone; the third is both steps undone")
	t.Measured = append(t.Measured, trial.Say("both steps together %s (claimed ×%g)",
		fasterLines(monthTotals, bothUndone), bothClaimed))
	return t
}

// restoringStep measures how much faster the second side is than the first.
func (b Bench) restoringStep(s *site, text string, sides []restoringSide, claimed float64, how string) trial.Trial {
	t := b.restoring(s, text, sides, claims.Condition{Name: "sides", Text: how},
		claims.Condition{Name: "threads", Text: fmt.Sprint(b.threads())})
	before, after := sides[0], sides[1]
	t.Measured = []trial.Phrase{trial.Say("%s: %s lines/s, %s: %s lines/s, %s", before.name,
		trial.Spread{Of: lines(before), Format: "%.0f"}, after.name, trial.Spread{Of: lines(after), Format: "%.0f"},
		fasterLines(after, before))}
	t.Rules.Criteria = []trial.Criterion{trial.Claimed(fasterLines(after, before), claimed)}
	return t
}
