package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"plimsoll/platform/data/database"
)

const (
	pollEvery     = 2 * time.Second
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
func (w *worker) ended(ctx context.Context, err error) error {
	if err != nil && w.stopping.Load() && !WasCancelled(ctx) {
		return river.JobSnooze(0)
	}
	return err
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
	case database.IsConnectionLost(err) && !WasCancelled(ctx): // no failed attempt
		return river.JobSnooze(retryAfter)
	case err != nil:
		return w.ended(ctx, err)
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
		p.jobs.log.Warn("report progress", "part", p.part, "error", err)
	}
}
