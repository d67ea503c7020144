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
	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/run/worker"
)

// healthWithin is how long an application server may take to answer a health check.
const healthWithin = 10 * time.Second

// crew is the application servers of a run: its own children, or running ones given by URL.
type crew struct {
	started []*worker.Worker
	given   []string
	logs    []io.Closer
	onExit  func(text string) // called at once
	client  *http.Client

	mu      sync.Mutex
	leaving bool
	exits   []workerExit
	watched sync.WaitGroup
}

// workerExit is the unexpected end of a worker during the run.
type workerExit struct {
	at   time.Time
	text string
}

// startWorkers starts the workers, or checks that given ones answer.
func startWorkers(ctx context.Context, o Options, id string) (*crew, error) {
	if o.Scenario.Application != scenario.ERP {
		return &crew{client: o.Access.client()}, nil // not our workers: whatever answers is the measured system
	}
	c := &crew{given: o.URLs, client: o.Access.client()}
	if len(o.URLs) > 0 {
		for _, url := range o.URLs {
			if err := c.checkHealth(ctx, url); err != nil {
				return nil, problem.New(problem.Environment, err, silentHint(err))
			}
		}
		return c, nil
	}
	group, starting := errgroup.WithContext(ctx)
	c.started = make([]*worker.Worker, o.Workers)
	for i := range c.started {
		log, err := workerLog(o.Store, id, i)
		if err != nil {
			return nil, err
		}
		if log != nil {
			c.logs = append(c.logs, log)
		}
		group.Go(func() (err error) {
			c.started[i], err = worker.Start(starting, o.Serve, o.ServeEnv, log)
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

func (c *crew) checkHealth(ctx context.Context, url string) error {
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
	urls := c.given
	for _, w := range c.started {
		urls = append(urls, w.URL)
	}
	return urls
}

func (c *crew) pids() (pids []int) {
	for _, w := range c.started {
		pids = append(pids, w.PID)
	}
	return pids
}

func (c *crew) conditions() (all []result.Worker) {
	for _, url := range c.urls() {
		all = append(all, result.Worker{URL: url, Started: len(c.started) > 0})
	}
	return all
}

// watch records unexpected exits during the run. When no worker is left, it ends the load, since nothing is left to
// measure.
func (c *crew) watch(end context.CancelFunc) {
	for i, w := range c.started {
		c.watched.Add(1)
		go func() {
			defer c.watched.Done()
			<-w.Gone()
			if c.recordExit(i, w) == len(c.started) {
				end()
			}
		}()
	}
}

func (c *crew) recordExit(i int, w *worker.Worker) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return 0
	}
	text := fmt.Sprintf("worker %d died: %v", i+1, w.Ended())
	if words := w.LastOutput(); words != "" {
		text += fmt.Sprintf("; its last output: %.200s", words)
	}
	c.exits = append(c.exits, workerExit{time.Now(), text})
	c.onExit(text)
	return len(c.exits)
}

// checkAnswering checks all workers at the end, at the same time, and records those that have stopped answering without
// a recorded exit. It returns the others.
func (c *crew) checkAnswering(ctx context.Context) (answered []string) {
	var called sync.WaitGroup
	for _, url := range c.inService() {
		called.Add(1)
		go func() {
			defer called.Done()
			err := c.checkHealth(ctx, url)
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				c.exits = append(c.exits, workerExit{time.Now(), err.Error()})
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
	urls := slices.Clone(c.given)
	for _, w := range c.started {
		select {
		case <-w.Gone():
		default:
			urls = append(urls, w.URL)
		}
	}
	return urls
}

func (c *crew) workerExits() []workerExit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exits
}

func (c *crew) lastOutput() string {
	for _, w := range c.started {
		if words := w.LastOutput(); words != "" {
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
	for _, w := range c.started {
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
