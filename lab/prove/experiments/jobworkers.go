package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"plimsoll/lab/run/worker"
	"plimsoll/platform/problem"
)

// jobWorkers are application-server processes that run background jobs, each a number of them at once.
type jobWorkers struct {
	jobs    []int // by worker
	workers []*worker.Worker
}

// dealt shares out a number of parallel jobs to workers.
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

// startWorkers starts the processes and waits until they listen.
func (b Bench) startWorkers(ctx context.Context, dsn string, jobs []int) (*jobWorkers, error) {
	w := &jobWorkers{jobs, make([]*worker.Worker, len(jobs))}
	group, starting := errgroup.WithContext(ctx)
	for i, n := range jobs {
		group.Go(func() (err error) {
			w.workers[i], err = b.worker(starting, dsn, "--jobs", strconv.Itoa(n))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// worker starts one application-server process on a database; later flags override earlier ones.
func (b Bench) worker(ctx context.Context, dsn string, flags ...string) (*worker.Worker, error) {
	return worker.Start(ctx, slices.Concat(b.Serve, flags), []string{"PLIMSOLL_DSN=" + dsn}, nil)
}

// checkAlive says whether all are still running.
func (w *jobWorkers) checkAlive() error {
	for i, one := range w.workers {
		if err := checkAlive(one); err != nil {
			return fmt.Errorf("worker %d of %d: %w", i+1, len(w.workers), err)
		}
	}
	return nil
}

func checkAlive(w *worker.Worker) error {
	select {
	case <-w.Gone():
		return problem.New(problem.Environment, fmt.Errorf("it died: %w", w.Ended()), w.LastWords())
	default:
		return nil
	}
}

// stop stops all in parallel.
func (w *jobWorkers) stop() {
	var gone sync.WaitGroup
	for _, one := range w.workers {
		if one != nil {
			gone.Add(1)
			go func() { defer gone.Done(); one.Stop() }()
		}
	}
	gone.Wait()
}
