package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/background"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/worker/jobs"
)

// operator owns the jobs that are started from a command line.
const operator = ""

const (
	lookEvery    = 200 * time.Millisecond
	cancelWithin = 15 * time.Second
)

// backgroundJob is a job that a command starts, works on and waits for.
type backgroundJob struct {
	target
	kind      string
	arguments any
	threads   int
	phase     string // for the progress
	unit      string
	again     string // how to continue after an interruption
}

// runJob submits a job and waits for it. The job is like any other, so other workers take part, and this process works
// on it in its own threads.
func (a *app) runJob(ctx context.Context, e backgroundJob) (job jobs.Job, err error) {
	db, err := a.open(ctx, e.target, database.Options{Connections: jobs.Connections(e.threads),
		Application: "plimsoll jobs"})
	if err != nil {
		return job, err
	}
	defer db.Close()
	if e.mayCreate(false) {
		if err := schema.Claim(ctx, db); err != nil {
			return job, err
		}
	}
	if err := erp.Migrate(ctx, db); err != nil {
		return job, err
	}
	all, err := background.New(db, a.workerLog())
	if err != nil {
		return job, err
	}
	arguments, err := json.Marshal(e.arguments)
	if err != nil {
		return job, err
	}
	number, fresh, err := all.Submit(ctx, e.kind, operator, arguments)
	if err != nil {
		return job, problem.New(problem.Usage, err, "")
	}
	if !fresh {
		a.meter.Say("resuming job %d, which did not finish", number)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- all.Work(working, e.threads) }()
	job, err = a.awaitJob(ctx, all, number, e, ended)
	stop()
	return job, errors.Join(err, <-ended)
}

// awaitJob shows the progress until the job has ended, and cancels it when ctx is done.
func (a *app) awaitJob(ctx context.Context, all *jobs.Jobs, number int64, e backgroundJob, ended chan error) (jobs.Job,
	error) {
	a.meter.Phase(e.phase, 0, e.unit)
	defer a.meter.End()
	for {
		job, err := all.Show(ctx, operator, number)
		if ctx.Err() != nil {
			return a.cancelJob(ctx, all, number, e)
		}
		if err != nil {
			return job, err
		}
		a.meter.Grow(float64(job.Total))
		a.meter.Update(float64(job.Done), fmt.Sprintf("%d of %d parts", job.Parts.Done, job.Parts.All))
		switch {
		case job.State == jobs.Done:
			return job, nil
		case job.State == jobs.Cancelled:
			return job, problem.New(problem.Interrupted, fmt.Errorf("job %d was cancelled", number), e.again)
		case job.State.Ended():
			return job, problem.New(problem.Failure, fmt.Errorf("job %d failed: %s", number, job.Error), e.again)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		case err := <-ended:
			ended <- nil
			return job, fmt.Errorf("work on job %d: %w", number, err)
		}
	}
}

func (a *app) cancelJob(ctx context.Context, all *jobs.Jobs, number int64, e backgroundJob) (job jobs.Job, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelWithin)
	defer cancel()
	if err := all.Cancel(ctx, operator, number); err != nil {
		return job, err
	}
	for ctx.Err() == nil {
		if job, err = all.Show(ctx, operator, number); err != nil || job.State.Ended() && job.Parts.Running == 0 {
			break
		}
		time.Sleep(lookEvery)
	}
	return job, problem.New(problem.Interrupted,
		fmt.Errorf("stopped after %d of %d %s; finished parts are kept", job.Done, job.Total, e.unit), e.again)
}

// organisation finds one by its code; "" is all, the zero id.
func (a *app) organisation(ctx context.Context, t target, code string) (id.ID, error) {
	if code == "" {
		return id.ID{}, nil
	}
	db, err := a.open(ctx, t, database.Options{Connections: 1})
	if err != nil {
		return id.ID{}, err
	}
	defer db.Close()
	return erp.OrganisationByCode(ctx, db, code)
}
