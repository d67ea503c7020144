// Package layout owns what `plimsoll topology` reports: the machine as the kernel shows it, as PostgreSQL uses it, and
// as probes measure it, with a verdict on each.
//
//	files of /proc and /sys ─┐
//	settings of the server ──┼──▶ Report ──▶ items: trustworthy, odd, harmful, not measured
//	probes, within a time ───┘       └────▶ compared with another machine's
package layout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/host/probe"
	"plimsoll/ground/host/topology"
	"plimsoll/ground/problem"
)

// Schema of the JSON. It changes when readers would break.
const Schema = "plimsoll-topology-1"

// WithinDefault bounds all probes together.
const WithinDefault = 20 * time.Second

// Options of a look.
type Options struct {
	// Root of the files of /proc and /sys. Another than "/" is another machine's copy, which no probe can measure.
	Root string
	// DSN of a server; empty: none is looked at.
	DSN string
	// Dir is a folder on the device of the server's data; empty: flushes are not measured.
	Dir      string
	Within   time.Duration
	Software string
	// Progress is called before each probe. May be nil.
	Progress func(share float64, left time.Duration, note string)
}

// Report is the answer.
type Report struct {
	Schema      string          `json:"schema"`
	Software    string          `json:"software"`
	Taken       time.Time       `json:"taken"`
	TookS       float64         `json:"took_s"`
	Root        string          `json:"root"`
	Machine     machine.Machine `json:"machine"`
	Topology    topology.Map    `json:"topology"`
	Probes      Probes          `json:"probes"`
	Server      *Server         `json:"server"` // null: none was looked at
	Items       []Item          `json:"items"`
	Unavailable []Missing       `json:"unavailable"`
}

// Missing is what could not be measured.
type Missing = topology.Missing

// Probes that were made; null: not made, and Unavailable says why.
type Probes struct {
	Clock  *probe.Timing `json:"clock"`
	Memory []Memory      `json:"memory"`
	Lines  []Line        `json:"cache_lines"`
	Flush  *probe.Times  `json:"flush"`
	Dir    string        `json:"flush_folder"`
	Trip   *probe.Times  `json:"round_trip"`
}

// Memory is what a processor's access to a node's memory takes.
type Memory struct {
	Processor int         `json:"processor"`
	Node      int         `json:"memory_of_node"` // -1: there are none
	Near      bool        `json:"near"`
	Access    probe.Times `json:"access"`
}

// Line is a cache line that goes between two processors and back.
type Line struct {
	A        int               `json:"a"`
	B        int               `json:"b"`
	Relation topology.Relation `json:"relation"`
	Trip     probe.Times       `json:"round_trip"`
}

// Verdict on an item.
type Verdict string

// Harmful costs speed, here and now. Odd contradicts itself or what hardware there is: decisions built on it are wrong.
const (
	Trustworthy Verdict = "trustworthy"
	Odd         Verdict = "odd"
	Harmful     Verdict = "harmful"
	Unknown     Verdict = "not measured"
)

// Item is one part of the layout.
type Item struct {
	Name    string   `json:"name"`
	Verdict Verdict  `json:"verdict"`
	Shows   string   `json:"shows"`
	Reasons []string `json:"reasons"`
}

// Take a look. What was measured until the end of the context is returned with the error.
func Take(ctx context.Context, o Options) (r *Report, err error) {
	if o.Root == "" {
		o.Root = "/"
	}
	if o.Within <= 0 {
		o.Within = WithinDefault
	}
	began := time.Now()
	r = &Report{Schema: Schema, Software: o.Software, Taken: began, Root: o.Root, Items: []Item{},
		Unavailable: []Missing{}, Probes: Probes{Memory: []Memory{}, Lines: []Line{}}}
	if r.Topology, err = topology.ReadMap(o.Root); err != nil {
		return nil, problem.New(problem.Environment, err, "Linux keeps it in /sys/devices/system/cpu; a container "+
			"may hide it")
	}
	r.Unavailable = append(r.Unavailable, r.Topology.Missing...)
	if o.Root == "/" {
		r.Machine, _ = machine.Describe("/") // parts that it cannot read are empty
		bounded, cancel := context.WithDeadline(ctx, began.Add(o.Within))
		r.probe(bounded, o, began)
		cancel()
	} else {
		r.Machine.CPU = r.Topology.Model
		r.miss("probes", "the files are another machine's: "+o.Root)
	}
	if o.DSN == "" {
		r.miss("server", "none was named")
	} else if serverErr := r.look(ctx, o, began.Add(o.Within)); serverErr != nil && ctx.Err() == nil {
		return nil, serverErr
	}
	r.judge()
	r.TookS = time.Since(began).Seconds()
	if ctx.Err() != nil {
		err = problem.New(problem.Interrupted, fmt.Errorf("stopped early; what was measured until then is reported"),
			"")
	}
	return r, err
}

func (r *Report) miss(name, why string) {
	r.Unavailable = append(r.Unavailable, Missing{Name: name, Why: why})
}

// Parts of the time that each probe may take at most.
const (
	clockPart, memoryPart, linePart, flushPart = 0.1, 0.35, 0.3, 0.15
	// linesMost pairs and chasersMost processors are measured; more of the same kind say the same.
	linesMost, chasersMost = 48, 16
	// areaBytes is beyond the caches of a core; where the last cache is larger, twice that, within areaMost.
	areaBytes, areaMost = 64 << 20, 512 << 20
	// areaPart of the memory is taken at most: no server on this machine may be killed for it.
	areaPart = 8
)

// areaFor the caches, and whether it fits into each of these amounts of memory; 0: not known.
func areaFor(m topology.Map, memory ...int64) (bytes int, fits bool) {
	bytes = areaBytes
	for _, c := range m.Caches {
		bytes = max(bytes, min(areaMost, int(2*c.Bytes)))
	}
	for _, amount := range memory {
		if amount > 0 && int64(bytes) > amount/areaPart {
			return bytes, false
		}
	}
	return bytes, true
}

func (r *Report) probe(ctx context.Context, o Options, began time.Time) {
	say := func(share float64, note string) {
		if o.Progress != nil {
			o.Progress(share, max(0, o.Within-time.Since(began)), note)
		}
	}
	until := func(part float64) time.Time { return time.Now().Add(time.Duration(part * float64(o.Within))) }
	allowed, err := probe.Allowed()
	if err != nil {
		r.miss("probes of processors", err.Error())
	}
	allowed = slices.DeleteFunc(allowed, func(id int) bool {
		return !slices.ContainsFunc(r.Topology.Processors, func(p topology.Processor) bool { return p.ID == id })
	})
	say(0, "clock")
	if c, err := probe.ReadClock(ctx, until(clockPart)); err != nil {
		r.miss("clock and sleep", err.Error())
	} else {
		r.Probes.Clock = &c
	}
	say(clockPart, "memory")
	r.memory(ctx, allowed, until(memoryPart))
	say(clockPart+memoryPart, "cache lines")
	r.lines(ctx, allowed, until(linePart))
	say(clockPart+memoryPart+linePart, "flushes")
	if o.Dir == "" {
		r.miss("flush", "no folder on the device of the data was named: --dir")
		return
	}
	r.Probes.Dir = o.Dir
	t, err := probe.Flushes(ctx, o.Dir, until(flushPart))
	if err != nil {
		r.miss("flush", err.Error())
		return
	}
	r.Probes.Flush = &t
}

// memory of each node from processors of each; without nodes from some processors.
func (r *Report) memory(ctx context.Context, allowed []int, until time.Time) {
	homes := map[int]int{} // a processor of each node
	var from []int
	for _, p := range r.Topology.Processors {
		if !slices.Contains(allowed, p.ID) {
			continue
		}
		if _, known := homes[p.Node]; !known {
			homes[p.Node] = p.ID
			from = append([]int{p.ID}, from...) // one of each node first
		} else if p.Threads[0] == p.ID {
			from = append(from, p.ID)
		}
	}
	from = from[:min(chasersMost, len(from))]
	bytes, fits := areaFor(r.Topology, r.Machine.MemoryBytes, machine.Available())
	if !fits {
		r.miss("memory", "too little of it is free for an area beyond the caches")
		return
	}
	runs := len(homes) * len(from)
	for node, home := range homes {
		if ctx.Err() != nil || time.Now().After(until) {
			r.miss(fmt.Sprintf("memory of node %d", node), "the time was over")
			continue
		}
		area, err := probe.NewArea(home, bytes)
		if err != nil {
			r.miss("memory", err.Error())
			continue
		}
		for _, id := range from {
			each := time.Until(until) / time.Duration(max(1, runs))
			runs--
			t, err := area.Chase(ctx, id, time.Now().Add(max(each, 0)))
			if err != nil {
				r.miss(fmt.Sprintf("memory of node %d from processor %d", node, id), err.Error())
				continue
			}
			near := node < 0 || r.Topology.Between(id, home) != topology.OtherNode
			r.Probes.Memory = append(r.Probes.Memory, Memory{id, node, near, t})
		}
		area.Close()
	}
}

// lines between pairs of each kind of relation, as many of one as of another.
func (r *Report) lines(ctx context.Context, allowed []int, until time.Time) {
	kinds := map[topology.Relation][][2]int{}
	for i, a := range allowed {
		for _, b := range allowed[i+1:] {
			relation := r.Topology.Between(a, b)
			kinds[relation] = append(kinds[relation], [2]int{a, b})
		}
	}
	if len(kinds) == 0 {
		r.miss("cache lines between processors", "this program may use one processor only")
		return
	}
	var pairs [][2]int
	for round := 0; len(pairs) < linesMost; round++ {
		before := len(pairs)
		for _, all := range kinds {
			// Spread over all: neighbours are alike.
			if step := max(1, len(all)*len(kinds)/linesMost); round*step < len(all) {
				pairs = append(pairs, all[round*step])
			}
		}
		if len(pairs) == before {
			break
		}
	}
	for i, p := range pairs {
		each := time.Until(until) / time.Duration(len(pairs)-i)
		t, err := probe.PingPong(ctx, p[0], p[1], time.Now().Add(max(each, 0)))
		if err != nil {
			r.miss(fmt.Sprintf("cache lines between %d and %d", p[0], p[1]), err.Error())
			continue
		}
		r.Probes.Lines = append(r.Probes.Lines, Line{p[0], p[1], r.Topology.Between(p[0], p[1]), t})
	}
}
