package restoring

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// mostOfADay is C31's figure for stock code, in hours; the report measured 18.
const mostOfADay = 12

// The band around the 18 hours.
const c31Low, c31High = 14, 23

// restoringSequence is the experiment behind C31: the report's way of restoring compared with ours.
func restoringSequence(b site.Bench, s *site.Site) trial.Trial {
	var sides []restoringSide
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		sides = append(sides, wholeWarehouse.on(v), setBySet.on(v))
	}
	t := restoring(b, ownServers(s), fmt.Sprintf("restored document by document (classic) and set by set (lean), %d "+
		"threads, on both flavours",
		threadCount(b)), sides, benchThreads(b), claims.Condition{Name: "not here", Text: "the report's own code and " +
		"machine"})
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		classic, lean := wholeWarehouse.on(v), setBySet.on(v)
		t.Measured = append(t.Measured,
			trial.Say("%s: classic %s lines/s, which extrapolates to %s for the report's %s lines", v.Name,
				trial.Spread{Of: lines(classic), Format: "%.0f"}, c31Hours(classic), human.Thousands(reportLines)),
			trial.Say("lean %s lines/s, %s, the whole month in %s s", trial.Spread{Of: lines(lean), Format: "%.0f"},
				fasterLines(lean, classic), trial.Spread{Of: trial.At(lean.String(), toTheEnd), Format: "%.1f"}))
	}
	t.ByEngine(func(engine string) trial.Rules {
		classic := wholeWarehouse.on(site.Flavour(engine))
		return trial.Rules{
			Direction: []trial.Criterion{{Of: c31Hours(classic), Confirm: trial.Above(mostOfADay),
				Refute: trial.AtMost(mostOfADay)}},
			Size: []trial.Band{{Of: c31Hours(classic), Low: c31Low, High: c31High}},
			// absolute hours are those of a machine: theirs is not known
			Situation: append(reportSize(b), trial.Absent("code and machine", "the vendor's", "ours"))}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// c31Hours is the time of the report's month at a side's pace.
func c31Hours(side restoringSide) trial.Every {
	return trial.Every{Of: lines(side), As: "time of the report's lines at the pace of " + side.String(), Unit: "h",
		Map: hours}
}
