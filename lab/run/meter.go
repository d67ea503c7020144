package run

import (
	"sort"
	"sync"
	"time"

	"plimsoll/lab/cpu"
	"plimsoll/lab/live"
)

// Meters of processor time.
const (
	generatorCPU = iota
	workersCPU
	databaseCPU
	machineCPU
	stealCPU
	meters
)

// reading is all meters at one moment; absent ones are not known.
type reading struct {
	at   time.Duration
	used [meters]*time.Duration
}

// meter reads processor times and clocks once a second from the start of the ramp, and memory more rarely.
type meter struct {
	workers    []int // processes; nil: not on this machine
	postmaster int   // 0: not on this machine
	cores      int
	told       func(live.Shares) // hears the latest

	began    time.Time
	readings []reading
	memories []memoryLook
	clocks   clocks
	stopped  chan struct{}
	reads    sync.WaitGroup
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
				return
			}
		}
	}()
}

func (m *meter) stop() {
	close(m.stopped)
	m.reads.Wait()
}

func (m *meter) read() {
	r := reading{at: time.Since(m.began)}
	keep := func(which int, used time.Duration, err error) {
		if err == nil {
			r.used[which] = &used
		}
	}
	// First what is compared with the clock most closely; walking /proc takes a while.
	all, err := cpu.ReadSystem()
	keep(machineCPU, all.Busy, err)
	keep(stealCPU, all.Steal, err)
	own, err := cpu.Own()
	keep(generatorCPU, own, err)
	if len(m.workers) > 0 {
		sum, err := sumTrees(m.workers)
		keep(workersCPU, sum, err)
	}
	if m.postmaster != 0 {
		used, err := cpu.Tree(m.postmaster)
		keep(databaseCPU, used, err)
	}
	m.readings = append(m.readings, r)
	m.lookAtMemory(r.at)
	m.clocks.look(r.at)
	m.tell()
}

// tell the shares between the last two readings.
func (m *meter) tell() {
	if n := len(m.readings); m.told != nil && n > 1 {
		since := func(which int) *float64 { return m.share(which, m.readings[n-2].at, m.readings[n-1].at) }
		m.told(live.Shares{Generator: since(generatorCPU), Workers: since(workersCPU), Database: since(databaseCPU), Machine: since(machineCPU)})
	}
}

func sumTrees(pids []int) (sum time.Duration, err error) {
	for _, pid := range pids {
		used, err := cpu.Tree(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// share of all cores that a meter shows between two moments; nil when a reading
// around either is missing. The kernel counts in ticks, so a busy second can seem to
// have more than all: no share is above 1.
func (m *meter) share(which int, from, to time.Duration) *float64 {
	if len(m.readings) == 0 {
		return nil
	}
	to = min(to, m.readings[len(m.readings)-1].at)
	a, knownA := m.usedAt(which, from)
	b, knownB := m.usedAt(which, to)
	if !knownA || !knownB || to <= from {
		return nil
	}
	share := min(1, max(0, (b-a)/(to-from).Seconds()/float64(m.cores)))
	return &share
}

// usedAt interpolates between the readings around a moment.
func (m *meter) usedAt(which int, at time.Duration) (float64, bool) {
	after := sort.Search(len(m.readings), func(i int) bool { return m.readings[i].at >= at })
	after = min(max(after, 1), len(m.readings)-1)
	if after < 1 {
		return 0, false
	}
	a, b := m.readings[after-1], m.readings[after]
	if b.at == at && b.used[which] != nil {
		return b.used[which].Seconds(), true
	}
	if a.used[which] == nil || b.used[which] == nil || b.at <= a.at {
		return 0, false
	}
	part := min(1, max(0, float64(at-a.at)/float64(b.at-a.at)))
	return a.used[which].Seconds() + part*(*b.used[which]-*a.used[which]).Seconds(), true
}
