package run

import (
	"os"
	"runtime"
	"sort"
	"sync"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/host/pressure"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
)

// Meters of processor time, and of time that was lost.
const (
	generatorCPU = iota
	workersCPU
	databaseCPU
	machineCPU
	stealCPU
	throttledTime
	memoryTime
	meters
)

// reading holds all meters at one moment; unknown ones are absent.
type reading struct {
	at   time.Duration
	used [meters]*time.Duration
}

// readings of a meter.
type readings struct {
	cores      int
	processors []reading
	memories   []memoryLook
	neighbours neighbours.Watch
	events     []result.Event // of the clocks
	slept      time.Duration
}

// meter reads processor times and clocks once a second from the start of the ramp, and memory less often.
type meter struct {
	readings
	workers    []int             // processes; nil: not on this machine
	postmaster int               // 0: not on this machine
	shares     func(live.Shares) // receives the latest reading; nil: nothing does

	began   time.Time
	clocks  clocks
	stopped chan struct{}
	reads   sync.WaitGroup
}

func newMeter(workers []int, postmaster int, say func(live.Tone, string), shares func(live.Shares)) *meter {
	cores := runtime.NumCPU()
	return &meter{readings: readings{cores: cores, neighbours: neighbours.Watch{Names: cpu.Name, Cores: cores}},
		workers: workers, postmaster: postmaster, shares: shares,
		clocks: clocks{read: readClocks, tell: say}}
}

func (m *meter) start() {
	m.began, m.stopped = time.Now(), make(chan struct{})
	m.read()
	m.reads.Add(1)
	go func() {
		defer m.reads.Done()
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case <-second.C:
				m.read()
			case <-m.stopped:
				m.read()
				m.memories = append(m.memories, memoryLook{time.Since(m.began), memoryNow(m.workers, m.postmaster)})
				return
			}
		}
	}()
}

// end returns the readings; none if it never started.
func (m *meter) end() readings {
	if m.stopped != nil {
		close(m.stopped)
		m.reads.Wait()
	}
	m.events, m.slept = m.clocks.events, m.clocks.slept
	return m.readings
}

func (m *meter) read() {
	r := reading{at: time.Since(m.began)}
	keep := func(which int, used time.Duration, err error) {
		if err == nil {
			r.used[which] = &used
		}
	}
	// The meters compared most closely with the clock come first; walking /proc takes a while.
	all, err := cpu.ReadSystem()
	keep(machineCPU, all.Busy, err)
	keep(stealCPU, all.Steal, err)
	own, err := cpu.Own()
	keep(generatorCPU, own, err)
	if everyone, err := cpu.ReadEveryone(); err == nil {
		m.readProcesses(r.at, everyone, keep)
	}
	lost := pressure.Read()
	r.used[throttledTime], r.used[memoryTime] = lost.Throttled, lost.Memory
	m.processors = append(m.processors, r)
	m.lookAtMemory(r.at)
	m.clocks.look(r.at)
	m.reportShares()
}

// reportShares reports the shares between the last two readings.
func (m *meter) reportShares() {
	if n := len(m.processors); m.shares != nil && n > 1 {
		since := func(which int) *float64 { return m.share(which, m.processors[n-2].at, m.processors[n-1].at) }
		m.shares(live.Shares{Generator: since(generatorCPU), Workers: since(workersCPU), Database: since(databaseCPU),
			Machine: since(machineCPU)})
	}
}

// readProcesses reads the processor time of the system and of all others.
func (m *meter) readProcesses(at time.Duration, everyone cpu.Everyone, keep func(int, time.Duration, error)) {
	if len(m.workers) > 0 {
		sum, err := sumTrees(everyone, m.workers)
		keep(workersCPU, sum, err)
	}
	if m.postmaster != 0 {
		used, err := everyone.Tree(m.postmaster)
		keep(databaseCPU, used, err)
	}
	m.neighbours.Look(at, everyone.Others(ours(m.workers, m.postmaster)...))
}

// ours are the processes of the lab and the system; those that descend from them belong to them.
func ours(workers []int, postmaster int) []int {
	all := append([]int{os.Getpid()}, workers...)
	if postmaster != 0 {
		all = append(all, postmaster)
	}
	return all
}

func sumTrees(everyone cpu.Everyone, pids []int) (sum time.Duration, err error) {
	for _, pid := range pids {
		used, err := everyone.Tree(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// part of the time between two moments in which the meter's condition held; nil as for share.
func (m *readings) part(which int, from, to time.Duration) *float64 {
	one := readings{cores: 1, processors: m.processors}
	return one.share(which, from, to)
}

// share of all cores that a meter shows between two moments; nil if a reading around either is missing. The kernel
// counts in ticks, so a busy second can seem to have more than all: shares are capped at 1.
func (m *readings) share(which int, from, to time.Duration) *float64 {
	if len(m.processors) == 0 {
		return nil
	}
	to = min(to, m.processors[len(m.processors)-1].at)
	a, knownA := m.usedAt(which, from)
	b, knownB := m.usedAt(which, to)
	if !knownA || !knownB || to <= from {
		return nil
	}
	share := min(1, max(0, (b-a)/(to-from).Seconds()/float64(m.cores)))
	return &share
}

// covers returns how much of the time between two moments the readings cover.
func (m *readings) covers(from, to time.Duration) time.Duration {
	if len(m.processors) == 0 {
		return 0
	}
	return min(to, m.processors[len(m.processors)-1].at) - from
}

// usedAt interpolates between the readings around a moment.
func (m *readings) usedAt(which int, at time.Duration) (float64, bool) {
	after := sort.Search(len(m.processors), func(i int) bool { return m.processors[i].at >= at })
	after = min(max(after, 1), len(m.processors)-1)
	if after < 1 {
		return 0, false
	}
	a, b := m.processors[after-1], m.processors[after]
	if b.at == at && b.used[which] != nil {
		return b.used[which].Seconds(), true
	}
	if a.used[which] == nil || b.used[which] == nil || b.at <= a.at {
		return 0, false
	}
	part := min(1, max(0, float64(at-a.at)/float64(b.at-a.at)))
	return a.used[which].Seconds() + part*(*b.used[which]-*a.used[which]).Seconds(), true
}
