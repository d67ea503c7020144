package experiments

import (
	"fmt"
	"slices"

	"plimsoll/lab/prove/trial"
)

const (
	c21Claimed     = 1.47 // 75 jobs asynchronous against 50 synchronous
	c21Synchronous = 1.23 // 75 against 50, both synchronous
)

// c21Jobs are the points of the curve.
var c21Jobs = []int{50, 75, 25, 10, 1}

// c21Side is a point of the curve.
func c21Side(jobs int, asynchronous bool) rewritingSide {
	name := fmt.Sprintf("%d jobs, synchronous", jobs)
	if asynchronous {
		name = fmt.Sprintf("%d jobs, asynchronous", jobs)
	}
	return rewritingSide{name, 1, jobs, small(asynchronous)}
}

// moreJobs is the experiment behind C21.
func moreJobs(b Bench, s *site) trial.Trial {
	var sides []rewritingSide
	for _, n := range c21Jobs {
		sides = append(sides, c21Side(n, false), c21Side(n, true))
	}
	t := b.rewriting(s, "1 to 75 jobs of a worker rewrite record sets, synchronous and asynchronous", sides)
	base, more, both := c21Side(50, false).name, c21Side(75, false).name, c21Side(75, true).name
	t.Measured = []trial.Phrase{
		trial.Say("%s objects/s with 50 jobs synchronous", trial.Spread{Of: objects(base), Format: "%.0f"}),
		trial.Say("75 synchronous %s (claimed ×%g), waits for the log %s %%", fasterObjects(more, base), c21Synchronous,
			trial.Spread{Of: trial.At(more, waitsShare), Format: "%.1f"}),
		trial.Say("75 asynchronous %s (claimed ×%g)", fasterObjects(both, base), c21Claimed),
		c21Curve(),
	}
	t.Rules.Criteria = []trial.Criterion{trial.Claimed(fasterObjects(both, base), c21Claimed)}
	return t
}

// c21Curve is objects per second by the number of jobs, the fewest first.
func c21Curve() trial.Phrase {
	format, values := "by jobs, synchronous and asynchronous: ", []any{}
	for i, n := range slices.Backward(c21Jobs) {
		format += "%d %s and %s"
		if i > 0 {
			format += ", "
		}
		values = append(values, n, trial.Median{Of: objects(c21Side(n, false).name), Format: "%.0f"},
			trial.Median{Of: objects(c21Side(n, true).name), Format: "%.0f"})
	}
	return trial.Say(format, values...)
}
