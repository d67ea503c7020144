package live

import (
	"cmp"
	"slices"

	"plimsoll/lab/load/tally"
)

// minute aggregates seconds: counts are summed, percentiles computed from merged counts, shares and rates averaged;
// peaks stay peaks.
type minute struct {
	seconds  int
	point    *Point
	times    *tally.Times
	cpu      [4]mean
	database databaseMean
	workers  [3]mean
}

// mean of the measured values; null if there are none.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x *float64) {
	if x != nil {
		m.sum, m.n = m.sum+*x, m.n+1
	}
}

func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	x := m.sum / float64(m.n)
	return &x
}

type databaseMean struct {
	looks       int
	connections int
	classes     [len(Classes)]float64
	waits       map[Wait]float64 // sessions by event
	rates       [3]mean
}

const secondsPerMinute = 60

func newMinute() *minute {
	return &minute{times: tally.NewTimes(), database: databaseMean{waits: map[Wait]float64{}}}
}

// add adds a second: its point, and the page it was made from.
func (m *minute) add(p *Point, page tally.Page) {
	m.seconds++
	if m.point == nil {
		m.point = &Point{T: p.T, Operations: make([]Zones, len(p.Operations))}
	}
	sum := m.point
	sum.Width += p.Width
	sum.Users, sum.InFlight, sum.Backlog = p.Users, max(sum.InFlight, p.InFlight), max(sum.Backlog, p.Backlog)
	sum.OK, sum.Refused, sum.Errors, sum.Overload = sum.OK+p.OK, sum.Refused+p.Refused, sum.Errors+p.Errors,
		sum.Overload+p.Overload
	sum.Lag = max(sum.Lag, p.Lag)
	for i, z := range p.Operations {
		sum.Operations[i].add(z)
	}
	for i, share := range p.CPU.columns() {
		m.cpu[i].add(*share)
	}
	m.database.add(p.Database)
	if w := p.Workers; w != nil {
		for i, x := range []float64{w.TempTables, w.Statements, w.RoundTrips} {
			m.workers[i].add(&x)
		}
	}
	// A second has few values: counting them is a hundred times cheaper than merging its histogram.
	for i := range page.Judged {
		m.times.RecordAll(page.Judged[i].Latency)
		m.times.RecordAll(page.Others[i].Latency)
	}
}

func (d *databaseMean) add(p *Database) {
	if p == nil {
		return
	}
	d.looks++
	d.connections = max(d.connections, p.Connections)
	for i, n := range p.Classes {
		d.classes[i] += n
	}
	for _, w := range p.Waits {
		d.waits[Wait{Type: w.Type, Event: w.Event}] += w.Sessions
	}
	for i, rate := range []*float64{p.WALBytes, p.TempBytes, p.Transactions} {
		d.rates[i].add(rate)
	}
}

func (d *databaseMean) value() *Database {
	if d.looks == 0 {
		return nil
	}
	v := &Database{Connections: d.connections, WALBytes: d.rates[0].value(), TempBytes: d.rates[1].value(),
		Transactions: d.rates[2].value()}
	for i, n := range d.classes {
		v.Classes[i] = n / float64(d.looks)
	}
	for w, n := range d.waits {
		w.Sessions = n / float64(d.looks)
		v.Waits = append(v.Waits, w)
	}
	v.Waits = topWaits(v.Waits)
	return v
}

// waitsKept per point.
const waitsKept = 6

func topWaits(all []Wait) []Wait {
	slices.SortFunc(all, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Type+a.Event, b.Type+b.Event))
	})
	return slices.Clip(all[:min(waitsKept, len(all))])
}

// close returns the point.
func (m *minute) close() *Point {
	p := m.point
	p.setTimes(m.times)
	for i, share := range p.CPU.columns() {
		*share = m.cpu[i].value()
	}
	p.Database = m.database.value()
	if tables := m.workers[0].value(); tables != nil {
		p.Workers = &Workers{*tables, *m.workers[1].value(), *m.workers[2].value()}
	}
	return p
}
