package run

import (
	"sort"
	"time"

	"plimsoll/ground/host/memory"
	"plimsoll/ground/host/process"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
)

// Holders of memory, in the order of the processors' meters.
const holders = databaseCPU + 1

var holderNames = [holders]string{result.MemoryOfGenerator, result.MemoryOfWorkers, result.MemoryOfDatabase}

// memoryEvery is the interval of reading memory, which means a walk through /proc for each process tree.
const memoryEvery = 5 * time.Second

// Memory growth is reported for the steady state after its warm-up, if the run is long enough.
const (
	// WarmUpShare of the steady state fills caches, pools and sessions.
	WarmUpShare = 1.0 / 3
	// MemorySteadyMin: a shorter steady state is all warm-up, with too few garbage collections to tell a trend from
	// their saw-tooth.
	MemorySteadyMin = 10 * time.Minute
)

// heldMemory is the private memory of all processes of each holder; unknown ones are missing.
type heldMemory [holders]*float64

// memoryLook is what they held at one moment of the run.
type memoryLook struct {
	at   time.Duration
	held heldMemory
}

// lookAtMemory if it is time to.
func (m *meter) lookAtMemory(at time.Duration) {
	if n := len(m.memories); n == 0 || at-m.memories[n-1].at > memoryEvery-time.Second/2 {
		m.memories = append(m.memories, memoryLook{at, memoryNow(m.workers, m.postmaster)})
	}
}

// memoryNow reads all holders.
func memoryNow(workers []int, postmaster int) (all heldMemory) {
	keep := func(which int, bytes int64, err error) {
		if err == nil {
			b := float64(bytes)
			all[which] = &b
		}
	}
	bytes, err := memory.Own()
	keep(generatorCPU, bytes, err)
	if len(workers) > 0 {
		bytes, err := privateOf(workers)
		keep(workersCPU, bytes, err)
	}
	if postmaster != 0 {
		bytes, err := privateOf([]int{postmaster})
		keep(databaseCPU, bytes, err)
	}
	return all
}

// privateOf returns the private memory of processes and all their descendants.
func privateOf(pids []int) (sum int64, err error) {
	for _, pid := range pids {
		id, err := process.Of(pid)
		if err != nil {
			return 0, err
		}
		bytes, err := memory.Tree(id)
		if err != nil {
			return 0, err
		}
		sum += bytes
	}
	return sum, nil
}

// memoryAt is the last known reading before a moment; nil: none.
func (m *readings) memoryAt(which int, at time.Duration) *float64 {
	after := sort.Search(len(m.memories), func(i int) bool { return m.memories[i].at > at })
	if after == 0 {
		return nil
	}
	return m.memories[after-1].held[which]
}

// mostMemory of a holder from a moment on; nil: unknown.
func (m *readings) mostMemory(which int, from time.Duration) (most *float64) {
	for _, look := range m.memories {
		if bytes := look.held[which]; bytes != nil && look.at >= from && (most == nil || *bytes > *most) {
			most = bytes
		}
	}
	return most
}

// memoryTrends between two moments, for the holders for which it is known.
func (m *readings) memoryTrends(from, to time.Duration) (all []result.Memory) {
	if to-from < MemorySteadyMin {
		return nil
	}
	warm := from + time.Duration(WarmUpShare*float64(to-from))
	for which, holder := range holderNames {
		if t := m.trend(which, warm, to); t != nil {
			t.Of = holder
			all = append(all, *t)
		}
	}
	return all
}

// trend of a holder between two moments: from the medians of the first and the second half, so that one garbage
// collection more or less makes no trend.
func (m *readings) trend(which int, from, to time.Duration) *result.Memory {
	var halves [2][]float64
	most := 0.0
	for _, look := range m.memories {
		if bytes := look.held[which]; bytes != nil && look.at >= from && look.at < to {
			half := 0
			if look.at >= (from+to)/2 {
				half = 1
			}
			halves[half] = append(halves[half], *bytes)
			most = max(most, *bytes)
		}
	}
	if len(halves[0]) == 0 || len(halves[1]) == 0 {
		return nil
	}
	return &result.Memory{FromS: from.Seconds(), ToS: to.Seconds(), First: stats.Median(halves[0]),
		Last: stats.Median(halves[1]), Max: most}
}
