// Package backgroundtest owns a worker of background jobs for tests.
package backgroundtest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"plimsoll/erp/background"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

// Worker works on the jobs of a database until the test ends.
type Worker struct{ *jobs.Jobs }

// Start one with so many parts at a time.
func Start(t testing.TB, dsn string, concurrency int) *Worker {
	t.Helper()
	w := &Worker{Open(t, dsn, concurrency)}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Work(ctx, concurrency) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

// Open is for callers that submit jobs and do not work on them.
func Open(t testing.TB, dsn string, concurrency int) *jobs.Jobs {
	t.Helper()
	all, err := background.New(databasetest.Connect(t, dsn,
		database.Options{Connections: jobs.Connections(concurrency)}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Submit asks for a job as an operator.
func (w *Worker) Submit(t testing.TB, kind, arguments string) int64 {
	t.Helper()
	number, _, err := w.Jobs.Submit(context.Background(), kind, "", json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// Wait until a job has ended.
func (w *Worker) Wait(t testing.TB, number int64) jobs.Job {
	t.Helper()
	return End(t, w.Jobs, number)
}

// Idle waits until no worker carries out a part of a job any more: a cancelled job ends before its parts have stopped.
func (w *Worker) Idle(t testing.TB, number int64) {
	t.Helper()
	patience.Until(t, fmt.Sprintf("job %d is at rest", number), func() bool {
		job, err := w.Show(context.Background(), "", number)
		if err != nil {
			t.Fatal(err)
		}
		return job.Parts.Running == 0
	})
}

// End of a job: waits for it, and gives the job as it then is.
func End(t testing.TB, all *jobs.Jobs, number int64) (job jobs.Job) {
	t.Helper()
	patience.Until(t, fmt.Sprintf("job %d has ended", number), func() bool {
		var err error
		if job, err = all.Show(context.Background(), "", number); err != nil {
			t.Fatal(err)
		}
		return job.State.Ended()
	})
	return job
}

// Do is Submit and Wait; the job must succeed.
func (w *Worker) Do(t testing.TB, kind, arguments string) jobs.Job {
	t.Helper()
	job := w.Wait(t, w.Submit(t, kind, arguments))
	if job.State != jobs.Done {
		t.Errorf("%s %s: %+v", kind, arguments, job)
	}
	return job
}
