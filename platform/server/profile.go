package server

import (
	"maps"
	"sync"

	"plimsoll/platform/database"
)

// Operation is what requests of one kind have cost so far.
type Operation struct {
	Done       int64             `json:"done"`
	Refused    int64             `json:"refused"`
	Overloaded int64             `json:"overloaded"`
	Failed     int64             `json:"failed"`
	Database   database.Counters `json:"database"`
}

// Plus is the sum with so many times another.
func (o Operation) Plus(other Operation, times int64) Operation {
	o.Done += times * other.Done
	o.Refused += times * other.Refused
	o.Overloaded += times * other.Overloaded
	o.Failed += times * other.Failed
	o.Database.Add(other.Database.Times(times))
	return o
}

type profile struct {
	mutex      sync.Mutex
	operations map[string]Operation
}

func (p *profile) count(operation string, status int, cost database.Counters) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.operations == nil {
		p.operations = map[string]Operation{}
	}
	o := p.operations[operation]
	switch {
	case status < 300:
		o.Done++
	case status == statusRefused:
		o.Refused++
	case status == statusOverloaded:
		o.Overloaded++
	default:
		o.Failed++
	}
	o.Database.Add(cost)
	p.operations[operation] = o
}

// Told is what a worker says of itself: GET /health/profile.
type Told struct {
	Shape      string               `json:"shape"`
	Operations map[string]Operation `json:"operations"`
}

// Profile is what each kind of request has cost since the worker started.
func (s *Server) Profile() map[string]Operation {
	s.profile.mutex.Lock()
	defer s.profile.mutex.Unlock()
	return maps.Clone(s.profile.operations)
}
