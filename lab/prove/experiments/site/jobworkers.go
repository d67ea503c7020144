package site

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/worker"
)

// JobWorkers are application-server processes that run background jobs, each a number of them at once.
type JobWorkers struct {
	Jobs    []int // by worker
	workers []*worker.Worker
}

// Distribute shares out a number of parallel jobs to workers.
func Distribute(jobs, workers int) []int {
	each := make([]int, workers)
	for i := range each {
		each[i] = jobs / workers
		if i < jobs%workers {
			each[i]++
		}
	}
	return each
}

// StartWorkers starts the processes and waits until they listen.
func (b Bench) StartWorkers(ctx context.Context, dsn string, jobs []int) (*JobWorkers, error) {
	w := &JobWorkers{jobs, make([]*worker.Worker, len(jobs))}
	group, starting := errgroup.WithContext(ctx)
	for i, n := range jobs {
		group.Go(func() (err error) {
			w.workers[i], err = b.Worker(starting, dsn, "--jobs", strconv.Itoa(n))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		w.Stop()
		return nil, err
	}
	return w, nil
}

// Worker starts one application-server process on a database; later flags override earlier ones.
func (b Bench) Worker(ctx context.Context, dsn string, flags ...string) (*worker.Worker, error) {
	return worker.Start(ctx, slices.Concat(b.Serve, flags), []string{"PLIMSOLL_DSN=" + dsn}, nil)
}

// CheckAlive says whether all are still running.
func (w *JobWorkers) CheckAlive() error {
	for i, one := range w.workers {
		if err := CheckAlive(one); err != nil {
			return fmt.Errorf("worker %d of %d: %w", i+1, len(w.workers), err)
		}
	}
	return nil
}

func CheckAlive(w *worker.Worker) error {
	select {
	case <-w.Gone():
		return problem.New(problem.Environment, fmt.Errorf("it died: %w", w.Ended()), w.LastOutput())
	default:
		return nil
	}
}

// Stop stops all in parallel.
func (w *JobWorkers) Stop() {
	var gone sync.WaitGroup
	for _, one := range w.workers {
		if one != nil {
			gone.Add(1)
			go func() { defer gone.Done(); one.Stop() }()
		}
	}
	gone.Wait()
}
