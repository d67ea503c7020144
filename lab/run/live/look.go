package live

import (
	"time"

	"plimsoll/lab/stats"
)

// Delta is what is new since a number. Reset means that it is everything.
type Delta struct {
	N       int64    `json:"n"`
	Reset   bool     `json:"reset"`
	Plan    *Plan    `json:"plan,omitempty"`
	Seconds []*Point `json:"seconds"`
	Minutes []*Point `json:"minutes"`
	Log     []Entry  `json:"log"`
	State   State    `json:"state"`
	// Diagnosis so far, if it is new.
	Diagnosis *Diagnosis `json:"diagnosis,omitempty"`
}

// Since returns what came after number n, and a channel that is closed when there is more. 0 means everything, and so
// does a number that was never given or after which something has been dropped.
func (p *Picture) Since(n int64) (Delta, <-chan struct{}) {
	d, scored, changed := p.since(n)
	d.State.Interval = interval(d.State.Interval, scored)
	return d, changed
}

func (p *Picture) since(n int64) (Delta, []stats.Moment, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := Delta{N: p.number, State: p.currentState()}
	if n <= 0 || n > p.number || n < p.seconds.dropped || n < p.minutes.dropped || n < p.log.dropped {
		n, d.Reset = 0, true
	}
	if p.planned > n {
		plan := p.plan
		d.Plan = &plan
	}
	if p.diagnosed > n {
		d.Diagnosis = p.diagnosis
	}
	d.Seconds, d.Minutes, d.Log = p.seconds.since(n), p.minutes.since(n), p.log.since(n)
	return d, p.scored, p.changed
}

// currentState is the current state. Nothing in it changes afterwards.
func (p *Picture) currentState() State {
	s := p.state
	now := p.now()
	s.ElapsedS = now.Sub(p.began).Seconds()
	s.LeftS = max(0, p.endsAt.Sub(now).Seconds())
	return s
}

// Snapshot is the state of a run for a view that stores nothing.
type Snapshot struct {
	Plan  Plan
	State State
	Last  *Point   // nil: no users are active yet
	Zones []Zones  // for each operation over the last minute
	Waits []Wait   // likewise
	Log   []Entry  // the last
	Ops   float64  // answers per second over the last ten seconds
	P95   *float64 // of the last second with an answer
}

const (
	snapshotZones = time.Minute
	snapshotRate  = 10 * time.Second
	snapshotLog   = 4
)

// Snapshot returns the current state.
func (p *Picture) Snapshot() Snapshot {
	g, scored := p.snapshot()
	g.State.Interval = interval(g.State.Interval, scored)
	return g
}

func (p *Picture) snapshot() (Snapshot, []stats.Moment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := Snapshot{Plan: p.plan, State: p.currentState(), Log: p.log.tail(snapshotLog),
		Zones: make([]Zones, len(p.plan.Operations))}
	last := p.seconds.tail(int(snapshotZones / time.Second))
	if len(last) == 0 {
		return g, p.scored
	}
	var waits databaseMean
	waits.waits = map[Wait]float64{}
	ten := 0
	for i, point := range last {
		for op, z := range point.Operations {
			g.Zones[op].add(z)
		}
		if len(last)-i <= int(snapshotRate/time.Second) {
			ten++
			g.Ops += point.Answered()
			waits.add(point.Database)
		}
		if point.P95 != nil {
			g.P95 = point.P95
		}
	}
	g.Last, g.Ops = last[len(last)-1], g.Ops/float64(ten)
	if d := waits.value(); d != nil {
		g.Waits = d.Waits
	}
	return g, p.scored
}
