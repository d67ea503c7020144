package diagnose

import (
	"slices"
	"time"

	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/stats"
)

// The sessions' time in consecutive stretches. Looks that follow each other see the same statements, and a load that
// changes changes many of them: so an interval is estimated from stretches of time, not from looks.
const (
	stretchFirst  = 250 * time.Millisecond // the first length; it doubles when there are too many
	stretchesMost = 64
)

// stretches do not grow with time.
type stretches struct {
	length float64 // seconds of each
	left   float64 // of the last one
	all    []stretch
}

// stretch is the seconds of a stretch, by what they were spent on.
type stretch map[spentOn]float64

// spentOn is a class of waits and a statement, under the name that the book keeps it.
type spentOn struct {
	class     waits.Class
	statement string
}

// next look covers so many seconds; what is added then belongs to it.
func (s *stretches) next(covers float64) {
	if s.left <= 0 {
		s.length = max(s.length, stretchFirst.Seconds())
		s.all, s.left = append(s.all, stretch{}), s.length
	}
	if len(s.all) > stretchesMost {
		s.halve()
	}
	s.left -= covers
}

// halve joins neighbours.
func (s *stretches) halve() {
	var joined []stretch
	for pair := range slices.Chunk(s.all, 2) {
		if len(pair) == 2 {
			for key, seconds := range pair[1] {
				pair[0].add(key, seconds)
			}
		} else {
			s.left += s.length
		}
		joined = append(joined, pair[0])
	}
	s.all, s.length = joined, 2*s.length
}

func (s *stretches) add(class waits.Class, statement string, seconds float64) {
	s.all[len(s.all)-1].add(spentOn{class, statement}, seconds)
}

func (t stretch) add(key spentOn, seconds float64) {
	if _, known := t[key]; !known && len(t) >= namesMost {
		key.statement = others
	}
	t[key] += seconds
}

// series of the share of the sessions' time that a cause takes.
func (s *stretches) series(takes func(spentOn) bool) (all []stats.Moment) {
	for _, one := range s.all {
		var sum stats.Moment
		for key, seconds := range one {
			if sum.Whole += seconds; takes(key) {
				sum.Part += seconds
			}
		}
		all = append(all, sum)
	}
	return all
}

// looksWorth is how many independent looks would give an interval as wide as the one that blocks of stretches give;
// too few stretches do not show how they depend on each other, and count as one look each.
func (s *stretches) looksWorth(looks int, takes func(spentOn) bool) float64 {
	series := s.series(takes)
	few := float64(min(looks, len(series)))
	interval, ok := stats.BlockRatio(series)
	if !ok || interval.High <= interval.Low {
		return few
	}
	var sum stats.Moment
	for _, one := range series {
		sum.Part, sum.Whole = sum.Part+one.Part, sum.Whole+one.Whole
	}
	p, half := sum.Part/sum.Whole, (interval.High-interval.Low)/2/stats.Z
	return min(float64(looks), p*(1-p)/(half*half))
}

// looksOf a finding: those that its own time is worth. Where that is not seen in the sessions' time, the class that
// varies most speaks for it.
func (m *measured) looksOf(c cause, f *Finding) float64 {
	takes, known := m.takes(c, f)
	if known {
		return m.book.stretches.looksWorth(m.book.looks, func(on spentOn) bool { return takes(on.statement, on.class) })
	}
	least, judged := float64(m.book.looks), map[waits.Class]bool{}
	for key := range m.book.events {
		if !judged[key.class] && m.book.secondsOf(key.class) >= noteFrom.Value*m.book.total() {
			least = min(least, m.book.stretches.looksWorth(m.book.looks,
				func(on spentOn) bool { return on.class == key.class }))
		}
		judged[key.class] = true
	}
	return least
}

// gain is Wilson's interval of a price that so many independent looks saw.
func gain(price, looks float64) *Range {
	low, high := stats.Wilson(min(1, price), looks)
	return &Range{min(low, price), max(high, min(1, price))}
}
