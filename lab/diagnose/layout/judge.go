package layout

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/ground/host/probe"
	"plimsoll/ground/host/topology"
	"plimsoll/ground/human"
)

// Limits of the verdicts, with their reasons.
const (
	// slowClockNS: a clock that the processor itself keeps is read in 20 to 60 ns; one that the hypervisor or a chip
	// keeps takes a call of the kernel, and EXPLAIN ANALYZE and track_io_timing read it millions of times.
	slowClockNS = 200
	// lateSleepNS beyond the run queue: timers of a sound kernel fire within 0.1 ms.
	lateSleepNS = 500_000
	// strayNS: no processor of one socket is as far from another as two sockets are.
	strayNS = 400
	// farLeast and farMost bound what another node's memory costs: hardware shows 1.2 to 2.2 times.
	farLeast, farMost = 1.1, 2.5
	// unequal memory within one node: processors of one kind differ by a few percent.
	unequal = 1.5
	// slowTripNS: a transaction of 50 statements waits as long as a flush of a slow disk.
	slowTripNS, oddTripNS = 1_000_000, 300_000
	// slowFlushNS: several such commits in one operation are beyond what its users forgive. quickFlushNS: no device
	// keeps data in less.
	slowFlushNS, quickFlushNS = 10_000_000, 15_000
	// largeShared needs a page table entry of 8 bytes for each 4 kB in each process: 16 MB a connection.
	largeShared = 8 << 30
	// lopsided shared memory: nearly all on one of several nodes.
	lopsided = 0.9
)

func (r *Report) judge() {
	r.Items = []Item{r.shape(), r.caches(), r.nodes(), r.hypervisor(), r.clock(), r.timer(), r.access(), r.exchange()}
	r.Items = append(r.Items, r.flush(), r.trip(), r.use(), r.pages(), r.spread())
}

// item with the worst of its reasons; no reason: trustworthy.
func item(name, shows string) Item { return Item{name, Trustworthy, shows, []string{}} }

func (i *Item) reason(v Verdict, format string, args ...any) {
	if v == Harmful || i.Verdict != Harmful {
		i.Verdict = v
	}
	i.Reasons = append(i.Reasons, fmt.Sprintf(format, args...))
}

func (r *Report) unknown(name string, parts ...string) Item {
	i := Item{name, Unknown, "", []string{}}
	for _, m := range r.Unavailable {
		for _, part := range append(parts, name) {
			if strings.HasPrefix(m.Name, part) && !slices.Contains(i.Reasons, m.Why) {
				i.Reasons = append(i.Reasons, m.Why)
			}
		}
	}
	return i
}

func (r *Report) shape() Item {
	s := r.Topology.Shape
	i := item("processors", fmt.Sprintf("%s: %s, %s, %s", cmp.Or(r.Topology.Model, "no model"),
		human.Count(s.Sockets, "socket"), human.Count(s.Cores, "core"), human.Count(s.CPUs, "thread")))
	for _, odd := range s.Impossible() {
		v := Odd
		if s.Sockets > 2 && s.Cores == s.Sockets && s.Nodes > 1 {
			// The scheduler keeps processes within what it takes for a socket, and moves memory between such nodes.
			v = Harmful
		}
		i.reason(v, "%s", odd)
	}
	return i
}

func (r *Report) caches() Item {
	if len(r.Topology.Caches) == 0 {
		return r.unknown("caches")
	}
	levels := map[string]int{}
	for _, c := range r.Topology.Caches {
		levels[fmt.Sprintf("L%d %s of %s for %d", c.Level, c.Type, human.Bytes(c.Bytes), len(c.Processors))]++
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, fmt.Sprintf("%d × %s", levels[name], name))
	}
	i := item("caches", strings.Join(all, ", "))
	for _, odd := range r.Topology.Odd() {
		if strings.Contains(odd, "cache") || strings.Contains(odd, "threads") {
			i.reason(Odd, "%s", odd)
		}
	}
	return i
}

func (r *Report) nodes() Item {
	if len(r.Topology.Nodes) == 0 {
		return r.unknown("NUMA nodes")
	}
	var all []string
	for _, n := range r.Topology.Nodes {
		all = append(all, fmt.Sprintf("node %d: %d processors, %s, distances %s", n.ID, len(n.Processors),
			human.Bytes(n.MemoryBytes), strings.Trim(fmt.Sprint(n.Distances), "[]")))
	}
	i := item("NUMA nodes", strings.Join(all, "; "))
	for _, odd := range r.Topology.Odd() {
		if strings.Contains(odd, "node") && !strings.Contains(odd, "threads") {
			i.reason(Odd, "%s", odd)
		}
	}
	if far, near := r.Far(); !math.IsNaN(far) && !math.IsNaN(near) {
		ratio := far / near
		i.Shows += fmt.Sprintf("; memory of another node costs ×%.2f", ratio)
		switch {
		case ratio < farLeast:
			i.reason(Odd, "memory of another node costs the same as a node's own: these nodes are not real, and "+
				"keeping processes within one of them gains nothing")
		case ratio > farMost:
			i.reason(Harmful, "memory of another node costs ×%.1f: more than sockets of one machine differ by", ratio)
		}
	}
	return i
}

// steady figures are those of the hardware: others on the machine make most batches longer than the least.
func steady(t probe.Times) bool {
	const batches, most = 20, 1.5
	return t.N >= batches && t.Median <= most*t.Least
}

const disturbed = "others on this machine disturbed the probe: its batches differ by more than half, or were too few"

// Far and near memory, the least of each: NaN where there is none of either.
func (r *Report) Far() (far, near float64) {
	far, near = math.NaN(), math.NaN()
	for _, m := range r.Probes.Memory {
		switch {
		case m.Near:
			near = fmin(near, m.Access.Least)
		case steady(m.Access):
			far = fmin(far, m.Access.Least)
		}
	}
	return far, near
}

func fmin(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return min(a, b)
}

func (r *Report) hypervisor() Item {
	if r.Topology.Hypervisor == "" {
		return item("hypervisor", "none is shown")
	}
	return item("hypervisor", r.Topology.Hypervisor+": the items above are what it shows; the probes are measured")
}

func (r *Report) clock() Item {
	source := r.Topology.Clock.Source
	if source == "" && r.Probes.Clock == nil {
		return r.unknown("clock", "clock source")
	}
	i := item("clock", cmp.Or(source, "source not known"))
	if c := r.Probes.Clock; c != nil {
		i.Shows += fmt.Sprintf(", read in %.0f ns, steps of %.0f ns", c.ReadNS, c.StepNS)
		if c.ReadNS > slowClockNS {
			i.reason(Harmful, "reading the time takes %.0f ns: each reading is a system call; "+
				"timing plans and transfers slows them down", c.ReadNS)
		}
	}
	if source == "hpet" || source == "acpi_pm" || source == "jiffies" {
		i.reason(Harmful, "%s is read outside of the processor; available: %s", source,
			strings.Join(r.Topology.Clock.Others, ", "))
	}
	return i
}

func (r *Report) timer() Item {
	c := r.Probes.Clock
	if c == nil {
		return r.unknown("sleep", "clock and sleep", "probes")
	}
	i := item("sleep", fmt.Sprintf("a sleep of %s takes %s more, at most %s", duration(c.SleptNS),
		duration(c.Sleep.Median), duration(c.Sleep.Most)))
	own := c.Sleep.Median
	if c.QueuedNS != nil {
		i.Shows += fmt.Sprintf("; %s of it on average waits for a processor", duration(*c.QueuedNS))
		own = max(0, own-*c.QueuedNS)
	}
	if own > lateSleepNS {
		i.reason(Odd, "timers fire %s late, which no run queue explains: the hypervisor "+
			"does not schedule this machine in time",
			duration(own))
	}
	return i
}

func (r *Report) access() Item {
	least, most := math.NaN(), 0.0
	for _, m := range r.Probes.Memory {
		if m.Near && steady(m.Access) {
			least, most = fmin(least, m.Access.Least), max(most, m.Access.Least)
		}
	}
	if _, near := r.Far(); math.IsNaN(near) {
		return r.unknown("memory", "probes")
	} else if math.IsNaN(least) {
		return Item{"memory", Unknown, fmt.Sprintf("an access takes %.0f ns", near), []string{disturbed}}
	}
	i := item("memory", fmt.Sprintf("an access takes %.0f ns", least))
	if most > least*1.05 {
		i.Shows += fmt.Sprintf(" to %.0f ns", most)
	}
	if most > unequal*least {
		i.reason(Odd, "processors of one node reach its memory in %.0f to %.0f ns: they are not in one node, or one "+
			"of them is slowed", least, most)
	}
	return i
}

func (r *Report) exchange() Item {
	if len(r.Probes.Lines) == 0 {
		return r.unknown("cache lines", "probes")
	}
	kinds := map[topology.Relation][2]float64{} // least and most
	for _, l := range r.Probes.Lines {
		if !steady(l.Trip) {
			continue
		}
		k, known := kinds[l.Relation]
		if !known {
			k = [2]float64{l.Trip.Least, l.Trip.Least}
		}
		kinds[l.Relation] = [2]float64{min(k[0], l.Trip.Least), max(k[1], l.Trip.Least)}
	}
	if len(kinds) == 0 {
		return Item{"cache lines", Unknown, "", []string{disturbed}}
	}
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		all = append(all, fmt.Sprintf("%s: there and back in %.0f to %.0f ns", kind, k[0], k[1]))
	}
	i := item("cache lines", strings.Join(all, "; "))
	order := []topology.Relation{topology.SameCore, topology.SameCache, topology.SameSocket, topology.SameNode,
		topology.OtherNode}
	for n, near := range order {
		for _, far := range order[n+1:] {
			a, b := kinds[near], kinds[far]
			if a[0] > 0 && b[0] > 0 && a[0] > unequal*b[0] {
				i.reason(Odd, "%s need %.0f ns, and %s %.0f: what is shown as near is farther", near, a[0], far, b[0])
			}
		}
	}
	for _, near := range order[:3] {
		if k, known := kinds[near]; known && k[0] > strayNS {
			i.reason(Odd, "%s need %.0f ns for a cache line: as long as between sockets", near, k[0])
		}
	}
	return i
}

func (r *Report) flush() Item {
	f := r.Probes.Flush
	if f == nil {
		return r.unknown("flush", "probes")
	}
	i := item("flush", fmt.Sprintf("8 kB in %s: median %s, p99 %s", r.Probes.Dir, duration(f.Median),
		duration(f.P99)))
	switch {
	case f.Median > slowFlushNS:
		i.reason(Harmful, "a flush takes %s: at most %.0f commits a second, one after the other", duration(f.Median),
			1e9/f.Median)
	case f.Median < quickFlushNS:
		i.reason(Odd, "a flush takes %s: no device keeps data in that time; it is memory, or something below does not "+
			"flush", duration(f.Median))
	}
	return i
}

func (r *Report) trip() Item {
	t := r.Probes.Trip
	if t == nil {
		return r.unknown("round trip", "server")
	}
	i := item("round trip", fmt.Sprintf("%s to the database over %s, minimum %s", duration(t.Median), r.Server.Way,
		duration(t.Least)))
	switch { // the least: a busy machine answers late, a far one always
	case t.Least > slowTripNS:
		i.reason(Harmful, "an operation of 100 statements spends at least %s in the network", duration(100*t.Least))
	case t.Least > oddTripNS:
		i.reason(Odd, "machines in one data centre answer in less than %s", duration(oddTripNS))
	}
	return i
}

func (r *Report) use() Item {
	if r.Server == nil || r.Server.Processors == "" {
		return r.unknown("server's processors", "server", "processors of the server")
	}
	i := item("server's processors", fmt.Sprintf("processors %s, memory of nodes %s", r.Server.Processors,
		cmp.Or(r.Server.MemoryNodes, "?")))
	if n := topology.Count(r.Server.Processors); n < len(r.Topology.Processors) {
		i.reason(Odd, "the server may use %d of %d processors", n, len(r.Topology.Processors))
	}
	if n := topology.Count(r.Server.MemoryNodes); n > 0 && n < len(r.Topology.Nodes) {
		i.reason(Odd, "the server may use memory of %d of %d nodes", n, len(r.Topology.Nodes))
	}
	return i
}

func (r *Report) pages() Item {
	if r.Server == nil {
		return r.unknown("huge pages", "server")
	}
	status := r.Server.Settings["huge_pages_status"]
	i := item("huge pages", fmt.Sprintf("huge_pages is %s, in use: %s; shared memory %s",
		r.Server.Settings["huge_pages"],
		cmp.Or(status, "the server does not say"), cmp.Or(r.Server.Settings["shared_memory_size"], "?")))
	shared, _ := human.ParseBytes(r.Server.Settings["shared_memory_size"]) // 0: no such setting
	if status == "off" && shared >= largeShared {
		i.reason(Harmful, "each of up to %s processes needs a page table of %s for the shared memory",
			r.Server.Settings["max_connections"], human.Bytes(shared/512))
	}
	if r.Topology.HugePages.Transparent == "always" {
		i.Shows += "; transparent huge pages: always"
	}
	return i
}

func (r *Report) spread() Item {
	if r.Server == nil || r.Server.SharedByNode == nil {
		return r.unknown("shared memory by node", "server")
	}
	var all []string
	var sum, most int64
	for _, node := range slices.Sorted(maps.Keys(r.Server.SharedByNode)) {
		b := r.Server.SharedByNode[node]
		all = append(all, fmt.Sprintf("%s: %s", node, human.Bytes(b)))
		if node != "not touched yet" {
			sum, most = sum+b, max(most, b)
		}
	}
	i := item("shared memory by node", strings.Join(all, ", "))
	if len(r.Topology.Nodes) > 1 && sum > 0 && float64(most) > lopsided*float64(sum) {
		i.reason(Harmful, "%.0f %% of the shared memory that is in use lies in one of %d nodes: the processors of all "+
			"others reach across nodes for each page", 100*float64(most)/float64(sum), len(r.Topology.Nodes))
	}
	return i
}
