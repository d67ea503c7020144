package line

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

const copiesSQL = "SELECT count(*) FROM pg_database WHERE datname = current_database() || '_line'"

// narrow has two connections and takes 20 ms: it does 100 operations a second, no more.
const narrow = `
application = "none"
[think]
mean = "100ms"
[sql]
connections = 2
RESET
[operations.work]
target = "80ms"
sql = '''
INSERT INTO done VALUES (1);
SELECT pg_sleep(0.02);
'''
`

// read narrow with some of it replaced, as a scenario of that name.
func read(t *testing.T, name string, replace ...string) *scenario.Scenario {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".toml")
	text := strings.NewReplacer(append(replace, "RESET", "")...).Replace(narrow)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// calm is base with simulated users who are satisfied, however many there are.
func calm(t *testing.T) Options {
	t.Helper()
	o := base(t, "")
	o.simulate(o.Most)
	return o
}

func base(t *testing.T, reset string) Options {
	t.Helper()
	s := read(t, "narrow", "RESET", reset)
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE done (n int)")
	l := load.Default()
	l.Scenario = s
	l.Ramp = 0
	l.Duration = time.Second
	l.Drain = patience.Max
	return Options{
		Run: run.Options{
			Load: l, DSN: dsn, LagLimit: time.Minute, Store: store.Open(t.TempDir()), Software: "test",
		},
		Target: 0.85, Bounds: Bounds{First: 8, Most: 400, Resolution: 0.5, Confirmations: 1}, Reset: system.ResetAuto,
		Store: OpenStore(t.TempDir()),
	}
}

func TestFind(t *testing.T) {
	o := base(t, `reset = "TRUNCATE done"`)
	o.simulate(20)
	o.inTrials(func(s *simulated, _ int) {
		s.during = func(ctx context.Context, p run.Plan) {
			if p.Users > 20 {
				sleepWatched(ctx, t, o.Run.DSN)
			}
		}
	})
	var ended int
	o.Progress = func(p Progress) {
		if p.Ended != nil {
			ended++
		}
	}
	l, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Complete || l.Answer == nil || l.Answer.Below == nil || l.Limit == nil || ended != len(l.Trials) {
		t.Fatalf("want a complete search with both ends and a limit, got %+v", l)
	}
	if l.Answer.Users != 16 || *l.Answer.Below != 24 || l.Answer.Confirmed != 1 {
		t.Errorf("%s; %+v", l.Statement(), l.Answer)
	}
	if l.Plan.Reset != system.ResetSQL || len(l.Limit.Evidence) < 3 ||
		!strings.Contains(strings.Join(l.Limit.Evidence, " "), "Timeout PgSleep") {
		t.Errorf("%+v %+v", l.Plan, l.Limit)
	}
	t.Run("IsShown", func(t *testing.T) {
		var b strings.Builder
		if err := l.Text(&b); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(o.Store.ReportPath(l.ID))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{l.Statement(), l.Limit.Resource, "narrow (" + o.Run.Scenario.Digest()} {
			if !strings.Contains(b.String(), part) || !strings.Contains(string(page), part) {
				t.Errorf("text or page lacks %q:\n%s", part, b.String())
			}
		}
	})
}

// How long answers of a real server take is a matter of the machine; what trials leave behind is not.
func TestFind_OnADatabase(t *testing.T) {
	o := base(t, "")
	o.Run.Scenario = read(t, "narrow", "RESET", `reset = "TRUNCATE done"`, `"80ms"`, `"30s"`) // everybody is satisfied
	o.First, o.Most = 8, 8
	l, err := Find(t.Context(), o)
	if err != nil || !l.Complete || len(l.Trials) < 2 {
		t.Fatalf("%v, %+v", err, l)
	}
	last := l.Trials[len(l.Trials)-1]
	kept, err := o.Run.Store.Load(last.Run)
	if err != nil {
		t.Fatal(err)
	}
	// An operation that was cut off in the drain may have written or not.
	n := int64(clustertest.Exec(t, o.Run.DSN, "SELECT count(*) FROM done"))
	if last.Operations == 0 || n < last.Operations-last.Failed || n > last.Operations {
		t.Errorf("%d rows after a last trial of %d operations, %d failed", n, last.Operations, last.Failed)
	}
	if kept.Apdex == nil || *kept.Apdex != *last.Apdex || !strings.Contains(kept.Title, l.ID) {
		t.Errorf("kept run %s %q, trial %+v", kept.ID, kept.Title, last)
	}
}

func TestFind_StoppedByHandGoesOn(t *testing.T) {
	o := base(t, "")
	o.simulate(20)
	ctx, stop := context.WithCancel(t.Context())
	var another error // that continues the search while it is under way
	o.inTrials(func(s *simulated, trial int) {
		s.during = func(context.Context, run.Plan) {
			switch trial {
			case 2:
				other := o
				other.Resume = true
				_, another = Find(t.Context(), other)
			case 3:
				stop()
			}
		}
	})
	first, err := Find(ctx, o)
	if another == nil || !strings.Contains(another.Error(), "in use by load line (pid ") {
		t.Errorf("two searches in one folder: %v", another)
	}
	if err != nil || first.Stopped != ByUser || first.Complete || len(first.Trials) != 2 {
		t.Fatalf("%v, %+v", err, first)
	}
	if n := clustertest.Exec(t, o.Run.DSN, "SELECT count(*) FROM done"); n != 0 {
		t.Errorf("the database that is copied has %d rows of the trials", n)
	}
	if n := clustertest.Exec(t, o.Run.DSN, copiesSQL); n != 0 {
		t.Error("the copy is still there")
	}
	t.Run("NotWithOtherSettings", func(t *testing.T) {
		other := o
		other.Resume, other.Target = true, 0.9
		if l, err := Find(t.Context(), other); err == nil || problem.ClassOf(err) != problem.Usage {
			t.Errorf("%+v, %v", l, err)
		}
	})
	t.Run("NotOnAnotherServer", func(t *testing.T) {
		other := o
		other.Resume, other.Run.DSN = true, clustertest.Database(t).Secret()
		l, err := Find(t.Context(), other)
		if err == nil || problem.ClassOf(err) != problem.Usage || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), first.ID+" is of another server: database ") {
			t.Errorf("%+v, %v", l, err)
		}
	})
	t.Run("NotWithAnotherVersion", func(t *testing.T) {
		other := o
		other.Resume, other.Run.Software = true, "later"
		if l, err := Find(t.Context(), other); err == nil || problem.ClassOf(err) != problem.Usage ||
			!strings.Contains(err.Error(), first.ID+" was made by plimsoll test, this is later") {
			t.Errorf("%+v, %v", l, err)
		}
	})
	o.Resume = true
	second, err := Find(t.Context(), o)
	if err != nil || !second.Complete || second.ID != first.ID || len(second.Trials) < 4 {
		t.Fatalf("%v, %+v", err, second)
	}
	for i, trial := range first.Trials {
		if second.Trials[i].Run != trial.Run {
			t.Errorf("trial %d was made again: %s, %s", i+1, trial.Run, second.Trials[i].Run)
		}
	}
	seeds := map[uint64]bool{}
	for _, trial := range second.Trials {
		if seeds[trial.Seed] {
			t.Errorf("seed %d is used twice", trial.Seed)
		}
		seeds[trial.Seed] = true
	}
}

func TestFind_KeepsToItsBudget(t *testing.T) {
	o := base(t, "")
	o.Budget = time.Second
	l, err := Find(t.Context(), o)
	if err != nil || l.Stopped != ByBudget || len(l.Trials) != 0 || l.Complete {
		t.Errorf("%v, %+v", err, l)
	}
}

func TestCopyTouchesNoDatabaseOfOthers(t *testing.T) {
	o := base(t, "")
	name := ""
	config, err := pgx.ParseConfig(o.Run.DSN)
	if err == nil {
		name = config.Database + "_line"
	}
	clustertest.Exec(t, o.Run.DSN, "CREATE DATABASE "+name)
	defer clustertest.Exec(t, o.Run.DSN, "DROP DATABASE "+name)
	_, err = Find(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "not our copy") || problem.ClassOf(err) != problem.Environment {
		t.Error(err)
	}
	if n := clustertest.Exec(t, o.Run.DSN, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); n != 1 {
		t.Error("it is gone")
	}
}

func share(x float64) *float64 { return &x }

func TestLimitIsNamedFromEvidence(t *testing.T) {
	cpu := func(machine, database, workers, generator float64) result.CPU {
		return result.CPU{Machine: share(machine), Database: share(database), Workers: share(workers),
			Generator: share(generator)}
	}
	wait := func(kind, event string, sessions float64) Wait {
		return Wait{Type: kind, Event: event, Sessions: sessions}
	}
	waits := func(active float64, events ...Wait) Waits { return Waits{Samples: 10, Active: active, Events: events} }
	idle := cpu(0.3, 0.2, 0.05, 0.05)
	for _, c := range []struct {
		name  string
		trial Trial
		pool  int
		says  string
	}{
		{"DatabaseCPU", Trial{Valid: true, CPU: cpu(0.97, 0.7, 0.2, 0.05)}, 0, "mainly for the database"},
		{"WorkerCPU", Trial{Valid: true, CPU: cpu(0.97, 0.3, 0.6, 0.05)}, 0, "mainly for the application servers"},
		{"SharedCPU", Trial{Valid: true, CPU: cpu(0.97, 0.34, 0.33, 0.3)}, 0,
			"which generator, application servers and database share"},
		{"OtherPeoplesCPU", Trial{Valid: true, CPU: cpu(0.97, 0.2, 0.2, 0.05)}, 0, "52 % of which other processes use"},
		{"Overload", Trial{Valid: true, CPU: cpu(0.97, 0.7, 0.2, 0.05), Operations: 100, Overload: 20}, 0,
			"the queue of the application servers"},
		{"Locks", Trial{Valid: true, CPU: idle,
			Waits: waits(10, wait("Lock", "transactionid", 4), wait("Lock", "tuple", 2), wait("", "", 1))}, 0,
			"locks (mostly transactionid)"},
		{"WAL", Trial{Valid: true, CPU: idle,
			Waits: waits(10, wait("IO", "WalSync", 3), wait("LWLock", "WALWrite", 4), wait("Lock", "tuple", 3))}, 0,
			"the flush of the write-ahead log"},
		{"Latch", Trial{Valid: true, CPU: idle, Waits: waits(10, wait("LWLock", "LockManager", 6))}, 0,
			"inside the server (mostly LockManager)"},
		{"Reads", Trial{Valid: true, CPU: idle, Waits: waits(10, wait("IO", "DataFileRead", 6))}, 0,
			"reading and writing of data"},
		{"Pool", Trial{Valid: true, CPU: idle, InFlight: 50, Waits: waits(2, wait("Timeout", "PgSleep", 2))}, 2,
			"the 2 connections"},
		{"Sleep", Trial{Valid: true, CPU: idle, InFlight: 50, Waits: waits(2, wait("Timeout", "PgSleep", 2))}, 0,
			"deliberate delays of the server"},
		{"ClientReadIsNoLimit", Trial{Valid: true, CPU: idle, Waits: waits(10, wait("Client", "ClientRead", 9))}, 0,
			NotKnown}, {"SleepWhileOthersUseTheProcessors", Trial{Valid: true, CPU: cpu(0.99, 0.02, 0.01, 0.1),
			Waits: waits(10, wait("Timeout", "PgSleep", 9))}, 0, "deliberate delays of the server"},
		{"AFewWaitsAreNone", Trial{Valid: true, CPU: idle, Waits: waits(0.1, wait("Lock", "tuple", 0.1))}, 0, NotKnown},
		{"NothingIsKnown", Trial{Valid: true}, 0, NotKnown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := limitOf(c.trial, c.pool, nil); !strings.Contains(got.Resource, c.says) || len(got.Evidence) < 3 {
				t.Errorf("want the resource with its evidence, got %+v", got)
			}
		})
	}
}

// A server of ten slots that sleeps for 50 ms answers 200 times a second, whoever uses the processors.
// A cause that took much of the operations' time comes before shares of processors, and after refusals.
func TestLimitIsTheMostExpensiveFinding(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	r := &result.Result{Diagnosis: &result.Diagnosis{Findings: []result.TimeCause{
		{Name: "lock-contention", Title: "Sessions wait for locks", Price: share(0.6), Evidence: []string{"60 % for " +
			"t"}},
		{Name: "log-flush", Title: "Commits wait", Price: share(0.1)}, {Name: "note", Title: "No price"}}}}
	trial := Trial{Operations: 100, CPU: result.CPU{Machine: share(0.97), Database: share(0.9)},
		Findings: costlyFindings(r)}
	if got := limitOf(trial, 0, nil); len(trial.Findings) != 1 || !strings.Contains(got.Resource, "lock-contention") ||
		!strings.Contains(strings.Join(got.Evidence, "\n"), "60 % for t") {
		t.Errorf("limited by %+v", got)
	}
	if trial.Overload = 50; !strings.Contains(limitOf(trial, 0, nil).Resource, "rejected requests") {
		t.Errorf("limited by %+v", limitOf(trial, 0, nil))
	}
	r.Diagnosis = nil
	if trial.Findings = costlyFindings(r); !strings.Contains(limitOf(trial, 0, nil).Resource, "rejected requests") {
		t.Errorf("without a diagnosis: %+v", limitOf(trial, 0, nil))
	}
}

func TestLimitOfAServerThatSleepsIsItsQueue(t *testing.T) {
	mean := func(ms float64) *float64 { return &ms }
	light := Trial{Users: 10, Outcome: Passes, OpsPerS: 66, LatencyMSMean: mean(50)}
	full := Trial{Users: 60, Outcome: Fails, Valid: true, OpsPerS: 200, LatencyMSMean: mean(200)}
	const thinkS = 0.1
	for _, c := range []struct {
		name string
		cpu  result.CPU
		says string
	}{
		{"IdleMachine", result.CPU{Machine: share(0.1), Generator: share(0.05)},
			"10 operations are served at once while 30"},
		{"OthersUseTheProcessors", result.CPU{Machine: share(1), Workers: share(0.02), Generator: share(0.1)},
			"a queue with idle processors"},
		{"TheSystemUsesThem", result.CPU{Machine: share(0.97), Workers: share(0.8), Generator: share(0.1)},
			"the processors, mainly for the application servers"},
		{"NothingIsKnownOfTheSystem", result.CPU{Machine: share(0.97), Generator: share(0.6)}, NotKnown},
	} {
		t.Run(c.name, func(t *testing.T) {
			full.CPU = c.cpu
			got := limitOf(full, 0, queueOf([]Trial{light, full}, full, thinkS))
			if !strings.Contains(got.Resource, c.says) || !strings.Contains(strings.Join(got.Evidence, " "),
				"200.0 operations/s of 50 ms each are 10.0 in service at once; 30 users wait") {
				t.Errorf("want the resource and the queue by Little's law, got %+v", got)
			}
		})
	}
	t.Run("NoQueueIsNone", func(t *testing.T) {
		light.CPU = result.CPU{Machine: share(0.1)}
		if got := limitOf(light, 0, queueOf([]Trial{light}, light, thinkS)); got.Resource != NotKnown {
			t.Errorf("want no limit, got %+v", got)
		}
	})
}

func TestFind_MakesAVoidTrialAgain(t *testing.T) {
	o := calm(t)
	o.First, o.Most = 4, 4
	o.mishaps(1, 3)
	l, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []Outcome
	for _, trial := range l.Trials {
		outcomes = append(outcomes, trial.Outcome)
	}
	if !slices.Equal(outcomes, []Outcome{Void, Passes, Void, Passes}) || l.Unmeasured != nil || l.Answer == nil ||
		l.Answer.Users != 4 || l.Answer.Confirmed != 1 || l.Answer.Below != nil {
		t.Fatalf("%v, %s: %+v", outcomes, l.Statement(), l.Trials)
	}
	var text strings.Builder
	if err := l.Text(&text); err != nil || strings.Count(text.String(), "again") != 2 ||
		strings.Count(text.String(), "void") != 2 {
		t.Errorf("%v\n%s", err, text.String())
	}
	first, second := l.Trials[0], l.Trials[1]
	if first.Why != "something fell over" || second.Again != 1 || first.Seed == second.Seed || first.Run == second.Run {
		t.Errorf("%+v, then %+v", first, second)
	}
}

func TestFind_SaysWhatCouldNotBeMeasured(t *testing.T) {
	o := calm(t)
	o.First, o.Most, o.Resolution = 4, 8, 1
	o.mishaps(2, 3, 4)
	l, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Complete || l.Answer == nil || l.Answer.Users != 4 || l.Answer.Below != nil || l.Limit != nil ||
		l.Unmeasured == nil || *l.Unmeasured != (Unmeasured{8, 3, "something fell over"}) {
		t.Fatalf("%s; %+v, %d trials", l.Statement(), l.Unmeasured, len(l.Trials))
	}
	var text strings.Builder
	if err := l.Text(&text); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(o.Store.ReportPath(l.ID))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"at least 3 users", "8 could not be measured",
		"3 trials were void; something fell over"} {
		if !strings.Contains(text.String(), part) || !strings.Contains(string(page), part) {
			t.Errorf("text or page lacks %q:\n%s", part, text.String())
		}
	}
}
