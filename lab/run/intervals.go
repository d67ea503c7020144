package run

import (
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// addIntervals adds all intervals except those of the scores.
func addIntervals(all *result.Result, counts *tally.Tally) {
	if low, high, ok := counts.RateInterval(); ok {
		all.OpsPerSInterval = &result.Range{Low: low, High: &high}
	}
	for i := range all.Operations {
		op, n := &all.Operations[i], counts.Operations[i]
		op.LatencyIntervals = latencyIntervals(i, counts.PercentileInterval)
		if op.LatencyAllIntervals = op.LatencyIntervals; n.N() > n.Latency.N() {
			op.LatencyAllIntervals = latencyIntervals(i, counts.PercentileIntervalOfAll)
		}
	}
}

func latencyIntervals(operation int,
	bounds func(operation int, p float64) (low, high time.Duration, ok bool)) *result.LatencyIntervals {
	var l result.LatencyIntervals
	known := false
	for p, to := range map[float64]**result.Range{50: &l.P50, 95: &l.P95, 99: &l.P99} {
		low, high, ok := bounds(operation, p)
		if !ok {
			continue
		}
		known = true
		*to = &result.Range{Low: milliseconds(low)}
		if high > 0 {
			ms := milliseconds(high)
			(*to).High = &ms
		}
	}
	if !known {
		return nil
	}
	return &l
}
