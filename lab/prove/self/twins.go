package self

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/stats"
)

// twinRuns of each twin: five against five are apart by chance once in 126 times, so that an interval beyond 1 needs
// more than that, and a difference is claimed only beyond the margin as well.
const (
	twinRuns   = 5
	twinMargin = 0.05
)

// twins are two servers of equal behaviour. Figures of runs are compared as in an experiment.
func twins(ctx context.Context, s *stage) (outcome, error) {
	var figures [2][]float64
	var out outcome
	var served, counted int64
	for _, side := range []int{0, 1, 1, 0, 0, 1, 1, 0, 0, 1} {
		m, err := s.measure(ctx, plant{"twins", look, 2 * time.Second, nil})
		if err != nil || ctx.Err() != nil {
			return outcome{}, err
		}
		figures[side] = append(figures[side], orNone(m.only().Latency.Mean))
		out.disturbed = append(out.disturbed, disturbances(m.noise, m.Result)...)
		served, counted = served+m.served(), counted+m.Ops
	}
	r, err := stats.RatioOf(figures[0], figures[1])
	reported := r.String()
	if err != nil {
		reported = err.Error()
	}
	claimed := r.Low > 1+twinMargin || r.High < 1-twinMargin
	out.figures = []Figure{
		equal("operations", served, counted),
		states("difference of the means", fmt.Sprintf("none beyond %.0f %%", 100*twinMargin), reported,
			err == nil && !claimed).excused(),
	}
	out.disturbed = out.disturbed[:min(3, len(out.disturbed))]
	return out, nil
}
