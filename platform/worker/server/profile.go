package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"plimsoll/ground/host/process"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/presence"
)

// Operation is what requests of one kind have cost so far.
type Operation struct {
	Done       int64             `json:"done"`
	Refused    int64             `json:"refused"`
	Overloaded int64             `json:"overloaded"`
	Failed     int64             `json:"failed"`
	Unnamed    int64             `json:"unnamed"` // of these, whose client did not name its operation
	Database   database.Counters `json:"database"`
	WALBytes   Traced            `json:"wal_bytes"` // the log that the sessions in the database wrote
}

// Traced sums a figure over those requests that were traced (Config.TraceSample) and whose figure is known.
type Traced struct {
	Requests int64 `json:"requests"`
	Sum      int64 `json:"sum"`
}

func (t *Traced) add(other Traced, times int64) {
	t.Requests += times * other.Requests
	t.Sum += times * other.Sum
}

// Count of all requests.
func (o Operation) Count() int64 { return o.Done + o.Refused + o.Overloaded + o.Failed }

// Plus is the sum with so many times another.
func (o Operation) Plus(other Operation, times int64) Operation {
	o.Done += times * other.Done
	o.Refused += times * other.Refused
	o.Overloaded += times * other.Overloaded
	o.Failed += times * other.Failed
	o.Unnamed += times * other.Unnamed
	o.Database.Add(other.Database.Times(times))
	o.WALBytes.add(other.WALBytes, times)
	return o
}

type profile struct {
	mutex      sync.Mutex
	operations map[string]Operation
}

// count a request; traced is nil unless it was traced.
func (p *profile) count(operation string, status int, named bool, cost database.Counters, traced *database.Trace) {
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
	if !named {
		o.Unnamed++
	}
	o.Database.Add(cost)
	if traced != nil && traced.WALBytes != nil {
		o.WALBytes.add(Traced{1, *traced.WALBytes}, 1)
	}
	p.operations[operation] = o
}

// WorkerProfile is the answer of GET /health/profile.
type WorkerProfile struct {
	Shape string `json:"shape"`
	// Started distinguishes this worker from an earlier one at the same address; Operations count from here.
	Started time.Time `json:"started"`
	// Database is the postgres.DatabaseID of its database; empty if unknown.
	Database   string               `json:"database"`
	Operations map[string]Operation `json:"operations"`
}

// askWithin is how long a worker may take to answer.
const askWithin = 10 * time.Second

// ErrFiguresRefused means that the worker requires a token for its figures.
var ErrFiguresRefused = errors.New("the worker requires a token for its figures")

// Asker reads the profile of workers. The zero value reads from workers that require no token.
type Asker struct {
	Client *http.Client // defaults to http.DefaultClient
	Token  string       // sent only over TLS or to this machine
}

// Ask reads the profile of a worker that requires no token.
func Ask(ctx context.Context, base string) (WorkerProfile, error) { return Asker{}.Ask(ctx, base) }

// Ask reads the profile of a worker.
func (a Asker) Ask(ctx context.Context, base string) (t WorkerProfile, err error) {
	err = a.read(ctx, base+"/health/profile", &t)
	return t, err
}

// RunningOperations reads which operations have a connection to the database now.
func (a Asker) RunningOperations(ctx context.Context, base string) (w RunningOperations, err error) {
	err = a.read(ctx, base+"/health/running", &w)
	return w, err
}

// MarkLoad marks the database of a worker as under load, and tells who else uses it.
func (a Asker) MarkLoad(ctx context.Context, base string, report LoadReport) (others presence.OtherUsers, err error) {
	body, err := json.Marshal(report)
	if err != nil {
		return others, fmt.Errorf("ask worker: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/health/load", bytes.NewReader(body))
	if err != nil {
		return others, fmt.Errorf("ask worker: %w", err)
	}
	request.Header.Set("Content-Type", jsonType)
	err = a.fetch(request, &others)
	return others, err
}

func (a Asker) read(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask worker: %w", err)
	}
	return a.fetch(request, into)
}

func (a Asker) fetch(request *http.Request, into any) error {
	if a.Token != "" && private(request.URL) {
		request.Header.Set("Authorization", "Bearer "+a.Token)
	}
	answer, err := cmp.Or(a.Client, http.DefaultClient).Do(request)
	if err != nil {
		return fmt.Errorf("ask worker: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		return ErrFiguresRefused
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask worker: it answered %s", answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("ask worker: %w", err)
	}
	return nil
}

// private reports whether the connection is encrypted or stays on this machine.
func private(to *url.URL) bool {
	return to.Scheme == "https" || process.Loopback(to.Hostname())
}

// Profile is what each kind of request has cost since the worker started.
func (s *Server) Profile() map[string]Operation {
	s.profile.mutex.Lock()
	defer s.profile.mutex.Unlock()
	return maps.Clone(s.profile.operations)
}
