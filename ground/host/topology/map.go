package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Map is the topology in full, as the kernel shows it.
type Map struct {
	Shape      Shape       `json:"shape"`
	Model      string      `json:"processor"`
	Processors []Processor `json:"processors"`
	Caches     []Cache     `json:"caches"`
	Nodes      []Node      `json:"nodes"`
	// MemoryBytes of the machine; 0: not known.
	MemoryBytes int64 `json:"memory_bytes"`
	// Hypervisor that runs this machine; empty: the kernel names none.
	Hypervisor string    `json:"hypervisor"`
	Clock      Clock     `json:"clock"`
	HugePages  HugePages `json:"huge_pages"`
	// Missing are the parts that the kernel does not show, with the reason.
	Missing []Missing `json:"missing"`
}

// Missing is a part that could not be read.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Processor is a thread that the kernel schedules.
type Processor struct {
	ID      int   `json:"id"`
	Socket  int   `json:"socket"`
	Core    int   `json:"core"` // within its socket
	Node    int   `json:"node"` // -1: not known
	Threads []int `json:"threads"`
}

// Cache and the processors that share it.
type Cache struct {
	Level      int    `json:"level"`
	Type       string `json:"type"`
	Bytes      int64  `json:"bytes"`
	Processors []int  `json:"processors"`
}

// Node of memory.
type Node struct {
	ID          int   `json:"id"`
	Processors  []int `json:"processors"`
	MemoryBytes int64 `json:"memory_bytes"` // 0: none, or not known
	// Distances to all nodes in the kernel's order; 10 is near.
	Distances []int `json:"distances"`
}

// Clock is the kernel's source of time.
type Clock struct {
	Source string   `json:"source"`
	Others []string `json:"available"`
}

// HugePages of the machine.
type HugePages struct {
	Transparent string `json:"transparent"` // always, madvise, never; empty: not known
	Total       *int64 `json:"reserved"`
	Free        *int64 `json:"free"`
	Bytes       *int64 `json:"bytes_of_one"`
}

// ReadMap reads the files of a machine below root: "/" is this one.
func ReadMap(root string) (m Map, err error) {
	if m.Shape, err = Read(root); err != nil {
		return m, err
	}
	m.Processors, m.Caches, m.Nodes, m.Missing = []Processor{}, []Cache{}, []Node{}, []Missing{}
	r := reader{root, &m.Missing}
	r.nodes(&m)
	if err := r.processors(&m); err != nil {
		return m, err
	}
	cpuinfo := r.text("proc/cpuinfo", "model and hypervisor")
	m.Model = field(cpuinfo, "model name")
	m.Hypervisor = r.hypervisor(cpuinfo)
	m.Clock.Source = r.text("sys/devices/system/clocksource/clocksource0/current_clocksource", "clock source")
	m.Clock.Others = strings.Fields(r.quiet("sys/devices/system/clocksource/clocksource0/available_clocksource"))
	r.memory(&m)
	return m, nil
}

type reader struct {
	root    string
	missing *[]Missing
}

// quiet text of a file; empty if there is none.
func (r reader) quiet(name string) string {
	text, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// text of a file that should be there.
func (r reader) text(name, what string) string {
	text := r.quiet(name)
	if text == "" {
		*r.missing = append(*r.missing, Missing{what, "the kernel shows no /" + name})
	}
	return text
}

func (r reader) list(pattern string) (dirs []string) {
	dirs, _ = filepath.Glob(filepath.Join(r.root, pattern)) // only a bad pattern is an error
	slices.SortFunc(dirs, func(a, b string) int { return trailing(a) - trailing(b) })
	return dirs
}

// trailing number of a name: 12 of node12.
func trailing(name string) int {
	base := filepath.Base(name)
	n, _ := strconv.Atoi(strings.TrimLeft(base, "abcdefghijklmnopqrstuvwxyz"))
	return n
}

func (r reader) nodes(m *Map) {
	for _, dir := range r.list("sys/devices/system/node/node[0-9]*") {
		at, _ := filepath.Rel(r.root, dir)
		n := Node{ID: trailing(dir), Processors: ids(r.quiet(at + "/cpulist")), Distances: []int{}}
		for _, word := range strings.Fields(r.quiet(at + "/distance")) {
			if d, err := strconv.Atoi(word); err == nil {
				n.Distances = append(n.Distances, d)
			}
		}
		for line := range strings.Lines(r.quiet(at + "/meminfo")) {
			if _, rest, found := strings.Cut(line, "MemTotal:"); found {
				n.MemoryBytes = kilobytes(rest)
			}
		}
		m.Nodes = append(m.Nodes, n)
	}
	if len(m.Nodes) == 0 {
		*r.missing = append(*r.missing, Missing{"NUMA nodes", "the kernel shows no /sys/devices/system/node"})
	}
}

func (r reader) processors(m *Map) error {
	for _, dir := range r.list("sys/devices/system/cpu/cpu[0-9]*") {
		topology := filepath.Join(dir, "topology")
		if _, err := os.Stat(topology); err != nil {
			continue // switched off
		}
		at, _ := filepath.Rel(r.root, dir)
		p := Processor{ID: trailing(dir), Node: -1}
		var err error
		if p.Socket, err = number(filepath.Join(topology, "physical_package_id")); err != nil {
			return err
		}
		if p.Core, err = number(filepath.Join(topology, "core_id")); err != nil {
			return err
		}
		if p.Threads = ids(r.quiet(at + "/topology/thread_siblings_list")); len(p.Threads) == 0 {
			p.Threads = []int{p.ID}
		}
		for _, n := range m.Nodes {
			if slices.Contains(n.Processors, p.ID) {
				p.Node = n.ID
			}
		}
		m.Processors = append(m.Processors, p)
		r.caches(at, m)
	}
	if len(m.Caches) == 0 {
		*r.missing = append(*r.missing, Missing{"caches", "the kernel shows no /sys/devices/system/cpu/cpu0/cache"})
	}
	return nil
}

func (r reader) caches(at string, m *Map) {
	for _, dir := range r.list(at + "/cache/index[0-9]*") {
		index, _ := filepath.Rel(r.root, dir)
		level, err := number(filepath.Join(dir, "level"))
		if err != nil {
			continue
		}
		c := Cache{Level: level, Type: strings.ToLower(r.quiet(index + "/type")),
			Bytes: size(r.quiet(index + "/size")), Processors: ids(r.quiet(index + "/shared_cpu_list"))}
		same := func(o Cache) bool {
			return o.Level == c.Level && o.Type == c.Type && slices.Equal(o.Processors, c.Processors)
		}
		if !slices.ContainsFunc(m.Caches, same) {
			m.Caches = append(m.Caches, c)
		}
	}
}

// hypervisor by the kernel's own word, the firmware's, or the processor's flag.
func (r reader) hypervisor(cpuinfo string) string {
	if kind := r.quiet("sys/hypervisor/type"); kind != "" {
		return kind
	}
	firmware := strings.TrimSpace(r.quiet("sys/class/dmi/id/sys_vendor") + " " +
		r.quiet("sys/class/dmi/id/product_name"))
	switch virtual := slices.Contains(strings.Fields(field(cpuinfo, "flags")), "hypervisor"); {
	case virtual && firmware != "":
		return firmware
	case virtual:
		return "unnamed"
	}
	return ""
}

// memory of the machine, and its huge pages.
func (r reader) memory(m *Map) {
	h := &m.HugePages
	modes := r.quiet("sys/kernel/mm/transparent_hugepage/enabled")
	if _, rest, found := strings.Cut(modes, "["); found {
		h.Transparent, _, _ = strings.Cut(rest, "]")
	}
	text := r.text("proc/meminfo", "huge pages")
	m.MemoryBytes = kilobytes(field(text, "MemTotal"))
	count := func(name string, times int64) *int64 {
		n, err := strconv.ParseInt(strings.TrimSuffix(field(text, name), " kB"), 10, 64)
		if err != nil {
			return nil
		}
		n *= times
		return &n
	}
	h.Total, h.Free, h.Bytes = count("HugePages_Total", 1), count("HugePages_Free", 1), count("Hugepagesize", 1<<10)
}

// kilobytes such as "1024 kB", in bytes; 0: not a number.
func kilobytes(text string) int64 {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
	return kib << 10
}

// field is the value in the first line "name: value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// idsMost bounds a list: kernels support fewer processors.
const idsMost = 1 << 16

// ids of a list such as 0-3,8.
func ids(list string) (all []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for id := first; id <= last && len(all) < idsMost; id++ {
			all = append(all, id)
		}
	}
	return all
}

// size such as 32K or 8M.
func size(text string) int64 {
	for suffix, times := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if n, err := strconv.ParseInt(strings.TrimSuffix(text, suffix), 10, 64); err == nil &&
			strings.HasSuffix(text, suffix) {
			return n * times
		}
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// Relation of two processors, from near to far.
type Relation string

// Relations that the kernel shows.
const (
	SameCore   Relation = "threads of one core"
	SameCache  Relation = "cores that share their last cache"
	SameSocket Relation = "cores of one socket"
	SameNode   Relation = "sockets of one node"
	OtherNode  Relation = "different nodes"
	// Apart: different sockets, and the kernel shows no nodes.
	Apart Relation = "different sockets"
)

// Between two processors.
func (m Map) Between(a, b int) Relation {
	p, q := m.processor(a), m.processor(b)
	last := m.last()
	switch {
	case slices.Contains(p.Threads, b):
		return SameCore
	case p.Node != q.Node:
		return OtherNode
	case slices.ContainsFunc(m.Caches, func(c Cache) bool {
		return c.Level == last && last > 1 && slices.Contains(c.Processors, a) && slices.Contains(c.Processors, b)
	}):
		return SameCache
	case p.Socket == q.Socket:
		return SameSocket
	case p.Node < 0:
		return Apart
	}
	return SameNode
}

// last level of cache.
func (m Map) last() (level int) {
	for _, c := range m.Caches {
		level = max(level, c.Level)
	}
	return level
}

func (m Map) processor(id int) Processor {
	i := slices.IndexFunc(m.Processors, func(p Processor) bool { return p.ID == id })
	if i < 0 {
		return Processor{ID: id, Node: -1, Socket: -1}
	}
	return m.Processors[i]
}

// threadsMost of a core; eight are built.
const threadsMost = 8

// Odd lists what no hardware has: Impossible of the shape, and parts that do not fit each other.
func (m Map) Odd() (odd []string) {
	odd = m.Shape.Impossible()
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(odd, text) {
			odd = append(odd, text)
		}
	}
	for _, p := range m.Processors {
		if len(p.Threads) > threadsMost {
			add("a core of %d threads: at most %d are built", len(p.Threads), threadsMost)
		}
		for _, id := range p.Threads {
			if other := m.processor(id); other.Socket != p.Socket || other.Node != p.Node {
				add("threads of one core lie in different sockets or nodes")
			}
		}
		if p.Node < 0 && len(m.Nodes) > 0 {
			add("some processors belong to no node")
		}
	}
	for _, c := range m.Caches {
		for _, id := range c.Processors {
			if m.processor(id).Socket != m.processor(c.Processors[0]).Socket {
				add("a cache of level %d is shared by different sockets", c.Level)
			}
		}
	}
	return append(odd, m.oddNodes()...)
}

// memoryApart: nodes together have the machine's memory, but for what the kernel and its firmware reserve.
const memoryApart = 0.1

func (m Map) oddNodes() (odd []string) {
	sum := int64(0)
	for _, n := range m.Nodes {
		sum += n.MemoryBytes
	}
	if d := float64(sum - m.MemoryBytes); sum > 0 && m.MemoryBytes > 0 &&
		max(d, -d) > memoryApart*float64(m.MemoryBytes) {
		odd = append(odd, fmt.Sprintf("the nodes have %.1f GB of memory together and the machine has %.1f GB: memory "+
			"was added or removed while it ran, and the map of nodes does not show where", float64(sum)/(1<<30),
			float64(m.MemoryBytes)/(1<<30)))
	}
	for i, n := range m.Nodes {
		if len(n.Processors) > 0 && n.MemoryBytes == 0 && len(m.Nodes) > 1 {
			odd = append(odd, fmt.Sprintf("node %d has processors and no memory", n.ID))
		}
		for k, d := range n.Distances {
			switch {
			case k == i && d != 10:
				odd = append(odd, fmt.Sprintf("node %d is %d from itself, and near is 10", n.ID, d))
			case k != i && d <= 10:
				odd = append(odd, fmt.Sprintf("node %d is as near to node %d as to itself", n.ID, k))
			case k > i && k < len(m.Nodes) && i < len(m.Nodes[k].Distances) && m.Nodes[k].Distances[i] != d:
				odd = append(odd, fmt.Sprintf("from node %d to %d is %d, and back %d", n.ID, m.Nodes[k].ID, d,
					m.Nodes[k].Distances[i]))
			}
		}
	}
	return odd
}

// Count the processors or nodes of a list such as 0-3,8.
func Count(list string) int { return len(ids(list)) }
