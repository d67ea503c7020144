package scale

import (
	"fmt"
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// recounting counts a run again from the raw latencies that generators sent one by one.
type recounting struct{ sides map[string]*recountedOne }

// recountedOne is one key operation.
type recountedOne struct {
	failed int64
	apdex  apdex.Counts
	units  apdex.Histogram
	times  *tally.Times
}

func newRecounting() *recounting { return &recounting{map[string]*recountedOne{}} }

// take implements run.Options.Snapshot.
func (s *recounting) take(second run.Snapshot) {
	for i, cell := range second.Page.Judged {
		op := second.Operations[i]
		c := s.sides[op.ID]
		if c == nil {
			c = &recountedOne{times: tally.NewTimes()}
			s.sides[op.ID] = c
		}
		c.failed += cell.Outcomes[tally.Failed] + cell.Outcomes[tally.Overload]
		c.times.RecordAll(cell.Latency)
		for _, latency := range cell.Latency {
			c.apdex.Time(time.Duration(latency)*tally.TimesUnit, op.Target)
			c.units.Time(time.Duration(latency)*tally.TimesUnit, op.Target)
		}
	}
}

// differences from the result; none means they are identical.
func (s *recounting) differences(r *result.Result) (found []string) {
	for _, op := range r.Operations {
		c := s.sides[op.ID]
		if c == nil {
			c = &recountedOne{times: tally.NewTimes()}
		}
		zones := c.apdex
		zones.Frustrated += c.failed
		if zones != op.Counts || c.units != op.HistogramT {
			found = append(found, fmt.Sprintf("%s: %v and %v reported, %v and %v recounted", op.ID, op.Counts,
				op.HistogramT, zones, c.units))
		}
		for p, reported := range map[float64]*float64{50: op.Latency.P50, 95: op.Latency.P95, 99: op.Latency.P99,
			100: op.Latency.Max} {
			at, ok := c.times.Percentile(p)
			if ok != (reported != nil) || ok && *reported != float64(at)/float64(time.Millisecond) {
				found = append(found, fmt.Sprintf("%s: p%.0f differs when recounted: %v", op.ID, p, at))
			}
		}
	}
	return found
}
