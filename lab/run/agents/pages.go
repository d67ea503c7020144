package agents

import (
	"plimsoll/lab/load/tally"
)

// pages of one agent that are not added up yet, in order; the first one is of second next.
type pages struct {
	waiting []tally.Page
	next    int
}

func (q *pages) take() tally.Page {
	p := q.waiting[0]
	q.waiting, q.next = q.waiting[1:], q.next+1
	return p
}

// second adds up the next second once every active agent has reported it; false if one is missing. An agent that has
// ended or is lost is not waited for; what it reported counts.
func (f *Fleet) second(k, operations int) (sum tally.Page, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reported := false
	for _, m := range f.members {
		if len(m.queue.waiting) > 0 {
			reported = true
		} else if m.result == nil && !m.gone() {
			return sum, false
		}
	}
	if !reported {
		return sum, false
	}
	sum = tally.NewSum(k, operations)
	for _, m := range f.members {
		if len(m.queue.waiting) > 0 && m.queue.waiting[0].Second == k {
			sum.Add(m.queue.take())
		}
	}
	return sum, true
}

// lags of one agent, for its line in the result.
type lags struct{ all *tally.Times }

func newLags() lags { return lags{tally.NewTimes()} }

func (l lags) add(p tally.Page) { l.all.RecordAll(p.Lag) }
