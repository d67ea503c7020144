package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

// stops are where work waits for the test.
type stops struct {
	at      map[string]chan struct{} // closed when the work may go on
	reached chan string
}

func newStops(names ...string) *stops {
	s := &stops{at: map[string]chan struct{}{}, reached: make(chan string, 100)}
	for _, name := range names {
		s.at[name] = make(chan struct{})
	}
	return s
}

func (s *stops) wait(name string) {
	if at := s.at[name]; at != nil {
		s.reached <- name
		<-at
	}
}

// inSteps is a unique kind of three parts that waits at each step, whatever its context says.
func inSteps(db *database.Database, s *stops) []jobs.Kind {
	return []jobs.Kind{{
		Name: "steps", Unique: true,
		Plan: func(ctx context.Context, _ json.RawMessage) ([]jobs.Part, error) {
			s.wait("plan")
			one := false
			err := db.Driver().QueryRow(ctx, "SELECT true").Scan(&one)
			return []jobs.Part{{Arguments: 0}, {Arguments: 1}, {Arguments: 2}}, err
		},
		Work: func(ctx context.Context, t jobs.Task) (any, error) {
			s.wait("part " + string(t.Arguments))
			if s.at["failing "+string(t.Arguments)] != nil {
				return nil, jobs.Final(errors.New("it never will be"))
			}
			_, err := db.Driver().Exec(ctx, "INSERT INTO counted (n) VALUES ($1)", string(t.Arguments))
			return string(t.Arguments), err
		},
		Sum: func(results []json.RawMessage) (any, error) {
			s.wait("sum")
			return len(results), nil
		},
	}}
}

// steps is a worker of this kind; application names its connections.
func (b *testBundle) steps(t *testing.T, application string, s *stops) {
	t.Helper()
	db := databasetest.Connect(t, b.DSN, database.Options{Application: application,
		Connections: jobs.Connections(3)})
	j, err := jobs.New(db, slog.New(slog.DiscardHandler), inSteps(db, s))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Work(ctx, 3) }()
	t.Cleanup(sync.OnceFunc(func() {
		cancel()
		for _, at := range s.at {
			select {
			case <-at:
			default:
				close(at)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}))
	b.jobs = j
}

// cut the connections of a worker.
func (b *testBundle) cut(t *testing.T, application, which string) {
	t.Helper()
	b.Value(t, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity a WHERE application_name = $1 AND "+
		"datname = current_database() AND "+which, application)
}

const signOfLife = "EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND locktype = 'advisory')"

// goesOn fails the test unless the job has not ended, so that no other one begins meanwhile.
func (b *testBundle) goesOn(t *testing.T, number int64, when string) {
	t.Helper()
	var job jobs.Job
	var again int64
	var fresh bool
	patience.Until(t, "it is asked over connections that were not cut", func() bool {
		var err, showErr error
		again, fresh, err = b.jobs.Submit(t.Context(), "steps", "me", nil)
		job, showErr = b.jobs.Show(t.Context(), "me", number)
		if err = errors.Join(err, showErr); err != nil {
			t.Log(err)
		}
		return err == nil
	})
	if fresh || again != number || job.State.Ended() {
		t.Errorf("%s: the job is %s (%s), and another one is submitted: %v", when, job.State, job.Error, fresh)
	}
}

// ended as it should, with each part done once.
func (b *testBundle) endedDone(t *testing.T, number int64) {
	t.Helper()
	job := b.until(t, number, "ended", ended)
	parts := b.Value(t, "SELECT count(*) FROM river.river_job WHERE kind = 'part'")
	if job.State != jobs.Done || string(job.Result) != "3" || parts != "3" ||
		b.Value(t, "SELECT count(*) FROM counted") != "3" {
		t.Errorf("%s parts; %+v %s", parts, job, job.Result)
	}
}

// Whenever a worker loses its connections, its job goes on and ends as it would have.
func TestALostConnectionEndsNoJob(t *testing.T) {
	for _, step := range []string{"plan", "part 1", "sum"} {
		t.Run(step, func(t *testing.T) {
			b := setup(t)
			s := newStops(step)
			b.steps(t, "worker", s)
			n := b.submit(t, "steps", "null")
			<-s.reached
			for range 3 {
				before := b.Value(t, "SELECT clock_timestamp()")
				b.cut(t, "worker", "true")
				patience.Until(t, "the worker is back", func() bool {
					return b.Count(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker' AND "+
						"datname = current_database() AND backend_start > $1::timestamptz", before) > 0
				})
				b.goesOn(t, n, "after the connections were cut at "+step)
			}
			close(s.at[step])
			b.endedDone(t, n)
		})
	}
}

// Another worker takes a job over while its first one plans for longer than its sign of life lasts; both plans end.
func TestAJobIsPlannedOnce(t *testing.T) {
	b := setup(t)
	slow, quick := newStops("plan"), newStops("plan", "part 0", "part 1", "part 2")
	b.steps(t, "slow", slow)
	n := b.submit(t, "steps", "null")
	<-slow.reached
	b.steps(t, "quick", quick)
	taken := atomic.Bool{}
	go func() { <-quick.reached; taken.Store(true) }()
	patience.Until(t, "the other worker plans", func() bool {
		b.cut(t, "slow", signOfLife)
		return taken.Load()
	})
	close(slow.at["plan"])
	close(quick.at["plan"])
	b.until(t, n, "planned", func(j jobs.Job) bool { return j.Parts.All > 0 })
	for part := range 3 {
		close(quick.at[fmt.Sprintf("part %d", part)])
	}
	b.endedDone(t, n)
}

// A job has not ended while one of its parts runs, though another has failed, or it was cancelled.
func TestAJobEndsWithItsLastPart(t *testing.T) {
	for name, state := range map[string]jobs.State{"failing 0": jobs.Failed, "cancelled": jobs.Cancelled} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			s := newStops("part 1", name)
			b.steps(t, "worker", s)
			n := b.submit(t, "steps", "null")
			<-s.reached
			if state == jobs.Cancelled {
				if err := b.jobs.Cancel(t.Context(), "me", n); err != nil {
					t.Fatal(err)
				}
			}
			told := "SELECT count(*) FROM river.river_job WHERE state = 'running' AND kind = 'part' AND metadata ? " +
				"'cancel_attempted_at'"
			patience.Until(t, "the part is told to stop", func() bool { return b.Value(t, told) == "1" })
			b.goesOn(t, n, "while a part runs")
			close(s.at["part 1"])
			if job := b.until(t, n, "ended", ended); job.State != state || job.Parts.Running != 0 {
				t.Errorf("job %+v, want it ended in its state without a running part", job)
			}
		})
	}
}

// What a killed worker had begun of a job that is cancelled since is done by nobody.
func TestCancelledPartsOfADeadWorkerStayUndone(t *testing.T) {
	b := setup(t)
	n := b.killed(t)
	patience.Until(t, "its sessions have ended", func() bool {
		return b.Count(t, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid <> 0 AND database = "+
			"(SELECT oid FROM pg_database WHERE datname = current_database())") == 0
	})
	if err := b.jobs.Cancel(t.Context(), "me", n); err != nil {
		t.Fatal(err)
	}
	b.worker(t, 2, nil)
	if job := b.until(t, n, "ended", ended); job.State != jobs.Cancelled {
		t.Errorf("job %+v, want it cancelled", job)
	}
	b.until(t, b.submit(t, "count", "0"), "ended", ended) // the worker has looked into the queue
	if done := b.Value(t, "SELECT count(*) FROM counted"); done != "0" {
		t.Errorf("%s parts were done all the same", done)
	}
}
