package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

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
	Shape string `json:"shape"`
	// Started tells one life of a worker from another at the same address; the counts are those of this life.
	Started time.Time `json:"started"`
	// Database is database.Identity of the one it works on; empty where it is not known.
	Database   string               `json:"database"`
	Operations map[string]Operation `json:"operations"`
}

// askWithin is how long a worker may take to tell.
const askWithin = 10 * time.Second

// Ask a worker what it says of itself.
func Ask(ctx context.Context, base string) (t Told, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health/profile", nil)
	if err != nil {
		return t, fmt.Errorf("ask worker: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return t, fmt.Errorf("ask worker: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return t, fmt.Errorf("ask worker: it answered %s", answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&t); err != nil {
		return t, fmt.Errorf("ask worker: %w", err)
	}
	return t, nil
}

// Profile is what each kind of request has cost since the worker started.
func (s *Server) Profile() map[string]Operation {
	s.profile.mutex.Lock()
	defer s.profile.mutex.Unlock()
	return maps.Clone(s.profile.operations)
}
