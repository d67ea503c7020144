package diagnose

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/disk"
	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/host/pressure"
	"plimsoll/ground/host/sockets"
	"plimsoll/ground/host/topology"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/stats"
)

// Host is what the server's machine did. Nil means unknown, never zero.
type Host struct {
	Cores   int       `json:"cores"`
	Busy    *float64  `json:"busy"`     // share of all cores
	PerCore []float64 `json:"per_core"` // share of each
	// Usable are the cores that the server may use, if it is confined to some of them.
	Usable   []int    `json:"usable_cores,omitempty"`
	Database *float64 `json:"database"` // share of all cores
	// Server is how that divides among the server's processes; null: not known.
	Server []Use    `json:"server"`
	Others *float64 `json:"others"` // share of all cores
	// Who names the other processes, the busiest first.
	Who []neighbours.Neighbour `json:"who"`
	// Full is the process that keeps one core full, if there is one.
	Full           *FullCore       `json:"full_core"`
	Steal          *float64        `json:"steal"`           // share of all cores
	Throttled      *float64        `json:"throttled"`       // share of the time
	CPUPressure    *float64        `json:"cpu_pressure"`    // share of the time
	MemoryPressure *float64        `json:"memory_pressure"` // share of the time
	IOPressure     *float64        `json:"io_pressure"`     // share of the time
	Disks          []Disk          `json:"disks"`
	Topology       *topology.Shape `json:"topology"`
	// RoundTripS is the shortest round trip to clients on other machines, in seconds: the median of their connections.
	RoundTripS *float64 `json:"client_round_trip_s"`
}

// FullCore is a process that keeps one core full.
type FullCore struct {
	Name     string  `json:"name"`
	PID      int     `json:"pid"`
	Cores    float64 `json:"cores"`  // used
	Waited   float64 `json:"waited"` // threads of it that waited for a processor, on average
	Database bool    `json:"of_the_database"`
}

// Disk is the work of one.
type Disk struct {
	Name    string   `json:"name"`
	PerS    float64  `json:"transfers_per_s"`
	ReadMS  *float64 `json:"ms_per_read"`
	WriteMS *float64 `json:"ms_per_write"`
	FlushMS *float64 `json:"ms_per_flush"`
	Queue   float64  `json:"queue"` // transfers under way, on average
	Busy    float64  `json:"busy"`  // share of the time
	Bytes   float64  `json:"bytes"` // read and written
}

// hostWatch reads the machine once a second.
type hostWatch struct {
	postmaster int
	root       string // of the files that show the topology
	began      time.Time
	first      moment
	last       moment
	others     neighbours.Watch
	used       map[int]*pidUse
	kinds      map[int]string       // of the server's processes, by the last census
	sessions   map[int]cpu.Schedule // of client backends, as last seen
	sum        scheduled
	sessionErr error
	seen       bool            // sessions were read at least twice
	trips      []time.Duration // to clients on other machines, as last seen
	tripsErr   error
}

// moment is one reading; a nil part could not be read.
type moment struct {
	at       time.Time
	cores    []cpu.System
	tree     *time.Duration
	pressure pressure.Reading
	disks    map[string]disk.Work
	errs     map[string]error
}

// pidUse is the processor time of one process.
type pidUse struct {
	used, last time.Duration
	name       string
	database   bool
	kind       string
	schedule   *cpu.Schedule // as last seen, while it is busy
	waited     time.Duration // for a processor
	demands    []float64     // threads that ran or waited for a processor, of each second in which it was busy
}

// pidsMost is how many processes are followed; later ones on a larger machine are only counted together with all
// others.
const pidsMost = 5000

func newHostWatch(postmaster int, root string) *hostWatch {
	w := &hostWatch{postmaster: postmaster, root: root, began: time.Now(), used: map[int]*pidUse{},
		sessions: map[int]cpu.Schedule{}}
	w.others = neighbours.Watch{To: neighbours.Forever, Names: cpu.Name, Cores: runtime.NumCPU()}
	w.read(waits.Census{})
	w.first = w.last
	return w
}

// read reads the machine, and the scheduler's figures of the sessions' processes.
func (w *hostWatch) read(c waits.Census) {
	w.kinds = kindsOf(c)
	m := moment{at: time.Now(), errs: map[string]error{}}
	var err error
	if m.cores, err = cpu.ReadCores(); err != nil {
		m.errs["processors"] = err
	}
	if m.disks, err = disk.Read(); err != nil {
		m.errs["disks"] = err
	}
	m.pressure = pressure.ReadFor(w.postmaster)
	if everyone, err := cpu.ReadEveryone(); err != nil {
		m.errs["processes"] = err
	} else {
		if used, err := everyone.Tree(w.postmaster); err == nil {
			m.tree = &used
		}
		w.others.Look(m.at.Sub(w.began), everyone.Others(os.Getpid(), w.postmaster))
		w.follow(everyone, m.at.Sub(w.last.at))
	}
	w.schedule(c.PIDs)
	w.roundTrips(c)
	w.last = m
}

// roundTrips to clients on other machines, while there are any.
func (w *hostWatch) roundTrips(c waits.Census) {
	if c.Remote == 0 {
		return
	}
	all, err := sockets.RoundTrips(c.Port)
	w.tripsErr = err
	var trips []time.Duration
	for _, from := range c.From {
		address, port, _ := strings.Cut(from, " ")
		if client, err := netip.ParseAddrPort(net.JoinHostPort(address, port)); err == nil {
			if trip, known := all[client]; known {
				trips = append(trips, trip)
			}
		}
	}
	if len(trips) > 0 {
		w.trips = trips
	}
}

// follow adds up what each process used since the last reading.
func (w *hostWatch) follow(everyone cpu.Everyone, since time.Duration) {
	begins := len(w.used) == 0
	outside, notOurs := everyone.Others(w.postmaster), everyone.Others(os.Getpid())
	for pid, u := range everyone.Others() {
		_, foreign := outside[pid]
		if _, is := notOurs[pid]; foreign && !is { // of this program, which may have started the server
			continue
		}
		p := w.used[pid]
		if p == nil {
			if len(w.used) >= pidsMost {
				continue
			}
			p = &pidUse{database: !foreign, name: cpu.Name(pid)}
			if begins {
				p.last = u.Own
			}
			w.used[pid] = p
		}
		used := max(0, u.Own-p.last)
		p.used += used
		p.last = u.Own
		if !begins {
			p.demand(pid, used, since)
		}
		if kind := w.kinds[pid]; kind != "" {
			p.kind = kind
		}
	}
}

// demand adds how many threads of a busy process had work since the last reading.
func (p *pidUse) demand(pid int, used, since time.Duration) {
	if used.Seconds() < filledAtLeast.Value*since.Seconds() {
		p.schedule = nil
		return
	}
	now, err := cpu.ReadSchedule(pid)
	if err != nil { // it has ended, or the kernel counts no waiting
		p.demands = append(p.demands, used.Seconds()/since.Seconds())
		return
	}
	if was := p.schedule; was != nil {
		waited := max(0, now.Waited-was.Waited)
		p.waited += waited
		p.demands = append(p.demands, (max(0, now.Ran-was.Ran)+waited).Seconds()/since.Seconds())
	}
	p.schedule = &now
}

// full says whether the process keeps one core full: it had work for one thread nearly all the time, and for a second
// one hardly ever.
func (p *pidUse) full(length float64) bool {
	one := 0
	for _, threads := range p.demands {
		if threads >= fullCore.Value && threads <= fullCoreMost.Value {
			one++
		}
	}
	return p.used.Seconds() >= filledAtLeast.Value*length && one > 0 &&
		float64(one) >= fullCoreMostly.Value*float64(len(p.demands))
}

// schedule adds what the sessions' processes ran and waited. A new process started after the previous reading.
func (w *hostWatch) schedule(backends []int) {
	if backends == nil {
		return
	}
	now := map[int]cpu.Schedule{}
	for _, pid := range backends {
		s, err := cpu.ReadMainSchedule(pid)
		if err != nil {
			_, w.sessionErr = os.Stat("/proc/self/schedstat") // otherwise it has ended since
			continue
		}
		now[pid] = s
		if was, known := w.sessions[pid]; known || w.seen {
			w.sum.ran += max(0, s.Ran-was.Ran).Seconds()
			w.sum.waited += max(0, s.Waited-was.Waited).Seconds()
		}
	}
	w.sessions, w.seen = now, true
}

// processor is what the scheduler says about the sessions; nil and the reason if it says nothing.
func (w *hostWatch) processor() (*scheduled, string) {
	switch {
	case w == nil:
		return nil, "not split: the server runs elsewhere, or in a container whose processes are not visible here"
	case w.sessionErr != nil:
		return nil, "not split: the kernel keeps no /proc/PID/schedstat"
	case !w.seen:
		return nil, "not split: no session's process was seen"
	}
	return &w.sum, "split by the scheduler's figures (/proc/PID/schedstat) of the sessions' processes"
}

// host sums up.
func (w *hostWatch) host(s *sources) *Host {
	if w == nil {
		return nil
	}
	span := w.last.at.Sub(w.first.at)
	length := span.Seconds()
	h := &Host{Cores: max(len(w.last.cores), runtime.NumCPU())}
	if length <= 0 {
		return h
	}
	w.processors(h, length)
	s.missOnError("processors of the machine", w.last.errs["processors"])
	s.missOnError("processes of the machine", w.last.errs["processes"])
	if h.Throttled = neighbours.Part(w.first.pressure.Throttled, w.last.pressure.Throttled, span); h.Throttled == nil {
		s.miss("quota of the control group", "the server's group has no cpu.stat that is visible here")
	}
	h.CPUPressure = neighbours.Part(w.first.pressure.CPU, w.last.pressure.CPU, span)
	h.MemoryPressure = neighbours.Part(w.first.pressure.Memory, w.last.pressure.Memory, span)
	h.IOPressure = neighbours.Part(w.first.pressure.IO, w.last.pressure.IO, span)
	if h.CPUPressure == nil {
		s.miss("pressure (PSI)", "the kernel shows no /proc/pressure")
	}
	w.disks(h, length)
	s.missOnError("disks", w.last.errs["disks"])
	shape, err := topology.Read(w.root)
	if err == nil {
		h.Topology = &shape
	}
	s.missOnError("topology", err)
	if len(w.trips) > 0 {
		h.RoundTripS = new(stats.Percentile(w.trips, 0.5).Seconds())
	}
	s.missOnError("round trips to the clients", w.tripsErr)
	return h
}

func (w *hostWatch) processors(h *Host, length float64) {
	if len(w.first.cores) == len(w.last.cores) && len(w.last.cores) > 0 {
		busy, steal := 0.0, 0.0
		for i, core := range w.last.cores {
			one := min(1, (core.Busy-w.first.cores[i].Busy).Seconds()/length)
			h.PerCore = append(h.PerCore, one)
			busy += one
			steal += (core.Steal - w.first.cores[i].Steal).Seconds() / length
		}
		busy, steal = busy/float64(h.Cores), steal/float64(h.Cores)
		h.Busy, h.Steal = &busy, &steal
	}
	if w.first.tree != nil && w.last.tree != nil {
		x := min(1, max(0, (*w.last.tree-*w.first.tree).Seconds()/length/float64(h.Cores)))
		h.Database = &x
	}
	h.Server = w.uses(h, length)
	h.Others, h.Who = w.others.Share()
	h.Usable = usable(w.postmaster, h.Cores)
	for pid, p := range w.used {
		cores := p.used.Seconds() / length
		if p.full(length) && (h.Full == nil || cores > h.Full.Cores) {
			h.Full = &FullCore{nonEmpty(p.name, "?"), pid, cores, p.waited.Seconds() / length, p.database}
		}
	}
}

// usable are the cores that a process is confined to; nil: all, or unknown.
func usable(pid, cores int) (some []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(pid, &set) != nil || set.Count() >= cores {
		return nil
	}
	for i := range cores {
		if set.IsSet(i) {
			some = append(some, i)
		}
	}
	if len(some) < set.Count() {
		return nil // a core is switched off: the kernel's order is not their numbers
	}
	return some
}

func (w *hostWatch) disks(h *Host, length float64) {
	for name, now := range w.last.disks {
		was, known := w.first.disks[name]
		if !known {
			continue
		}
		d := now.Since(was)
		h.Disks = append(h.Disks, Disk{Name: name, PerS: float64(d.Reads+d.Writes) / length,
			ReadMS: meanMs(d.ReadTime, d.Reads), WriteMS: meanMs(d.WriteTime, d.Writes), FlushMS: meanMs(d.FlushTime,
				d.Flushes),
			Queue: d.Queue.Seconds() / length, Busy: min(1, d.Busy.Seconds()/length),
			Bytes: float64(d.BytesRead + d.BytesWrite)})
	}
	slices.SortFunc(h.Disks, func(a, b Disk) int { return compareDown(a.Busy, b.Busy, a.Name, b.Name) })
}

func meanMs(all time.Duration, n int64) *float64 {
	if n <= 0 {
		return nil
	}
	ms := float64(all) / float64(n) / float64(time.Millisecond)
	return &ms
}
