package run

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"plimsoll/lab/host/cpu"
	"plimsoll/lab/run/result"
)

// whoMost neighbours are named.
const whoMost = 5

// neighbours are the processes outside the system and the lab, over a stretch of the run.
type neighbours struct {
	from, to time.Duration // the stretch, by plan
	names    func(pid int) string
	cores    int

	begun, ended time.Duration // of what was seen of it
	last         map[int]cpu.Usage
	all          time.Duration
	who          map[string]*neighbour
}

type neighbour struct {
	used time.Duration
	pids map[int]bool
}

// look takes in a moment of the run; each but the first adds what was used since the one before.
func (n *neighbours) look(at time.Duration, others map[int]cpu.Usage) {
	if at < n.from || n.last != nil && at > n.to+time.Second {
		return
	}
	last := n.last
	n.last = others
	since := at - n.ended
	if last == nil {
		n.begun, n.ended, n.who = at, at, map[string]*neighbour{}
		return
	}
	n.ended = at
	// Of all, what a process used passes to its parent when it ends: sums of both know it twice at no time.
	n.all += cpu.Spent(last, others, since*time.Duration(n.cores))
	for pid, used := range others {
		if more := used.Own - last[pid].Own; more > 0 {
			n.charge(pid, more)
		}
	}
}

func (n *neighbours) charge(pid int, used time.Duration) {
	name := cmp.Or(n.names(pid), "?")
	if n.who[name] == nil {
		n.who[name] = &neighbour{pids: map[int]bool{}}
	}
	n.who[name].used += used
	n.who[name].pids[pid] = true
}

// share of the processors, and who took it; nil where nothing was seen.
func (n *neighbours) share() (share *float64, who []result.Neighbour) {
	length := (n.ended - n.begun).Seconds() * float64(n.cores)
	if length <= 0 {
		return nil, nil
	}
	all := min(1, n.all.Seconds()/length)
	for _, name := range slices.Sorted(maps.Keys(n.who)) {
		one := n.who[name]
		who = append(who, result.Neighbour{Name: name, Processes: len(one.pids),
			Share: min(1, one.used.Seconds()/length)})
	}
	slices.SortStableFunc(who, func(a, b result.Neighbour) int { return cmp.Compare(b.Share, a.Share) })
	return &all, who[:min(whoMost, len(who))]
}
