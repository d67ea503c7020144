package live

import (
	"slices"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/stats"
)

// addScored keeps what the interval of the score is computed from, as the run's tally does: what ends after the steady
// state belongs to its last second.
func (p *Picture) addScored(page tally.Page) {
	if page.Second < int(p.plan.RampS) {
		return
	}
	var now stats.Moment
	for i, c := range page.Judged {
		if priority := float64(p.plan.Operations[i].Priority); priority > 0 {
			now.Part += (float64(c.Apdex.Satisfied) + float64(c.Apdex.Tolerating)/2) / priority
			now.Whole += float64(c.Apdex.N()) / priority
		}
	}
	if n := len(p.scored); n > 0 && page.Second >= int(p.plan.RampS+p.plan.SteadyS) {
		last := p.scored[n-1]
		p.scored = append(slices.Clone(p.scored[:n-1]),
			stats.Moment{Part: last.Part + now.Part, Whole: last.Whole + now.Whole})
		return
	}
	p.scored = append(p.scored, now)
}

// interval of the score by block bootstrap, as the result will have it. It takes milliseconds, during which the picture
// is not locked: the loop that drives the users adds to it.
func interval(least *apdex.Interval, scored []stats.Moment) *apdex.Interval {
	if least == nil {
		return nil
	}
	drawn, ok := stats.BlockRatio(scored)
	if !ok {
		return least
	}
	wide := tally.Wider(*least, drawn)
	return &wide
}
