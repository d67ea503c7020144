package run

import (
	"slices"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// series turns the timeline's rows into columns.
func (r *record) series() result.Series {
	line := r.made.Tally.Timeline
	s := result.Series{
		IntervalS:   line.Width.Seconds(),
		SteadyFromS: r.made.Tally.From.Seconds(),
		SteadyToS:   r.made.Tally.To.Seconds(),
	}
	for k, interval := range line.Intervals {
		from := time.Duration(k) * line.Width
		addInterval(&s, from, interval)
		for which, column := range map[int]*[]*float64{
			generatorCPU: &s.CPUGenerator, workersCPU: &s.CPUWorkers, databaseCPU: &s.CPUDatabase,
			machineCPU: &s.CPUMachine,
		} {
			share := r.meters.share(which, from, from+line.Width)
			if which == generatorCPU && len(r.made.Agents) > 0 {
				share = nil // this process only counts; what the agents used is known for the whole run
			}
			*column = append(*column, share)
		}
		for which, column := range map[int]*[]*float64{generatorCPU: &s.MemoryGenerator, workersCPU: &s.MemoryWorkers,
			databaseCPU: &s.MemoryDatabase} {
			*column = append(*column, r.memoryAt(which, from+line.Width))
		}
	}
	return s
}

// memoryAt is the holder's memory; if others generate the load, this process's is not the generator's.
func (r *record) memoryAt(which int, at time.Duration) *float64 {
	if which == generatorCPU && len(r.made.Agents) > 0 {
		return nil
	}
	return r.meters.memoryAt(which, at)
}

// memory after the warm-up, by holder.
func (r *record) memory() []result.Memory {
	if len(r.stages()) > 0 {
		return nil // memory that goes with the load is no growth
	}
	all := r.meters.memoryTrends(r.made.Tally.From, r.made.Tally.To)
	return slices.DeleteFunc(all, func(m result.Memory) bool {
		return m.Of == result.MemoryOfGenerator && len(r.made.Agents) > 0
	})
}

func addInterval(s *result.Series, from time.Duration, i tally.Interval) {
	s.T = append(s.T, from.Seconds())
	s.Users = append(s.Users, int64(i.Users))
	s.OK = append(s.OK, i.Outcomes[tally.OK])
	s.Refused = append(s.Refused, i.Outcomes[tally.Refused])
	s.Errors = append(s.Errors, i.Outcomes[tally.Failed])
	s.Overload = append(s.Overload, i.Outcomes[tally.Overload])
	s.LagMSMax = append(s.LagMSMax, human.MS(i.LagMax))
	s.InFlight = append(s.InFlight, int64(i.InFlight))
	s.Backlog = append(s.Backlog, int64(i.Backlog))
	s.Apdex = append(s.Apdex, nil)
	if score, ok := i.Apdex.Score(); ok {
		s.Apdex[len(s.Apdex)-1] = &score
	}
	s.P50MS = append(s.P50MS, percentile(i.P50))
	s.P95MS = append(s.P95MS, percentile(i.P95))
	s.P99MS = append(s.P99MS, percentile(i.P99))
}

// percentile is null where it is a failed operation, or nothing ended.
func percentile(d time.Duration) *float64 {
	if d == tally.NoPercentile {
		return nil
	}
	ms := human.MS(d)
	return &ms
}
