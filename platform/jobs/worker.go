package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

const (
	pollEvery     = 2 * time.Second
	watchEvery    = 150 * time.Millisecond
	progressEvery = 500 * time.Millisecond
	stopWithin    = 30 * time.Second
	retryAfter    = 2 * time.Second // doubled each time
)

// Connections that Work needs for so many parallel parts.
func Connections(concurrency int) int { return concurrency + 4 }

// Work runs jobs, so many parts at once, until ctx is done; parts that are running then are stopped, and continue
// elsewhere or next time.
func (j *Jobs) Work(ctx context.Context, concurrency int) error {
	if concurrency < 1 {
		<-ctx.Done()
		return nil
	}
	life, err := j.begin(ctx)
	if err != nil {
		return err
	}
	defer life.end()
	w := &worker{jobs: j}
	workers := river.NewWorkers()
	river.AddWorker(workers, &wholeWorker{worker: w})
	river.AddWorker(workers, &partWorker{worker: w})
	w.client, err = river.NewClient(riverpgxv5.New(j.db.Driver()), &river.Config{
		ID: life.name(), Schema: schemaName, Logger: quiet(j.log), Workers: workers, FetchPollInterval: pollEvery,
		Queues: map[string]river.QueueConfig{queueWhole: {MaxWorkers: wholesMax}, queuePart: {MaxWorkers: concurrency}},
		// life detects dead workers better; a part may take any time
		JobTimeout: -1, RescueStuckJobsAfter: forever, RetryPolicy: retries{},
		CompletedJobRetentionPeriod: Kept, CancelledJobRetentionPeriod: Kept, DiscardedJobRetentionPeriod: Kept,
	})
	if err != nil {
		return fmt.Errorf("work on jobs: %w", err)
	}
	if err := w.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("work on jobs: %w", err)
	}
	life.watch(ctx) // until it is done
	w.stopping.Store(true)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := w.client.StopAndCancel(stop); err != nil {
		return fmt.Errorf("stop working on jobs: %w", err)
	}
	return nil
}

type retries struct{}

func (retries) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(retryAfter << min(job.Attempt-1, 8))
}

type worker struct {
	jobs     *Jobs
	client   *river.Client[pgx.Tx]
	stopping atomic.Bool
}

// ended handles work that was interrupted: stopped here, it continues elsewhere as if it had not begun.
func (w *worker) ended(err error) error {
	if err != nil && w.stopping.Load() {
		return river.JobSnooze(0)
	}
	return err
}

// wholeWorker plans a job, waits for its parts and sums them up.
type wholeWorker struct {
	river.WorkerDefaults[whole]
	*worker
}

func (w *wholeWorker) Work(ctx context.Context, job *river.Job[whole]) error {
	return w.ended(w.work(ctx, job))
}

func (w *wholeWorker) work(ctx context.Context, job *river.Job[whole]) error {
	k := w.jobs.kinds[job.Args.Name]
	if k == nil {
		return river.JobCancel(fmt.Errorf("%w: %s; a worker of another version submitted it", ErrUnknownKind,
			job.Args.Name))
	}
	if err := w.plan(ctx, job, k); err != nil {
		return err
	}
	for {
		p, err := w.jobs.tally(ctx, job.ID)
		ended := p.failed+p.done+p.cancelled == p.all
		switch {
		case err != nil:
			return err
		case p.failed > 0 && (!k.Independent || ended):
			if err := w.jobs.cancelParts(ctx, job.ID); err != nil {
				return err
			}
			return fmt.Errorf("%d of %d parts failed: %s", p.failed, p.all,
				strings.TrimPrefix(p.trouble, "JobCancelError: "))
		case p.cancelled > 0 && (!k.Independent || ended):
			return river.JobCancel(errors.New("a part was cancelled"))
		case p.done == p.all:
			return w.sum(ctx, job.ID, k)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}

const plannedSQL = "UPDATE " + schemaName + `.river_job SET metadata = metadata || '{"planned": true}' WHERE id = $1`

// plan creates the parts, once: a mark that they exist is written with them.
func (w *wholeWorker) plan(ctx context.Context, job *river.Job[whole], k *Kind) error {
	var mark struct{ Planned bool }
	if json.Unmarshal(job.Metadata, &mark) == nil && mark.Planned {
		return nil
	}
	parts := []Part{{Arguments: job.Args.Arguments, Weight: 1}}
	if k.Plan != nil {
		var err error
		if parts, err = k.Plan(ctx, job.Args.Arguments); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	all, err := numbered(job.ID, k.Name, parts)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, w.jobs.db.Driver(), func(tx pgx.Tx) error {
		if len(all) > 0 {
			if _, err := w.client.InsertManyFastTx(ctx, tx, all); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, plannedSQL, job.ID)
		return err
	})
}

func (w *wholeWorker) sum(ctx context.Context, number int64, k *Kind) error {
	results, err := w.jobs.results(ctx, number)
	var result any
	switch {
	case err != nil:
	case k.Sum != nil:
		result, err = k.Sum(results)
	case len(results) > 0:
		result = results[0]
	}
	if err != nil {
		return fmt.Errorf("sum up: %w", err)
	}
	return river.RecordOutput(ctx, result)
}

// partWorker does a part.
type partWorker struct {
	river.WorkerDefaults[part]
	*worker
}

func (w *partWorker) Work(ctx context.Context, job *river.Job[part]) error {
	k := w.jobs.kinds[job.Args.Name]
	if k == nil {
		return fmt.Errorf("%w: %s", ErrUnknownKind, job.Args.Name)
	}
	p := &progress{jobs: w.jobs, part: job.ID}
	result, err := k.Work(ctx, Task{Arguments: job.Args.Arguments, Progress: func(done int64) { p.tell(ctx, done) }})
	var final *finalError
	switch {
	case errors.As(err, &final):
		return river.JobCancel(final.error)
	case err != nil:
		return w.ended(err)
	}
	return river.RecordOutput(ctx, result)
}

// WasCancelled says whether the part of a context was stopped because its job was cancelled.
func WasCancelled(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), rivertype.ErrJobCancelledRemotely)
}

type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// Final is an error that a retry does not fix: the job has failed.
func Final(err error) error { return &finalError{err} }

// progress of a part is written at most once per progressEvery.
type progress struct {
	jobs *Jobs
	part int64
	last time.Time
}

const progressSQL = "UPDATE " + schemaName +
	".river_job SET metadata = metadata || jsonb_build_object('done', $2::bigint) WHERE id = $1 AND state = 'running'"

func (p *progress) tell(ctx context.Context, done int64) {
	if time.Since(p.last) < progressEvery {
		return
	}
	p.last = time.Now()
	if _, err := p.jobs.db.Driver().Exec(ctx, progressSQL, p.part, done); err != nil && ctx.Err() == nil {
		p.jobs.log.Warn("tell progress", "part", p.part, "error", err)
	}
}
