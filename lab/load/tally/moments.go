package tally

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/stats"
)

// momentsMost are kept; when there are more, neighbours are joined. Twice what the bootstrap uses, so that it never
// has fewer than it may use.
const momentsMost = 2 * stats.MomentsMax

// moments are what the intervals are made of: the steady state second by second, or in stretches of Width. What was due
// in it counts where it ended, as on the pages.
type moments struct {
	first int // second of the first
	width int // seconds of each
	all   []moment
}

type moment struct {
	answered int64 // valid answers that arrived in it
	cells    []momentCell
}

// momentCell is one key operation in one moment.
type momentCell struct {
	apdex.Counts
	latency []bin // of answered operations, ascending
}

// bin is how many latencies fell into a narrow range.
type bin struct {
	at uint16
	n  uint32
}

// add takes in a page; what comes before the steady state is of no matter.
func (m *moments) add(p Page, from time.Duration) {
	if m.width == 0 {
		m.first, m.width = int(from/IntervalDefault), 1
	}
	at := (p.Second - m.first) / m.width
	if p.Second < m.first {
		return
	}
	for len(m.all) <= at {
		m.all = append(m.all, moment{cells: make([]momentCell, len(p.Judged))})
	}
	now := &m.all[at]
	now.answered += p.Answered
	for i, c := range p.Judged {
		now.cells[i].Add(c.Apdex)
		now.cells[i].latency = merged(now.cells[i].latency, binned(c.Latency))
	}
	if len(m.all) > momentsMost {
		m.widen()
	}
}

// widen joins neighbours two by two.
func (m *moments) widen() {
	var half []moment
	for pair := range slices.Chunk(m.all, 2) {
		if len(pair) == 2 {
			pair[0].add(pair[1])
		}
		half = append(half, pair[0])
	}
	m.all, m.width = half, 2*m.width
}

func (m *moment) add(next moment) {
	m.answered += next.answered
	for i, c := range next.cells {
		m.cells[i].Add(c.Counts)
		m.cells[i].latency = merged(m.cells[i].latency, c.latency)
	}
}

// within is how many whole moments lie in the steady state that ends there.
func (m *moments) within(to time.Duration) int {
	if m.width == 0 {
		return 0
	}
	return min(len(m.all), max(0, int(to/IntervalDefault)-m.first)/m.width)
}

// series of a ratio over the steady state. What ended behind it belongs to its last moment.
func (m *moments) series(to time.Duration, ratio func(moment) stats.Moment) []stats.Moment {
	n := m.within(to)
	if n == 0 {
		return nil
	}
	all := make([]stats.Moment, n)
	for i, now := range m.all {
		sum, more := &all[min(i, n-1)], ratio(now)
		sum.Part, sum.Whole = sum.Part+more.Part, sum.Whole+more.Whole
	}
	return all
}

// binned counts latencies in ranges that are 1/64 wide.
func binned(values Values) (all []bin) {
	for _, v := range values {
		all = append(all, bin{binOf(v), 1})
	}
	slices.SortFunc(all, func(a, b bin) int { return cmp.Compare(a.at, b.at) })
	return joined(all)
}

// binOf a value: as many bits as one of 64 needs, behind the number of those that are left out.
func binOf(value int64) uint16 {
	const kept = 7
	v := uint64(max(0, value))
	shift := max(0, bits.Len64(v)-kept)
	return uint16(shift<<kept | int(v>>shift))
}

func merged(a, b []bin) []bin {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b bin) int { return cmp.Compare(a.at, b.at) })
	return joined(all)
}

// joined adds up neighbours that are the same bin.
func joined(sorted []bin) []bin {
	kept := sorted[:0]
	for _, b := range sorted {
		if n := len(kept); n > 0 && kept[n-1].at == b.at {
			kept[n-1].n += b.n
			continue
		}
		kept = append(kept, b)
	}
	return slices.Clip(kept)
}

// upTo counts what lies in the value's bin or below, and all.
func (c momentCell) upTo(value int64) (m stats.Moment) {
	last := binOf(value)
	for _, b := range c.latency {
		if b.at <= last {
			m.Part += float64(b.n)
		}
		m.Whole += float64(b.n)
	}
	return m
}
