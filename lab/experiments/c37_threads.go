package experiments

import (
	"context"
	"fmt"

	"plimsoll/lab/claims"
)

// RestoringThreads is the experiment behind C37.
type RestoringThreads struct{}

// Claim implements Experiment.
func (RestoringThreads) Claim() string { return "C37" }

// c37Threads are the report's, and one.
var c37Threads = []int{10, 1, 20, 50, 100}

func c37Sides() (all []restorer) {
	for _, n := range c37Threads {
		all = append(all, restorer{fmt.Sprintf("%d threads", n), lean, n, false})
	}
	return all
}

// Plan implements Experiment.
func (RestoringThreads) Plan(b Bench) Plan {
	return b.restoringPlan("the lean restoring in 1 to 100 threads", len(c37Threads))
}

// Run implements Experiment.
func (e RestoringThreads) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		r, err := b.restoring(ctx, l, c37Sides())
		if err != nil {
			return claims.Finding{}, err
		}
		measured, sure := "", !r.partial
		for i, name := range r.names {
			measured += fmt.Sprintf("%s: %s lines/s", name, spread(r.made[i][linePace], "%.0f"))
			if i > 0 {
				against10 := against(r.made[0], r.made[i], linePace)
				measured, sure = measured+", "+against10.String(), sure && against10.Sure()
			}
			measured += "; "
		}
		f := claims.Finding{Verdict: claims.Confirmed, Measured: measured + "against 10 threads", Partial: r.partial, Figures: r.listed(r.made, map[string]string{linePace: "1/s", "to the end": "s"})}
		if !sure {
			f.Verdict, f.Measured = claims.Inconclusive, f.Measured+"; too few turns"
		}
		f.Conditions = append(r.conditions(b, l),
			claims.Condition{Name: "threads", Text: fmt.Sprintf("a warehouse each; the base has %d, more threads than that have nothing to do", b.disorderOptions().Warehouses)},
			claims.Condition{Name: "judged by", Text: "a method, not a figure: confirmed when every number of threads was measured against 10"})
		return f, nil
	})
}
