// Package backgroundtest owns a worker of background jobs for tests.
package backgroundtest

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"plimsoll/erp/background"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/jobs"
)

// waitMax is for a slow machine; nothing is measured.
const waitMax = 2 * time.Minute

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

// Open is for who asks for jobs and does not work on them.
func Open(t testing.TB, dsn string, concurrency int) *jobs.Jobs {
	t.Helper()
	all, err := background.New(databasetest.Connect(t, dsn, database.Options{Connections: jobs.Connections(concurrency)}), slog.New(slog.DiscardHandler))
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
	for deadline := time.Now().Add(waitMax); ; time.Sleep(20 * time.Millisecond) {
		job, err := w.Show(context.Background(), "", number)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%+v %v", job, err)
		}
		if job.State.Ended() {
			return job
		}
	}
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
