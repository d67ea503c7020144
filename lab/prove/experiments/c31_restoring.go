package experiments

import (
	"fmt"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// mostOfADay is C31's figure for stock code, in hours; the report measured 18.
const mostOfADay = 12

var (
	c31Classic = restoringSide{"classic", classicWide, 0, false}
	c31Lean    = restoringSide{"lean", lean, 0, true}
)

// restoringSequence is the experiment behind C31: the report's way of restoring compared with ours.
func restoringSequence(b Bench, s *site) trial.Trial {
	t := b.restoring(s, fmt.Sprintf("the sequence of cost batches restored by reposting and set by set, %d threads",
		b.threads()), []restoringSide{c31Classic, c31Lean},
		claims.Condition{Name: "threads", Text: fmt.Sprint(b.threads(), " (report: ", reportThreads, ")")},
		claims.Condition{Name: "not here", Text: "the report's own code and machine"})
	t.Parts[0].Series = append(t.Parts[0].Series, trial.Series{Name: toTheEnd, Unit: "s"})
	month := func(side restoringSide, format string) trial.Median {
		return trial.Median{Of: lines(side), Format: format, Map: hours}
	}
	t.Measured = []trial.Phrase{
		trial.Say("classic %s lines/s, which makes %s h of the report's %s lines",
			trial.Spread{Of: lines(c31Classic), Format: "%.0f"}, month(c31Classic, "%.1f"), thousands(reportLines)),
		trial.Say("lean %s lines/s, %s h: %s", trial.Spread{Of: lines(c31Lean), Format: "%.0f"}, month(c31Lean, "%.2f"),
			fasterLines(c31Lean, c31Classic)),
		trial.Say("%s", trial.Words(c31ToTheEnd)),
	}
	t.Rules = trial.Rules{
		Requires: []trial.Criterion{
			{Of: trial.Turns{Of: lines(c31Classic)}, Confirm: trial.AtLeast(restoringRounds), Unless: "too few turns"},
			{Of: trial.Given{As: fmt.Sprintf("the report's size and %d threads (--full)", reportThreads),
				Holds: b.Full && b.threads() == reportThreads,
				Else:  "this base is smaller, and classic queries read less of it"}, Confirm: trial.Measured()},
		},
		Criteria: []trial.Criterion{{
			Of: trial.Every{Of: lines(c31Classic), As: "time of the report's lines at classic's pace", Unit: "h",
				Map: hours},
			Confirm: trial.Above(mostOfADay), Refute: trial.AtMost(mostOfADay)}},
	}
	return t
}

func c31ToTheEnd(m *trial.Made) string {
	whole := trial.At(c31Lean.name, toTheEnd)
	if len(m.Figures(whole)) == 0 {
		return "lean did not come to the end"
	}
	return "lean came to the end in " + trial.Spread{Of: whole, Format: "%.1f"}.Text(m) + " s"
}
