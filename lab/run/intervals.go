package run

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// intervalBasis says what the intervals rest on, and whether the run is long enough for them to be of the system.
func (r *record) intervalBasis(known *tally.Dependence) *result.IntervalBasis {
	b := &result.IntervalBasis{SteadyS: float64(known.Seconds), BlockS: float64(known.Block), Of: result.OfSystem,
		NeedsS: float64(known.Needs), CheckpointS: r.unseenCheckpoint().Seconds()}
	b.Staged = r.Scenario != nil && r.Scenario.Staged()
	if b.NeedsS = max(b.NeedsS, b.CheckpointS); b.SteadyS < b.NeedsS || b.Staged {
		b.Of = result.OfRun
	}
	return b
}

// unseenCheckpoint is the time between checkpoints by the clock, if the run was shorter and saw none; 0: it saw one, or
// no database was watched.
func (r *record) unseenCheckpoint() time.Duration {
	if r.before == nil || r.after == nil || r.restarted() || r.after.Checkpoints != r.before.Checkpoints {
		return 0
	}
	every, err := checkpointTimeout(r.before.Settings["checkpoint_timeout"])
	if err != nil || every <= r.made.Tally.Steady() {
		return 0
	}
	return every
}

// checkpointTimeout reads the setting as the server shows it: 30s, 15min, 1h, 1d.
func checkpointTimeout(text string) (time.Duration, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(strings.Replace(text, "min", "m", 1))
}

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
		*to = &result.Range{Low: human.MS(low)}
		if high > 0 {
			ms := human.MS(high)
			(*to).High = &ms
		}
	}
	if !known {
		return nil
	}
	return &l
}
