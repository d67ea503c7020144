package rewriting

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
	"plimsoll/platform/data/durability"
)

// Defaults of C55.
const (
	// c55Stops: if twice as many jobs gain less than this, something is at its limit.
	c55Stops = 1.2
	// From these values on a counter names the limit, in percent.
	c55Busy  = 90 // of the processors
	c55Waits = 50 // of the samples of sessions: waiting for the log
)

// c55Jobs are doubled until the pace no longer rises.
var c55Jobs = []int{10, 25, 50, 100, 200, 400}

func c55Side(jobs int) commitSide { return commitSide{jobs: jobs, mode: durability.Sync} }

// untilItBreaks is the experiment behind C55.
func untilItBreaks(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(recordSetTurn)
	var sides []commitSide
	chart := &trial.Chart{Title: "Record sets rewritten, by jobs", X: "jobs", Y: "objects/s", Lines: []trial.Line{{
		Name: "synchronous"}}}
	for _, n := range c55Jobs {
		sides = append(sides, c55Side(n))
		chart.Lines[0].At = append(chart.Lines[0].At, trial.Place{X: float64(n), Of: c55Side(n).at(judgedLatency,
			pace)})
	}
	part := recordSetPart(b, s, recordSetPlace{latency: judgedLatency}, turn, sides,
		profile.Setting{Name: "max_connections", Value: fmt.Sprint(c55Jobs[len(c55Jobs)-1] + 50)})
	for _, side := range sides {
		text := func(series, format string) trial.Median {
			return trial.Median{Of: side.at(judgedLatency, series), Format: format}
		}
		part.Measured = append(part.Measured, trial.Say("%d jobs: %s objects/s, processors busy %s %%, waits for "+
			"the log %s %%", side.jobs, text(pace, "%.0f"), text(busyShare, "%.0f"), text(waitsShare, "%.0f")))
	}
	part.Measured = append(part.Measured, trial.Say("%s", trial.Words(func(m *trial.Measurements) string {
		names := c55Limits(m)
		switch {
		case c55Rises(m):
			return "the pace still rises: no limit was reached"
		case len(names) == 0:
			return "the pace no longer rises, and no counter names the limit"
		}
		return "the limit: " + strings.Join(names, " and ")
	})))
	most, before := c55Side(c55Jobs[len(c55Jobs)-1]), c55Side(c55Jobs[len(c55Jobs)-2])
	return trial.Trial{
		Text: fmt.Sprintf("%s jobs rewrite record sets of 1 to %d rows: the number beyond which more jobs do no more "+
			"work, and the counter that names the limit", site.Listed(c55Jobs), recordSetRows),
		Overhead: recordSetTurn, Parts: []trial.Part{part}, Chart: chart,
		Rules: trial.Rules{
			Requires: []trial.Criterion{site.TurnsOf(turn, recordSetTurn)},
			Direction: []trial.Criterion{
				{Of: most.faster(before, judgedLatency), Confirm: trial.Below(c55Stops),
					Unless: "the pace still rises: no limit was reached"},
				{Of: trial.Computed{As: "counters that name a limit where the pace no longer rises", Format: "%.0f",
					Formula: func(m *trial.Measurements) float64 {
						if c55Rises(m) {
							return math.NaN()
						}
						return float64(len(c55Limits(m)))
					}, Unknown: "the pace still rises: no limit was reached"},
					Confirm: trial.AtLeast(1), Refute: trial.Below(1)},
			}},
		Conditions: append(recordSetConditions(), claims.Condition{Name: "named", Text: fmt.Sprintf("the processors "+
			"are named if they are at least %d %% busy, the log if sessions wait for it in at least %d %% of the "+
			"samples; in the median turn, with the most jobs, and not with a number of which twice as many still do "+
			"%g "+
			"times as much", c55Busy, c55Waits, c55Stops)})}
}

// c55Rises tells whether the most jobs still bring more than half as many.
func c55Rises(m *trial.Measurements) bool {
	most, before := c55Side(c55Jobs[len(c55Jobs)-1]), c55Side(c55Jobs[len(c55Jobs)-2])
	return stats.Median(m.Figures(most.at(judgedLatency, pace))) >=
		c55Stops*stats.Median(m.Figures(before.at(judgedLatency, pace)))
}

// c55Counters are what may name a limit.
var c55Counters = []struct {
	series, name string
	from         float64
}{{busyShare, "the processors", c55Busy}, {waitsShare, "flushes of the log", c55Waits}}

// c55Limits are what counters name with the most jobs, and did not while twice as many jobs still paid: a counter that
// is at its bar while the pace grows does not stop it.
func c55Limits(m *trial.Measurements) (names []string) {
	for _, counter := range c55Counters {
		at := func(jobs int) bool {
			return stats.Median(m.Figures(c55Side(jobs).at(judgedLatency, counter.series))) >= counter.from
		}
		if at(c55Jobs[len(c55Jobs)-1]) && !slices.ContainsFunc(c55Paying(m), at) {
			names = append(names, counter.name)
		}
	}
	return names
}

// c55Paying are the numbers of jobs of which twice as many still make the pace grow.
func c55Paying(m *trial.Measurements) (all []int) {
	for i, n := range c55Jobs[:len(c55Jobs)-1] {
		if more := c55Jobs[i+1]; stats.Median(m.Figures(c55Side(more).at(judgedLatency, pace))) >=
			c55Stops*stats.Median(m.Figures(c55Side(n).at(judgedLatency, pace))) {
			all = append(all, n)
		}
	}
	return all
}
