package cpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Everyone is the processor time of all processes, read in one walk through /proc.
type Everyone struct {
	children map[int][]int
	all      map[int]process
}

// ReadEveryone walks through /proc.
func ReadEveryone() (Everyone, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return Everyone{}, fmt.Errorf("list processes: %w", err)
	}
	e := Everyone{map[int][]int{}, map[int]process{}}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		p, err := readProcess(pid)
		if err != nil {
			continue // it has ended since
		}
		e.all[pid] = p
		e.children[p.parent] = append(e.children[p.parent], pid)
	}
	return e, nil
}

// Tree is the processor time of the process and all its descendants in this reading.
func (e Everyone) Tree(root int) (sum time.Duration, err error) {
	if _, found := e.all[root]; !found {
		return 0, fmt.Errorf("read process %d: it is not there", root)
	}
	e.walk(root, func(_ int, p process) { sum += p.used + p.reaped })
	return sum, nil
}

func (e Everyone) walk(root int, visit func(pid int, p process)) {
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		visit(queue[0], e.all[queue[0]])
		queue = append(queue, e.children[queue[0]]...)
	}
}

// kernelThreads are children of this process. They work on behalf of other processes, and /proc does not say which.
const kernelThreads = 2

// Usage is what a process used.
type Usage struct {
	Own    time.Duration
	Reaped time.Duration // by its children that have ended
}

// Family is who descends from some roots, or did in an earlier reading: whoever kills a server makes orphans of its
// processes, and what they used was not used by strangers.
type Family map[int]int64 // when each began, by its number

// Family of the roots, which are members, and of those who were members before.
func (e Everyone) Family(before Family, roots ...int) Family {
	members := Family{}
	join := func(pid int, p process) { members[pid] = p.began }
	for pid, began := range before {
		if p, found := e.all[pid]; found && p.began == began {
			e.walk(pid, join)
		}
	}
	for _, root := range roots {
		if _, found := e.all[root]; found {
			e.walk(root, join)
		}
	}
	return members
}

// Others are all processes that do not descend from one of the roots.
func (e Everyone) Others(roots ...int) map[int]Usage {
	ours := e.Family(nil, append(roots, kernelThreads)...)
	others := map[int]Usage{}
	for pid, p := range e.all {
		if _, member := ours[pid]; !member {
			others[pid] = Usage{p.used, p.reaped}
		}
	}
	e.subtractOurs(roots, others)
	return others
}

// Spent is what processes used between two readings: at most `most`, which is what the processors could do meanwhile. A
// reading takes time: if a process ends after its parent was read and before it was read itself, its whole life is
// missing in the first reading, and its time, inherited by the parent, looks in the second as if it had been used
// since.
func Spent(before, after map[int]Usage, most time.Duration) time.Duration {
	return min(max(0, sumOf(after)-sumOf(before)), max(0, most))
}

func sumOf(all map[int]Usage) (sum time.Duration) {
	for _, u := range all {
		sum += u.Own + u.Reaped
	}
	return sum
}

// subtractOurs corrects for children that were waited for: a process takes over their time, and processes above a root
// must not be charged with ours.
func (e Everyone) subtractOurs(roots []int, others map[int]Usage) {
	for _, root := range roots {
		for above := e.all[root].parent; above > 0; above = e.all[above].parent {
			if _, found := others[above]; found {
				others[above] = Usage{Own: e.all[above].used}
			}
		}
	}
}

// Name of a process as the kernel keeps it; empty when the process has ended.
func Name(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
