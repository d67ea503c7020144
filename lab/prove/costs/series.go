package costs

import (
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/stats"
	"plimsoll/platform/data/database"
)

// measurement of one operation.
type measurement struct {
	latency        time.Duration
	refused        bool
	cost           database.Counters
	wal            *int64
	server, worker *time.Duration
}

// series of measurements of one operation on one side.
type series []measurement

func (s series) figures() Figures {
	f := Figures{Count: len(s)}
	if len(s) == 0 {
		return f
	}
	var sum database.Counters
	var latencies, logs []float64
	for _, t := range s {
		sum.Add(t.cost)
		if t.refused {
			f.Refused++
		}
		latencies = append(latencies, human.MS(t.latency))
		if t.wal != nil {
			logs = append(logs, float64(*t.wal))
		}
	}
	mean := func(n int64) float64 { return float64(n) / float64(len(s)) }
	f.Statements, f.RoundTrips, f.Rows = mean(sum.Statements), mean(sum.RoundTrips), mean(sum.Rows)
	f.TempTables, f.Truncates = mean(sum.TempTables.Used()), mean(sum.TempTables.Truncates)
	if sum.TempTables.Returned > 0 {
		share := sum.TempTables.EmptyShare()
		f.EmptyShare = &share
	}
	f.LatencyMS, f.LatencyP95 = stats.Median(latencies), stats.Percentile(latencies, 0.95)
	if len(logs) == len(s) {
		median := stats.Median(logs)
		f.WALBytes = &median
	}
	f.ServerMS = s.mean(func(m measurement) *time.Duration { return m.server })
	f.WorkerMS = s.mean(func(m measurement) *time.Duration { return m.worker })
	return f
}

// mean of a time; nil unless it is known for every operation.
func (s series) mean(part func(measurement) *time.Duration) *float64 {
	var sum time.Duration
	for _, t := range s {
		v := part(t)
		if v == nil {
			return nil
		}
		sum += *v
	}
	ms := human.MS(sum) / float64(len(s))
	return &ms
}
