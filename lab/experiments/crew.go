package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"plimsoll/lab/worker"
	"plimsoll/platform/problem"
)

// crew is application-server processes that carry out background jobs, so many at once each.
type crew struct {
	jobs    []int // by worker
	workers []*worker.Worker
}

// dealt is how many jobs each of some workers takes, so that all take so many at once.
func dealt(jobs, workers int) []int {
	each := make([]int, workers)
	for i := range each {
		each[i] = jobs / workers
		if i < jobs%workers {
			each[i]++
		}
	}
	return each
}

// hire starts the processes and waits until they listen.
func (b Bench) hire(ctx context.Context, dsn string, jobs []int) (*crew, error) {
	c := &crew{jobs, make([]*worker.Worker, len(jobs))}
	group, starting := errgroup.WithContext(ctx)
	for i, n := range jobs {
		group.Go(func() (err error) {
			c.workers[i], err = b.worker(starting, dsn, "--jobs", strconv.Itoa(n))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		c.leave()
		return nil, err
	}
	return c, nil
}

// worker starts one application-server process on a database; later flags count.
func (b Bench) worker(ctx context.Context, dsn string, flags ...string) (*worker.Worker, error) {
	return worker.Start(ctx, slices.Concat(b.Serve, flags), []string{"PLIMSOLL_DSN=" + dsn}, nil)
}

// well says that nobody has died.
func (c *crew) well() error {
	for i, w := range c.workers {
		if err := well(w); err != nil {
			return fmt.Errorf("worker %d of %d: %w", i+1, len(c.workers), err)
		}
	}
	return nil
}

func well(w *worker.Worker) error {
	select {
	case <-w.Gone():
		return problem.New(problem.Environment, fmt.Errorf("it died: %w", w.Ended()), w.LastWords())
	default:
		return nil
	}
}

// leave stops all at once.
func (c *crew) leave() {
	var gone sync.WaitGroup
	for _, w := range c.workers {
		if w != nil {
			gone.Add(1)
			go func() { defer gone.Done(); w.Stop() }()
		}
	}
	gone.Wait()
}
