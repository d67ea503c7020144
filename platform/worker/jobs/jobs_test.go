package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

// dsnVariable makes the test binary a worker, which the tests kill.
const dsnVariable = "PLIMSOLL_TEST_JOBS_DSN"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(dsnVariable); dsn != "" {
		victim(dsn)
		return
	}
	databasetest.Main(m)
}

// kinds: "count" writes each of its numbers down, once, and waits at the gate where there is one.
func kinds(db *database.Database, gate func(ctx context.Context, n int64) error) []jobs.Kind {
	return []jobs.Kind{
		{
			Name: "count", Title: "Counting", Unique: true,
			Arguments: func(_ string, given json.RawMessage) (any, error) {
				var n int
				return n, json.Unmarshal(given, &n)
			},
			Plan: func(_ context.Context, arguments json.RawMessage) (parts []jobs.Part, err error) {
				var n int
				err = json.Unmarshal(arguments, &n)
				for i := range n {
					parts = append(parts, jobs.Part{Arguments: i, Weight: 10})
				}
				return parts, err
			},
			Work: func(ctx context.Context, t jobs.Task) (any, error) {
				var n int64
				if err := json.Unmarshal(t.Arguments, &n); err != nil {
					return nil, err
				}
				t.Progress(5)
				if gate != nil {
					if err := gate(ctx, n); err != nil {
						return nil, err
					}
				}
				return n, db.Run(ctx, func(w *database.Work) error {
					w.Queue("write down", "INSERT INTO counted (n) VALUES ($1)", n) // a second time would be an error
					return nil
				})
			},
			Sum: func(results []json.RawMessage) (any, error) {
				sum := int64(0)
				for _, r := range results {
					var n int64
					if err := json.Unmarshal(r, &n); err != nil {
						return nil, err
					}
					sum += n
				}
				return sum, nil
			},
		},
		{
			Name: "apart", Independent: true,
			Plan: func(context.Context, json.RawMessage) (parts []jobs.Part, err error) {
				for _, n := range []int64{1, 2} {
					parts = append(parts, jobs.Part{Arguments: map[string]int64{"of": n}})
				}
				return parts, nil
			},
			Work: func(ctx context.Context, t jobs.Task) (any, error) {
				var a struct{ Of int64 }
				if err := json.Unmarshal(t.Arguments, &a); err != nil {
					return nil, err
				}
				return a.Of, gate(ctx, a.Of)
			},
		},
		{Name: "give-up", Work: func(context.Context, jobs.Task) (any, error) {
			return nil, jobs.Final(errors.New("it never will be"))
		}},
		{Name: "fail", Work: func(context.Context, jobs.Task) (any, error) {
			return nil, errors.New("it cannot be done")
		}},
	}
}

// victim works until it is killed: it never gets through the gate of its parts.
func victim(dsn string) {
	ctx := context.Background()
	db, err := database.Open(ctx, dsn, database.Options{})
	if err == nil {
		var j *jobs.Jobs
		j, err = jobs.New(db, nil, kinds(db, func(ctx context.Context, n int64) error {
			fmt.Println("began", n)
			<-ctx.Done()
			return ctx.Err()
		}))
		if err == nil {
			err = j.Work(ctx, 2)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// testBundle is a database with jobs and no worker.
type testBundle struct {
	*databasetest.Test
	jobs *jobs.Jobs
}

func setup(t *testing.T) *testBundle {
	db := schematest.Open(t)
	for range 2 { // the second time there is nothing to do
		if err := jobs.Migrate(t.Context(), db.Database); err != nil {
			t.Fatal(err)
		}
	}
	db.Exec(t, "CREATE TABLE counted (n bigint PRIMARY KEY)")
	return &testBundle{db, open(t, db.Database, nil)}
}

// Of workers that start at once on a new database, one waits for the lock while the other makes the schema. It has
// looked for the schema before, and for all that making one takes: so nothing makes it look again.
func TestMigrate_BehindAnotherThatMadeTheSchema(t *testing.T) {
	db := schematest.Open(t)
	worker := databasetest.Connect(t, db.DSN, database.Options{Connections: 2})
	schema := func(conn *pgx.Conn, name string) error {
		_, err := conn.Exec(t.Context(), "CREATE SCHEMA IF NOT EXISTS "+name)
		return err
	}
	err := worker.Borrow(t.Context(), func(one *pgx.Conn) error {
		return worker.Borrow(t.Context(), func(two *pgx.Conn) error {
			return errors.Join(schema(one, "known"), schema(two, "known"))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	const lock = int64(0x6a6f6273)
	migrated := make(chan error, 1)
	err = db.Borrow(t.Context(), func(conn *pgx.Conn) error {
		if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_lock($1)", lock); err != nil {
			return err
		}
		go func() { migrated <- jobs.Migrate(t.Context(), worker) }()
		const waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND " +
			"database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
		for waits := false; !waits; {
			if err := conn.QueryRow(t.Context(), waiting).Scan(&waits); err != nil {
				return err
			}
		}
		err := schema(conn, "river")
		_, unlocked := conn.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", lock)
		return errors.Join(err, unlocked)
	})
	if err := errors.Join(err, <-migrated); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, db *database.Database, gate func(context.Context, int64) error) *jobs.Jobs {
	t.Helper()
	j, err := jobs.New(db, slog.New(slog.DiscardHandler), kinds(db, gate))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// worker works until the test ends or it is stopped.
func (b *testBundle) worker(t *testing.T, concurrency int, gate func(context.Context, int64) error) (stop func()) {
	t.Helper()
	j := open(t, databasetest.Connect(t, b.DSN, database.Options{Connections: jobs.Connections(concurrency)}), gate)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Work(ctx, concurrency) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (b *testBundle) submit(t *testing.T, kind, arguments string) int64 {
	t.Helper()
	n, _, err := b.jobs.Submit(t.Context(), kind, "me", json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// until waits for a job to become what it should.
func (b *testBundle) until(t *testing.T, number int64, what string, is func(jobs.Job) bool) (job jobs.Job) {
	t.Helper()
	patience.Until(t, fmt.Sprintf("job %d is %s", number, what), func() bool {
		var err error
		if job, err = b.jobs.Show(t.Context(), "me", number); err != nil {
			t.Fatal(err)
		}
		return is(job)
	})
	return job
}

func ended(j jobs.Job) bool { return j.State.Ended() }

func TestPartsAreSpreadOverWorkersAndBoundedInEach(t *testing.T) {
	b := setup(t)
	n := b.submit(t, "count", "12")
	if job := b.until(t, n, "queued", func(j jobs.Job) bool { return j.State == jobs.Queued }); job.Total != 0 {
		t.Errorf("job %+v, want no total before it is planned", job)
	}
	var running, most [2]atomic.Int64
	var once [2]sync.Once
	begun := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	for i := range running {
		b.worker(t, 2, func(ctx context.Context, _ int64) error {
			defer running[i].Add(-1)
			if now := running[i].Add(1); now > most[i].Load() {
				most[i].Store(now)
			}
			// nobody goes on before both have begun
			once[i].Do(func() { close(begun[i]) })
			for _, other := range begun {
				select {
				case <-other:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	}
	job := b.until(t, n, "ended", ended)
	if job.State != jobs.Done || string(job.Result) != "66" || job.Done != 120 || job.Total != 120 ||
		job.Parts.Done != 12 || job.Error != "" {
		t.Errorf("%+v %s", job, job.Result)
	}
	if a, c := most[0].Load(), most[1].Load(); a > 2 || c > 2 || a == 0 || c == 0 {
		t.Errorf("%d and %d at once", a, c)
	}
}

func TestUniqueJobIsThereOnce(t *testing.T) {
	b := setup(t)
	first := b.submit(t, "count", "3")
	second, fresh, err := b.jobs.Submit(t.Context(), "count", "me", json.RawMessage("3"))
	if err != nil || fresh || second != first {
		t.Errorf("%d %d %v %v", first, second, fresh, err)
	}
	b.worker(t, 3, nil)
	b.until(t, first, "ended", ended)
	if third, fresh, err := b.jobs.Submit(t.Context(), "count", "me", json.RawMessage("0")); err != nil || !fresh ||
		third == first {
		t.Errorf("%d %v %v", third, fresh, err)
	}
}

func TestCancelStopsWhatRunsAndDropsWhatWaits(t *testing.T) {
	b := setup(t)
	began := make(chan int64, 9)
	var stopped, knew atomic.Int64
	b.worker(t, 2, func(ctx context.Context, n int64) error {
		if n == 0 {
			return nil
		}
		began <- n
		<-ctx.Done()
		stopped.Add(1)
		if jobs.WasCancelled(ctx) {
			knew.Add(1)
		}
		return ctx.Err()
	})
	n := b.submit(t, "count", "9")
	<-began
	<-began
	b.until(t, n, "partly done", func(j jobs.Job) bool { return j.Parts.Done == 1 && j.Done >= 10 })
	if err := b.jobs.Cancel(t.Context(), "me", n); err != nil {
		t.Fatal(err)
	}
	job := b.until(t, n, "cancelled", func(j jobs.Job) bool { return ended(j) && j.Parts.Running == 0 })
	if job.State != jobs.Cancelled || job.Parts.Done != 1 || b.Value(t, "SELECT count(*) FROM counted") != "1" {
		t.Errorf("job %+v, want it cancelled with one part done", job)
	}
	if stopped.Load() != 2 || knew.Load() != 2 {
		t.Errorf("%d parts were stopped, %d knew that they were cancelled", stopped.Load(), knew.Load())
	}
}

func TestCancelledInTheQueueIsNeverDone(t *testing.T) {
	b := setup(t)
	n := b.submit(t, "count", "9")
	if err := b.jobs.Cancel(t.Context(), "me", n); err != nil {
		t.Fatal(err)
	}
	if job := b.until(t, n, "ended", ended); job.State != jobs.Cancelled || job.Parts.All != 0 {
		t.Errorf("job %+v, want it cancelled without parts", job)
	}
	b.worker(t, 2, nil)
	b.until(t, b.submit(t, "count", "0"), "ended", ended) // the worker has looked into the queue
	if b.Value(t, "SELECT count(*) FROM counted") != "0" {
		t.Error("it was done all the same")
	}
}

// Whoever drops a part stops its live worker, and no other part; the job ends when all have.
func TestDropStopsOnePartOfThoseThatAreIndependent(t *testing.T) {
	b := setup(t)
	began, stopped, goOn := make(chan int64, 2), make(chan struct{}), make(chan struct{})
	b.worker(t, 2, func(ctx context.Context, n int64) error {
		switch n {
		case 0: // of the other job
			return nil
		case 1:
			began <- n
			<-ctx.Done()
			close(stopped)
			return ctx.Err()
		}
		began <- n
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	n := b.submit(t, "apart", "")
	<-began
	<-began
	if err := b.jobs.Drop(t.Context(), "apart", "of", "1", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	<-stopped
	b.until(t, b.submit(t, "count", "1"), "ended", ended) // meanwhile the first job has looked at its parts
	close(goOn)
	if job := b.until(t, n, "ended", ended); job.State != jobs.Failed || job.Parts.Done != 1 {
		t.Errorf("job %+v, want it failed with one part done", job)
	}
}

func TestFailureIsTriedAgainAndThenKept(t *testing.T) {
	b := setup(t)
	b.worker(t, 1, nil)
	final := b.until(t, b.submit(t, "give-up", ""), "ended", ended)
	if final.State != jobs.Failed || !strings.Contains(final.Error, "it never will be") {
		t.Errorf("job %+v, want it failed for good", final)
	}
	n := b.submit(t, "fail", "")
	job := b.until(t, n, "ended", ended)
	if job.State != jobs.Failed || !strings.Contains(job.Error, "it cannot be done") || job.Parts.Failed != 1 {
		t.Errorf("job %+v, want it failed with one failed part", job)
	}
	const attempts = "SELECT string_agg(attempt::text, ' ' ORDER BY id) FROM river.river_job WHERE kind = 'part'"
	if got := b.Value(t, attempts); got != "1 3" {
		t.Errorf("attempts: %s", got)
	}
}

func TestOwnersSeeTheirOwnAlone(t *testing.T) {
	b := setup(t)
	n := b.submit(t, "count", "1")
	if _, err := b.jobs.Show(t.Context(), "another", n); !errors.Is(err, jobs.ErrUnknown) {
		t.Error(err)
	}
	if err := b.jobs.Cancel(t.Context(), "another", n); !errors.Is(err, jobs.ErrUnknown) {
		t.Error(err)
	}
	if _, _, err := b.jobs.Submit(t.Context(), "none", "me", nil); !errors.Is(err, jobs.ErrUnknownKind) {
		t.Error(err)
	}
	mine, err := b.jobs.List(t.Context(), "me", 10)
	others, otherErr := b.jobs.List(t.Context(), "another", 10)
	if err != nil || otherErr != nil || len(mine) != 1 || len(others) != 0 {
		t.Errorf("want one job of mine and none of others, got %v, %v and %v, %v", mine, err, others, otherErr)
	}
}

// killed submits a job of six parts; the worker that begins two of them is killed.
func (b *testBundle) killed(t *testing.T) int64 {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	victim := exec.Command(self)
	victim.Env, victim.Stderr = append(os.Environ(), dsnVariable+"="+b.DSN), os.Stderr
	output, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	n := b.submit(t, "count", "6")
	var text [64]byte
	if _, err := output.Read(text[:]); err != nil || !strings.HasPrefix(string(text[:]), "began") {
		t.Fatalf("%s %v", text, err)
	}
	b.until(t, n, "begun by the victim", func(j jobs.Job) bool { return j.Parts.Running == 2 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	return n
}

func TestWhatAKilledWorkerHadBegunGoesOnElsewhere(t *testing.T) {
	b := setup(t)
	n := b.killed(t)
	b.worker(t, 2, nil)
	job := b.until(t, n, "ended", ended)
	if job.State != jobs.Done || string(job.Result) != "15" || b.Value(t, "SELECT count(*) FROM counted") != "6" {
		t.Errorf("%+v %s", job, job.Result)
	}
}

func TestWhatAStoppedWorkerHadBegunIsNoFailedAttempt(t *testing.T) {
	b := setup(t)
	began := make(chan int64, 4)
	stop := b.worker(t, 2, func(ctx context.Context, n int64) error {
		began <- n
		<-ctx.Done()
		return ctx.Err()
	})
	n := b.submit(t, "count", "2")
	<-began
	<-began
	stop()
	if job := b.until(t, n, "queued", func(j jobs.Job) bool {
		return j.Parts.Running == 0
	}); job.State.Ended() || job.Error != "" {
		t.Errorf("job %+v, want it queued without an error", job)
	}
	b.worker(t, 2, nil)
	if job := b.until(t, n, "ended", ended); job.State != jobs.Done {
		t.Errorf("job %+v, want it done", job)
	}
}
