package run

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/run/worker"
	"plimsoll/platform/problem"
)

// healthWithin is how long an application server may take to answer a health check.
const healthWithin = 10 * time.Second

// crew is the application servers of a run: its own children, or running ones given by URL.
type crew struct {
	hired   []*worker.Worker
	foreign []string
	logs    []io.Closer
	tell    func(death string) // called at once
	client  *http.Client

	mu      sync.Mutex
	leaving bool
	deaths  []death
	watched sync.WaitGroup
}

// death of a worker during the run.
type death struct {
	at   time.Time
	text string
}

// hire starts the workers, or checks that given ones answer.
func hire(ctx context.Context, o Options, id string) (*crew, error) {
	if o.Scenario.Application == scenario.NoERP {
		return &crew{client: o.Access.client()}, nil // not our workers: whatever answers is the measured system
	}
	c := &crew{foreign: o.URLs, client: o.Access.client()}
	if len(o.URLs) > 0 {
		for _, url := range o.URLs {
			if err := c.alive(ctx, url); err != nil {
				return nil, problem.New(problem.Environment, err, silentHint(err))
			}
		}
		return c, nil
	}
	group, starting := errgroup.WithContext(ctx)
	c.hired = make([]*worker.Worker, o.Workers)
	for i := range c.hired {
		log, err := workerLog(o.Store, id, i)
		if err != nil {
			return nil, err
		}
		if log != nil {
			c.logs = append(c.logs, log)
		}
		group.Go(func() (err error) {
			c.hired[i], err = worker.Start(starting, o.Serve, o.ServeEnv, log)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// silentHint says what to do about an application server that does not answer.
func silentHint(err error) string {
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return "name the certificate authorities with --url-ca"
	}
	return "start one with `plimsoll serve`, or leave out the URLs and the run starts its own"
}

// workerLog is a file in the run's folder; nil if the run is not stored.
func workerLog(runs *store.Store, id string, i int) (io.WriteCloser, error) {
	if runs == nil {
		return nil, nil
	}
	name := filepath.Join(runs.Dir(id), fmt.Sprintf("worker-%d.log", i+1))
	log, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("create worker's log: %w", err), "")
	}
	return log, nil
}

func (c *crew) alive(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/health/live", nil)
	if err != nil {
		return fmt.Errorf("application server %q: %w", url, err)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("application server does not answer: %w", err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("application server %s reports that it is not healthy: %s", url, answer.Status)
	}
	return nil
}

func (c *crew) urls() []string {
	urls := c.foreign
	for _, w := range c.hired {
		urls = append(urls, w.URL)
	}
	return urls
}

func (c *crew) pids() (pids []int) {
	for _, w := range c.hired {
		pids = append(pids, w.PID)
	}
	return pids
}

func (c *crew) conditions() (all []result.Worker) {
	for _, url := range c.urls() {
		all = append(all, result.Worker{URL: url, Started: len(c.hired) > 0})
	}
	return all
}

// watch records deaths during the run. When no worker is left, it ends the load, since there is nothing more to
// measure.
func (c *crew) watch(end context.CancelFunc) {
	for i, w := range c.hired {
		c.watched.Add(1)
		go func() {
			defer c.watched.Done()
			<-w.Gone()
			if c.died(i, w) == len(c.hired) {
				end()
			}
		}()
	}
}

func (c *crew) died(i int, w *worker.Worker) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return 0
	}
	text := fmt.Sprintf("worker %d died: %v", i+1, w.Ended())
	if words := w.LastWords(); words != "" {
		text += fmt.Sprintf("; its last output: %.200s", words)
	}
	c.deaths = append(c.deaths, death{time.Now(), text})
	c.tell(text)
	return len(c.deaths)
}

// call asks all workers at the end, at the same time, and records those that have stopped answering without a reported
// death. It returns the others.
func (c *crew) call(ctx context.Context) (answered []string) {
	var called sync.WaitGroup
	for _, url := range c.inService() {
		called.Add(1)
		go func() {
			defer called.Done()
			err := c.alive(ctx, url)
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				c.deaths = append(c.deaths, death{time.Now(), err.Error()})
				return
			}
			answered = append(answered, url)
		}()
	}
	called.Wait()
	return answered
}

// inService lists given workers, and our own that have not died.
func (c *crew) inService() []string {
	urls := slices.Clone(c.foreign)
	for _, w := range c.hired {
		select {
		case <-w.Gone():
		default:
			urls = append(urls, w.URL)
		}
	}
	return urls
}

func (c *crew) dead() []death {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deaths
}

func (c *crew) lastWords() string {
	for _, w := range c.hired {
		if words := w.LastWords(); words != "" {
			return words
		}
	}
	return ""
}

// stop ends our workers, all at the same time.
func (c *crew) stop() {
	c.mu.Lock()
	c.leaving = true
	c.mu.Unlock()
	var gone sync.WaitGroup
	for _, w := range c.hired {
		if w != nil {
			gone.Add(1)
			go func() { defer gone.Done(); w.Stop() }()
		}
	}
	gone.Wait()
	c.watched.Wait()
	for _, log := range c.logs {
		log.Close()
	}
}
