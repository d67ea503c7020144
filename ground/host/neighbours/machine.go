package neighbours

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/pressure"
)

const (
	// Beat is how often processes are read: what a process used between its last reading and its end is lost.
	Beat = time.Second
	// Shortest is the shortest time that a verdict may rest on: the kernel counts processor time in hundredths of a
	// second, and in less what a program does at its begin and end is a large part of the total.
	Shortest = 500 * time.Millisecond
	// Forever is the end of a period that somebody else ends.
	Forever = 1 << 62
)

// Machine is this machine, watched from Begin to End.
type Machine struct {
	ours   func() []int
	began  time.Time
	first  lost
	family cpu.Family
	others Watch
	stop   chan struct{}
	looks  sync.WaitGroup
}

// Taken is what others took from a measurement; nil: not known.
type Taken struct {
	For         time.Duration
	Others      *float64    // share of all cores that processes used which are not ours
	Who         []Neighbour // most first
	Steal       *float64    // share of all cores that the hypervisor gave to others
	Throttled   *float64    // share of the time in which a quota withheld the processor
	MemoryStall *float64    // share of the time in which some process waited for memory
}

// Begin to watch. Ours are processes with all that descends from them, orphans too: they are asked for at each look.
func Begin(ours func() []int) *Machine {
	m := &Machine{ours: ours, began: time.Now(), first: readLost(), stop: make(chan struct{}),
		others: Watch{To: Forever, Names: cpu.Name, Cores: runtime.NumCPU(), Busy: busy}}
	m.look()
	m.looks.Add(1)
	go m.keepLooking()
	return m
}

// End of the watch; it may be called once.
func (m *Machine) End() Taken {
	close(m.stop)
	m.looks.Wait()
	m.look()
	t := Taken{For: time.Since(m.began)}
	now := readLost()
	t.Others, t.Who = m.others.Share()
	t.Steal = Part(m.first.steal, now.steal, time.Duration(float64(m.others.Cores)*float64(t.For)))
	t.Throttled = Part(m.first.Throttled, now.Throttled, t.For)
	t.MemoryStall = Part(m.first.Memory, now.Memory, t.For)
	return t
}

func (m *Machine) look() {
	if everyone, err := cpu.ReadEveryone(); err == nil {
		m.family = everyone.Family(m.family, m.ours()...)
		m.others.Look(time.Since(m.began), everyone.Others(slices.Collect(maps.Keys(m.family))...))
	}
}

func (m *Machine) keepLooking() {
	defer m.looks.Done()
	beat := time.NewTicker(Beat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			m.look()
		case <-m.stop:
			return
		}
	}
}

// lost is time that the machine did not give; nil: not known.
type lost struct {
	pressure.Reading
	steal *time.Duration
}

func readLost() lost {
	l := lost{Reading: pressure.Read()}
	if system, err := cpu.ReadSystem(); err == nil {
		l.steal = &system.Steal
	}
	return l
}

func busy() (time.Duration, bool) {
	system, err := cpu.ReadSystem()
	return system.Busy, err == nil
}

// Part of a length that a meter went on by; nil if it could not be read.
func Part(before, after *time.Duration, length time.Duration) *float64 {
	if before == nil || after == nil || length <= 0 {
		return nil
	}
	part := min(1, max(0, (*after-*before).Seconds()/length.Seconds()))
	return &part
}
