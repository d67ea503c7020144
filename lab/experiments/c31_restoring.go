package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
)

// mostOfADay is what C31 says of stock code, in hours; the report's figure is 18.
const mostOfADay = 12

// Restoring is the experiment behind C31: the report's way of restoring against ours.
type Restoring struct{}

// Claim implements Experiment.
func (Restoring) Claim() string { return "C31" }

var c31Sides = []restorer{{"classic", classicWide, 0, false}, {"lean", lean, 0, true}}

// Plan implements Experiment.
func (Restoring) Plan(b Bench) Plan {
	return b.restoringPlan(fmt.Sprintf("the sequence of cost batches restored by reposting and set by set, %d threads", b.threads()), len(c31Sides))
}

// Run implements Experiment.
func (e Restoring) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		r, err := b.restoring(ctx, l, c31Sides)
		if err != nil {
			return claims.Finding{}, err
		}
		classic, ours := r.made[0][linePace], r.made[1][linePace]
		full := b.Full && b.threads() == reportThreads
		verdict, why := e.judge(classic, full, r.partial)
		measured := fmt.Sprintf("classic %s lines/s, which makes %.1f h of the report's %s lines; lean %s lines/s, %.2f h: %s",
			spread(classic, "%.0f"), hours(middle(classic)), thousands(reportLines), spread(ours, "%.0f"), hours(middle(ours)), against(r.made[0], r.made[1], linePace))
		if whole := r.made[1]["to the end"]; len(whole) > 0 {
			measured += fmt.Sprintf("; lean came to the end in %s s", spread(whole, "%.1f"))
		}
		measured = because(measured, why)
		return claims.Finding{
			Verdict: verdict, Measured: measured, Partial: r.partial, Figures: r.listed(r.made, map[string]string{linePace: "1/s", "to the end": "s"}),
			Conditions: append(r.conditions(b, l), claims.Condition{Name: "threads", Text: fmt.Sprint(b.threads(), " (report: ", reportThreads, ")")},
				claims.Condition{Name: "judged by", Text: fmt.Sprintf("at the report's size and threads (--full): confirmed when classic would surely take more than %d h, refuted when surely less; the report's own code and machine are not here", mostOfADay)}),
		}, nil
	})
}

func (Restoring) judge(classic []float64, full, partial bool) (claims.Verdict, string) {
	longer, shorter := 0, 0
	for _, pace := range classic {
		if hours(pace) > mostOfADay {
			longer++
		} else {
			shorter++
		}
	}
	switch {
	case partial || len(classic) < restoringRounds:
		return claims.Inconclusive, "too few turns"
	case !full:
		return claims.Inconclusive, "a smaller base than the report's, on which classic queries read less: --full judges"
	case shorter == 0:
		return claims.Confirmed, ""
	case longer == 0:
		return claims.Refuted, fmt.Sprintf("less than %d h", mostOfADay)
	}
	return claims.Inconclusive, "within the noise"
}
