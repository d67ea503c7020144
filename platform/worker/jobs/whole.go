package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"plimsoll/platform/data/database"
)

const (
	watchEvery  = 150 * time.Millisecond
	againAfter  = time.Second
	lookWithin  = 30 * time.Second
	remindEvery = AliveEvery // of parts that were told to stop and run on
)

// wholeWorker coordinates a job: it plans it, waits for its parts and sums them up.
type wholeWorker struct {
	river.WorkerDefaults[whole]
	*worker
}

func (w *wholeWorker) Work(ctx context.Context, job *river.Job[whole]) error {
	k := w.jobs.kinds[job.Args.Name]
	if k == nil {
		return w.ended(ctx, river.JobCancel(fmt.Errorf("%w: %s; a worker of a different version submitted it",
			ErrUnknownKind, job.Args.Name)))
	}
	c := &coordinator{wholeWorker: w, job: job, kind: k}
	return w.ended(ctx, c.run(ctx))
}

// coordinator of a job, until it has ended. Others may coordinate the same job, one that took it over or one that it
// took it over from.
type coordinator struct {
	*wholeWorker
	job      *river.Job[whole]
	kind     *Kind
	reminded time.Time
}

// verdict ends a job; after any other error the coordinator tries again.
type verdict struct{ err error }

func (v *verdict) Error() string { return fmt.Sprint(v.err) }

// run goes on when the job is cancelled, until its parts have ended, but not when the worker stops.
func (c *coordinator) run(ctx context.Context) error {
	for {
		err := c.advance(ctx)
		var v *verdict
		pause := watchEvery
		switch {
		case errors.As(err, &v):
			return v.err
		case c.stopping.Load():
			return context.Canceled
		case err != nil && ctx.Err() == nil:
			c.jobs.log.Warn("coordinate a job; will retry", "job", c.job.ID, "error", err)
			pause = againAfter
		}
		time.Sleep(pause)
	}
}

// advance examines the job and does the next step.
func (c *coordinator) advance(ctx context.Context) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin)
	defer cancel()
	t, err := c.jobs.tally(within, c.job.ID, c.job.AttemptedAt, c.taker())
	if err != nil {
		return err
	}
	switch t.next(c.kind.Independent) {
	case toLeave:
		return &verdict{nil}
	case toPlan:
		return c.plan(ctx)
	case toStop:
		if time.Since(c.reminded) < remindEvery {
			return nil
		}
		c.reminded = time.Now()
		_, err := c.jobs.cancelParts(within, c.job.ID)
		return err
	case toCancel:
		return &verdict{river.JobCancel(errors.New("cancelled"))}
	case toFail:
		if t.failed == 0 {
			return &verdict{river.JobCancel(errors.New("a part was cancelled"))}
		}
		return &verdict{fmt.Errorf("%d of %d parts failed: %s", t.failed, t.all,
			strings.TrimPrefix(t.trouble, "JobCancelError: "))}
	case toSum:
		return c.sum(within, ctx)
	}
	return nil
}

// step is what a coordinator does next.
type step int

const (
	toWait   step = iota
	toLeave       // another coordinator has ended it
	toPlan        // it has no parts yet
	toStop        // its parts are to end
	toCancel      // they have
	toFail        // they have, and one failed or was dropped
	toSum         // all are done
)

// next step of a job.
func (t tallied) next(independent bool) step {
	unfinished := t.all - t.done - t.failed - t.cancelled
	broken := t.failed+t.cancelled > 0
	switch {
	case t.ended:
		return toLeave
	case (t.stopped || broken && !independent) && unfinished > 0:
		return toStop
	case t.stopped:
		return toCancel
	case !t.planned && t.own:
		return toPlan
	case !t.planned || unfinished > 0:
		return toWait
	case broken:
		return toFail
	}
	return toSum
}

// taker is the worker that took the job for this coordinator.
func (c *coordinator) taker() string { return c.job.AttemptedBy[len(c.job.AttemptedBy)-1] }

// plannedSQL marks a job as planned: once, and by the worker that took it last. Who waits here for another's COMMIT
// marks nothing.
const plannedSQL = "UPDATE " + schemaName + `.river_job SET metadata = metadata || '{"planned": true}'
WHERE id = $1 AND NOT metadata ? 'planned' AND NOT metadata ? 'cancel_attempted_at' AND state = 'running'
	AND attempted_at = $2 AND attempted_by[array_upper(attempted_by, 1)] = $3`

// plan makes the parts, in one transaction with the mark that they are made.
func (c *coordinator) plan(ctx context.Context) error {
	parts := []Part{{Arguments: c.job.Args.Arguments, Weight: 1}}
	if c.kind.Plan != nil {
		var err error
		if parts, err = c.kind.Plan(ctx, c.job.Args.Arguments); err != nil {
			return planned(ctx, err)
		}
	}
	all, err := numbered(c.job.ID, c.kind.Name, parts)
	if err != nil {
		return &verdict{err}
	}
	return pgx.BeginFunc(ctx, c.jobs.db.Driver(), func(tx pgx.Tx) error {
		marked, err := tx.Exec(ctx, plannedSQL, c.job.ID, c.job.AttemptedAt, c.taker())
		if err != nil || marked.RowsAffected() == 0 || len(all) == 0 {
			return err
		}
		_, err = c.client.InsertManyFastTx(ctx, tx, all)
		return err
	})
}

// planned is the error of a plan: a refusal, unless the connection was lost or the work is being stopped.
func planned(ctx context.Context, err error) error {
	if ctx.Err() != nil || database.IsUnavailable(err) || database.IsRetryable(err) {
		return fmt.Errorf("plan: %w", err)
	}
	return &verdict{fmt.Errorf("plan: %w", err)}
}

// sum up the results; within bounds reading them, and the output is recorded for the work of ctx.
func (c *coordinator) sum(within, ctx context.Context) error {
	results, err := c.jobs.results(within, c.job.ID)
	if err != nil {
		return err
	}
	var result any
	switch {
	case c.kind.Sum != nil:
		result, err = c.kind.Sum(results)
	case len(results) > 0:
		result = results[0]
	}
	if err != nil {
		return &verdict{fmt.Errorf("sum up: %w", err)}
	}
	return &verdict{river.RecordOutput(ctx, result)}
}
