package run

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"plimsoll/lab/run/result"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/presence"
	"plimsoll/platform/worker/server"
)

// otherLoadsWithin bounds each look at other sessions, so that a server that hangs does not delay the run.
const otherLoadsWithin = 5 * time.Second

// otherLoads is who else used the database during the run.
type otherLoads struct {
	looks  int
	failed error // of the last look that failed
	loads  map[string]bool
	atWork map[string]int // sessions, over all looks

	stop context.CancelFunc
	done sync.WaitGroup
}

// loadMark on the database of a load.
type loadMark interface {
	// Look for others. After an error the next look marks the database again.
	Look(ctx context.Context) (presence.OtherUsers, error)
	Close(ctx context.Context)
}

// watchOtherLoads marks the database as under load and looks at its sessions once a second.
func watchOtherLoads(ctx context.Context, on loadMark) *otherLoads {
	ctx, stop := context.WithCancel(ctx)
	c := &otherLoads{stop: stop, loads: map[string]bool{}, atWork: map[string]int{}}
	c.look(ctx, on) // the mark is there before the load
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		defer func() {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), otherLoadsWithin)
			defer cancel()
			on.Close(closing)
		}()
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-second.C:
				c.look(ctx, on)
			}
		}
	}()
	return c
}

func (c *otherLoads) look(ctx context.Context, on loadMark) {
	looking, looked := context.WithTimeout(ctx, otherLoadsWithin)
	defer looked()
	seen, err := on.Look(looking)
	if err != nil {
		if ctx.Err() == nil {
			c.failed = err
		}
		return
	}
	c.looks++
	for _, load := range seen.Loads {
		c.loads[load] = true
	}
	for name, n := range seen.AtWork {
		c.atWork[name] += n
	}
}

// end removes the mark.
func (c *otherLoads) end() {
	c.stop()
	c.done.Wait()
}

// unknown says why other loads could not be seen; empty: they could, or no database is known.
func (c *otherLoads) unknown() string {
	if c.looks > 0 || c.failed == nil || errors.Is(c.failed, errNoWorker) {
		return ""
	}
	return c.failed.Error()
}

// sessions of others that were active, on average; less than a tenth of a session does not count.
func (c *otherLoads) sessions() (all []result.NeighbourSessions) {
	const least = 0.1
	for name, n := range c.atWork {
		if mean := float64(n) / float64(max(1, c.looks)); mean >= least {
			all = append(all, result.NeighbourSessions{Application: name, AtWork: mean})
		}
	}
	return all
}

// loadMark of this run: by its connection string, or else through the workers that answer it.
func (s *setup) loadMark() loadMark {
	name := "plimsoll run " + s.id
	if s.DSN != "" {
		return &ownMark{dsn: s.DSN, name: name}
	}
	return &workersMark{asker: s.Access.asker(), workers: s.workersSeen, name: name, key: id.New().String()}
}

// ownMark is made by a connection of the run.
type ownMark struct {
	dsn, name string
	held      *presence.Mark
}

func (m *ownMark) Look(ctx context.Context) (others presence.OtherUsers, err error) {
	if m.held == nil {
		if m.held, err = presence.Dial(ctx, m.dsn, m.name); err != nil {
			return others, err
		}
	}
	if others, err = m.held.Look(ctx); err != nil {
		m.Close(context.WithoutCancel(ctx))
	}
	return others, err
}

func (m *ownMark) Close(ctx context.Context) {
	if m.held != nil {
		m.held.Close(ctx)
		m.held = nil
	}
}

// workersSeen are the servers whose answers say that they are workers of the ERP: no other server is queried.
type workersSeen struct {
	known sync.Map
	mutex sync.Mutex
	urls  []string // in the order in which they answered first
}

func (w *workersSeen) note(r *http.Request, answer *http.Response) {
	if w == nil || answer.Header.Get(server.WorkerHeader) == "" {
		return
	}
	if _, known := w.known.LoadOrStore(r.URL.Host, true); !known {
		w.add(r.URL.Scheme + "://" + r.URL.Host)
	}
}

func (w *workersSeen) add(urls ...string) {
	if w == nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, url := range urls {
		if !slices.Contains(w.urls, url) {
			w.urls = append(w.urls, url)
		}
	}
}

func (w *workersSeen) all() []string {
	if w == nil {
		return nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.urls)
}

// workersMark is made by one of the workers, and by another one when that does not answer.
type workersMark struct {
	asker     server.Asker
	workers   *workersSeen
	name, key string
	at        string // where it is
	moved     bool
}

var errNoWorker = errors.New("no worker has answered")

func (m *workersMark) Look(ctx context.Context) (others presence.OtherUsers, err error) {
	err = errNoWorker
	for _, url := range append([]string{m.at}, m.workers.all()...) {
		if url == "" {
			continue
		}
		if others, err = m.tell(ctx, url, false); err == nil || ctx.Err() != nil {
			m.moved = m.moved || m.at != "" && m.at != url
			m.at = url
			if m.moved { // the mark of the worker before may still be there
				others.Loads = slices.DeleteFunc(others.Loads, func(name string) bool { return name == m.name })
			}
			return others, err
		}
	}
	return others, err
}

func (m *workersMark) tell(ctx context.Context, url string, ends bool) (presence.OtherUsers, error) {
	return m.asker.MarkLoad(ctx, url, server.LoadReport{Load: m.name, Key: m.key, Ends: ends})
}

func (m *workersMark) Close(ctx context.Context) {
	if m.at != "" {
		_, _ = m.tell(ctx, m.at, true)
	}
}
