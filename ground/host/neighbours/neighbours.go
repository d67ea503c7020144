// Package neighbours measures who else uses the processors of this machine, by the names of the processes.
package neighbours

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"plimsoll/ground/host/cpu"
)

// whoMost neighbours are named.
const whoMost = 5

// Watch sees the processes outside the system and the lab over a period.
type Watch struct {
	From, To time.Duration // the planned period
	Names    func(pid int) string
	Cores    int
	// Busy is the work of the whole machine so far, of which others did no more than all; nil: not asked for.
	Busy func() (time.Duration, bool)

	busy         time.Duration
	begun, ended time.Duration // the part of it that was seen
	last         map[int]cpu.Usage
	all          time.Duration
	who          map[string]*neighbour
}

// Neighbour is all processes of one name.
type Neighbour struct {
	Name      string  `json:"name"`
	Processes int     `json:"processes"`
	Share     float64 `json:"share"` // of all cores
}

type neighbour struct {
	used time.Duration
	pids map[int]bool
}

// Look takes a reading; each after the first adds what was used since the previous one.
func (n *Watch) Look(at time.Duration, others map[int]cpu.Usage) {
	if at < n.From || n.last != nil && at > n.To+time.Second {
		return
	}
	last, wasBusy, known := n.last, n.busy, false
	n.last = others
	if n.Busy != nil {
		n.busy, known = n.Busy()
	}
	since := at - n.ended
	if last == nil {
		n.begun, n.ended, n.who = at, at, map[string]*neighbour{}
		return
	}
	n.ended = at
	// A process's time passes to its parent when it ends: sums over all never count it twice.
	most := since * time.Duration(n.Cores)
	if known && wasBusy > 0 {
		most = min(most, n.busy-wasBusy)
	}
	n.all += cpu.Spent(last, others, most)
	for pid, used := range others {
		if more := min(used.Own-last[pid].Own, most); more > 0 {
			n.charge(pid, more)
		}
	}
}

func (n *Watch) charge(pid int, used time.Duration) {
	name := cmp.Or(n.Names(pid), "?")
	if n.who[name] == nil {
		n.who[name] = &neighbour{pids: map[int]bool{}}
	}
	n.who[name].used += used
	n.who[name].pids[pid] = true
}

// Share of the processors, and who used it; nil if nothing was seen.
func (n *Watch) Share() (share *float64, neighbours []Neighbour) {
	length := (n.ended - n.begun).Seconds() * float64(n.Cores)
	if length <= 0 {
		return nil, nil
	}
	all := min(1, n.all.Seconds()/length)
	for _, name := range slices.Sorted(maps.Keys(n.who)) {
		one := n.who[name]
		neighbours = append(neighbours, Neighbour{Name: name, Processes: len(one.pids),
			Share: min(1, one.used.Seconds()/length)})
	}
	slices.SortStableFunc(neighbours, func(a, b Neighbour) int { return cmp.Compare(b.Share, a.Share) })
	return &all, neighbours[:min(whoMost, len(neighbours))]
}
