package experiments

import (
	"plimsoll/lab/prove/trial"
)

// What C33 and C34 claim of each step and of both together.
const (
	c33Claimed  = 3.0
	c34Claimed  = 2.0
	bothClaimed = 6.0
)

// rewrittenQueries is the experiment behind C33.
func rewrittenQueries(b Bench, s *site) trial.Trial {
	t := b.restoringSteps(s, "balances at a document's moment that read the whole warehouse, or the document's goods "+
		"alone, with stale totals", wholeWarehouse, documentsGoods)
	t.ByEngine(func(engine string) trial.Rules {
		return b.restoringRules(trial.Claimed(step(flavour(engine), documentsGoods, wholeWarehouse), c33Claimed))
	}, stock.name, ours.name)
	return t
}

// recalculatedTotals is the experiment behind C34.
func recalculatedTotals(b Bench, s *site) trial.Trial {
	t := b.restoringSteps(s, "balances at a document's moment from totals half a year old, or of the start of its "+
		"month; the third side is both steps undone", documentsGoods, monthTotals, wholeWarehouse)
	for _, v := range []variant{stock, ours} {
		t.Measured = append(t.Measured, trial.Say("%s: both steps together %s (claimed ×%g)", v.name,
			step(v, monthTotals, wholeWarehouse), bothClaimed))
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := flavour(engine)
		return b.restoringRules(trial.Claimed(step(v, monthTotals, documentsGoods), c34Claimed),
			trial.Claimed(step(v, monthTotals, wholeWarehouse), bothClaimed))
	}, stock.name, ours.name)
	return t
}

// step compares two manners on one engine.
func step(v variant, after, before manner) trial.Ratio { return fasterLines(after.on(v), before.on(v)) }

func (b Bench) restoringRules(criteria ...trial.Criterion) trial.Rules {
	return trial.Rules{Requires: []trial.Criterion{b.reportSize()}, Criteria: criteria}
}

// restoringSteps measures manners on both engines, and how much faster the second is than the first.
func (b Bench) restoringSteps(s *site, text string, manners ...manner) trial.Trial {
	var sides []restoringSide
	for _, v := range []variant{stock, ours} {
		for _, m := range manners {
			sides = append(sides, m.on(v))
		}
	}
	t := b.restoring(s.home, text, sides)
	early, late := paceAt(slices10[0]), paceAt(slices10[len(slices10)-1])
	for _, v := range []variant{stock, ours} {
		before, after := manners[0].on(v), manners[1].on(v)
		t.Measured = append(t.Measured, trial.Say("%s: %s lines/s with %s, %s with %s, %s", v.name,
			trial.Spread{Of: lines(before), Format: "%.0f"}, before.name,
			trial.Spread{Of: lines(after), Format: "%.0f"}, after.name, fasterLines(after, before)),
			trial.Say("from the beginning of the month to its end %s to %s and %s to %s",
				trial.Median{Of: trial.At(before.String(), early), Format: "%.0f"},
				trial.Median{Of: trial.At(before.String(), late), Format: "%.0f"},
				trial.Median{Of: trial.At(after.String(), early), Format: "%.0f"},
				trial.Median{Of: trial.At(after.String(), late), Format: "%.0f"}))
	}
	return t
}
