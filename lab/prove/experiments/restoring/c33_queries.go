package restoring

import (
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// What C33 and C34 claim of each step and of both together.
const (
	c33Claimed  = 3.0
	c34Claimed  = 2.0
	bothClaimed = 6.0
	// c33Around is the factor to either side that counts as the claimed size: the report's figures are whole numbers.
	c33Around = 1.25
)

// rewrittenQueries is the experiment behind C33.
func rewrittenQueries(b site.Bench, s *site.Site) trial.Trial {
	t := restoringSteps(b, s, "queries for balances at a document's moment read the whole warehouse, or only the "+
		"document's goods; both start from stale totals", wholeWarehouse, documentsGoods)
	t.ByEngine(func(engine string) trial.Rules {
		return trial.Rules{Situation: reportSize(b)}.Times(step(site.Flavour(engine), documentsGoods, wholeWarehouse),
			c33Claimed/c33Around, c33Claimed*c33Around)
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// recalculatedTotals is the experiment behind C34.
func recalculatedTotals(b site.Bench, s *site.Site) trial.Trial {
	t := restoringSteps(b, s, "balances at a document's moment start from totals half a year old, or from those at "+
		"the start of its month; the third side has neither this improvement nor that of C33", documentsGoods,
		monthTotals, wholeWarehouse)
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		t.Measured = append(t.Measured, trial.Say("%s: both steps together %s (claimed ×%g)", v.Name,
			step(v, monthTotals, wholeWarehouse), bothClaimed))
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		return trial.Rules{Situation: reportSize(b)}.
			Times(step(v, monthTotals, documentsGoods), c34Claimed/c33Around, c34Claimed*c33Around).
			Times(step(v, monthTotals, wholeWarehouse), bothClaimed/c33Around, bothClaimed*c33Around)
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// step compares two manners on one engine.
func step(v site.Variant, after, before manner) trial.Ratio {
	return fasterLines(after.on(v), before.on(v))
}

// restoringSteps measures manners on both engines, and how much faster the second is than the first.
func restoringSteps(b site.Bench, s *site.Site, text string, manners ...manner) trial.Trial {
	var sides []restoringSide
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, m := range manners {
			sides = append(sides, m.on(v))
		}
	}
	t := restoring(b, ownServers(s), text, sides, benchThreads(b))
	early, late := paceAt(slices10[0]), paceAt(slices10[len(slices10)-1])
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		before, after := manners[0].on(v), manners[1].on(v)
		t.Measured = append(t.Measured, trial.Say("%s: %s lines/s with %s, %s with %s, %s", v.Name,
			trial.Spread{Of: lines(before), Format: "%.0f"}, before.name,
			trial.Spread{Of: lines(after), Format: "%.0f"}, after.name, fasterLines(after, before)),
			trial.Say("from the start of the month to its end the pace goes from %s to %s, and from %s to %s",
				trial.Median{Of: trial.At(before.String(), early), Format: "%.0f"},
				trial.Median{Of: trial.At(before.String(), late), Format: "%.0f"},
				trial.Median{Of: trial.At(after.String(), early), Format: "%.0f"},
				trial.Median{Of: trial.At(after.String(), late), Format: "%.0f"}))
	}
	return t
}
