package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/scenario/scenariotest"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/lab/run/worker"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/platform/worker/presence"
	"plimsoll/test/files"
	"plimsoll/test/loopback"
	"plimsoll/test/patience"
)

const version = "test"

// base is a small filled ERP and the options of a short run on it.
func base(t *testing.T) run.Options {
	t.Helper()
	// For each organisation a run first makes a hundred documents for its operations to act on.
	dsn := filltest.Copy(t, "small", fill.Options{Items: 200, Counterparties: 100, Organisations: 1, Documents: 300})
	l := load.Default()
	l.Users, l.Think = 90, &users.Think{Mean: 2 * time.Second}
	l.Ramp, l.Duration, l.Drain = time.Second, 5*time.Second, time.Minute
	return run.Options{
		Load:     l,
		LagLimit: time.Minute, // other tests run at the same time
		DSN:      dsn, Serve: workertest.Command(), ServeEnv: []string{"PLIMSOLL_DSN=" + dsn}, Software: version,
		AuditedBefore: &result.Audit{Done: true, Clean: true}, // where it is filled it is tested
	}
}

// endless is a load that is ended before its time.
func endless(l *load.Load) { l.Duration, l.Scenario = time.Hour, scenariotest.Endless() }

func fleetOptions(agents int) Options {
	return Options{
		Agents: agents, Local: []string{"/usr/bin/env", "PLIMSOLL_TEST_ROLE=agent", "PLIMSOLL_TEST_SOFTWARE=" + version,
			os.Args[0]},
		Errors: os.Stderr, Listen: "127.0.0.1:0", Access: Access{Token: "secret"}, Software: version,
		Wait: patience.Max, Say: func(string, ...any) {},
	}
}

func fleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	f, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, problem.HintOf(err))
	}
	return f
}

func mustRun(t *testing.T, ctx context.Context, o run.Options) *result.Result {
	t.Helper()
	r, err := run.Run(ctx, o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, problem.HintOf(err))
	}
	return r
}

func TestThreeAgentsMakeOneRun(t *testing.T) {
	o := base(t)
	f := fleet(t, fleetOptions(3))
	defer f.Dismiss()
	o.Generator = f
	seconds, ended := 0, int64(0)
	o.Snapshot = func(s run.Snapshot) {
		if !s.Page.Rest {
			if s.Page.Second != seconds {
				t.Errorf("second %d after %d", s.Page.Second, seconds-1)
			}
			seconds++
		}
		ended += s.Page.Ended()
	}
	r := mustRun(t, t.Context(), o)
	if len(resulttest.Against(r)) > 0 || !r.Audit.Clean || r.Errors > 0 || r.Ops == 0 {
		t.Errorf("reasons %q, audit %+v, %+v", r.InvalidReasons, r.Audit, r.Totals)
	}
	var series int64
	for i := range r.Series.T {
		series += r.Series.OK[i] + r.Series.Refused[i] + r.Series.Errors[i] + r.Series.Overload[i]
	}
	if ended != series || ended < r.Ops {
		t.Errorf("%d operations in snapshots, %d in the series, %d judged", ended, series, r.Ops)
	}
	if len(r.Generator.Agents) != 3 || r.Generator.CPUShare == nil || len(r.Footprints) == 0 ||
		r.Footprints[0].Users != 90 || *r.Footprints[0].UnderLoad <= 0 {
		t.Fatalf("%+v, %+v", r.Generator, r.Footprints)
	}
	for _, a := range r.Generator.Agents {
		if a.Users != 30 || a.CPUShare == nil || a.LostAtS != nil || a.ClockErrorMS <= 0 ||
			a.ClockOffsetMS > a.ClockErrorMS || a.ClockOffsetMS < -a.ClockErrorMS {
			t.Errorf("want 30 users, their processor share and a clock within its error, got %+v", a)
		}
	}
	if slices.Max(r.Series.Users) != 90 {
		t.Errorf("users %v", r.Series.Users)
	}
}

// A run whose agents alone reach the workers marks the database as well, and sees who else does.
func TestAgentsTellWhichServersAreWorkers(t *testing.T) {
	o := base(t)
	other, err := presence.Dial(t.Context(), o.DSN, "plimsoll run of somebody else")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	w, err := worker.Start(t.Context(), o.Serve, o.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	o.Scenario, err = scenario.Read(files.Write(t, t.TempDir(), "own.toml", "application = \"none\"\n"+
		"[think]\nmean = \"100ms\"\n[operations.look]\ntarget = \"500ms\"\nurl = \"/v1/application\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	o.DSN, o.Serve, o.ServeEnv, o.URLs, o.DisturbedLimit = "", nil, nil, []string{w.URL}, 0.999
	f := fleet(t, fleetOptions(2))
	defer f.Dismiss()
	o.Generator = f
	r := mustRun(t, t.Context(), o)
	if r.Valid || r.Errors > 0 || r.Ops == 0 ||
		!slices.Equal(r.Disturbance.Loads, []string{"plimsoll run of somebody else"}) {
		t.Errorf("%q, %+v, %+v", r.InvalidReasons, r.Disturbance, r.Totals)
	}
}

func TestKilledAgentIsReportedAndTheRunGoesOn(t *testing.T) {
	o := base(t)
	hand := &run.LoadControl{}
	o.Control, o.Live = hand, live.New(nil)
	endless(&o.Load)
	f := fleet(t, fleetOptions(3))
	defer f.Dismiss()
	o.Generator = f
	killed, wentOn, ended := false, false, int64(0)
	o.Snapshot = func(s run.Snapshot) {
		ended += s.Page.Ended()
		switch {
		case !killed && s.Phase == run.Steady && ended >= 90:
			killed = true
			if err := syscall.Kill(f.members[1].PID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		case killed && !wentOn && s.Page.Users == 60 && s.Page.Valid() > 0:
			wentOn = true
			if err := hand.End(); err != nil {
				t.Error(err)
			}
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "agent 2") ||
		!strings.Contains(fmt.Sprint(r.InvalidReasons), "30 of 90 users (33.3 %)") ||
		len(resulttest.Events(r)) != 1 {
		t.Errorf("valid %v, reasons %q, events %+v", r.Valid, r.InvalidReasons, r.Events)
	}
	d, _ := o.Live.Since(0)
	if !slices.ContainsFunc(d.Log, func(e live.Entry) bool {
		return e.Tone == live.Alarm && strings.Contains(e.Text, "agent 2") && strings.Contains(e.Text, "30 of 90 users")
	}) {
		t.Errorf("log %+v", d.Log)
	}
	a := r.Generator.Agents
	if a[1].LostAtS == nil || a[0].LostAtS != nil || a[2].LostAtS != nil || a[1].CPUShare != nil {
		t.Errorf("want only the second agent lost, got %+v", a)
	}
	rec := r.Reconciliation
	if rec == nil || !rec.Done || slices.ContainsFunc(rec.Rows, result.Reconciled.Differs) {
		t.Fatalf("want a reconciliation without difference, got %+v", rec)
	}
	lost := rec.Rows[len(rec.Rows)-1]
	if !lost.Lost || lost.Found == 0 || !strings.Contains(lost.What, "agent 2@") ||
		!strings.Contains(strings.Join(r.Warnings, "\n"), "which was lost: ") {
		t.Errorf("%+v, warnings %q", lost, r.Warnings)
	}
	if !wentOn || !slices.Contains(r.Series.Users, 60) || !r.Audit.Clean {
		t.Errorf("went on %v, users %v, audit %+v", wentOn, r.Series.Users, r.Audit)
	}
}

// An agent that stands still alone, longer than was once allowed, continues: its seconds come late, and none is lost.
func TestAnAgentThatStandsStillGoesOn(t *testing.T) {
	const still = 4 * time.Second
	o := base(t)
	hand := &run.LoadControl{}
	o.Users, o.Control = 30, hand
	endless(&o.Load)
	f := fleet(t, fleetOptions(2))
	defer f.Dismiss()
	o.Generator = f
	frozen, ended, goesOn := false, false, make(chan error, 1)
	var over atomic.Int64 // when the standstill was over, since the start; 0: it is not
	o.Snapshot = func(s run.Snapshot) {
		switch at := time.Duration(over.Load()); {
		case !frozen && s.Phase == run.Steady:
			frozen = true
			pid := f.members[1].PID
			err := syscall.Kill(pid, syscall.SIGSTOP)
			time.AfterFunc(still, func() {
				goesOn <- errors.Join(err, syscall.Kill(pid, syscall.SIGCONT))
				over.Store(int64(f.sinceStart()))
			})
		case !ended && at > 0 && s.At > at+time.Second: // all agents have told what was meanwhile
			ended = true
			if err := hand.End(); err != nil {
				t.Error(err)
			}
		}
	}
	r := mustRun(t, t.Context(), o)
	if err := <-goesOn; err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Generator.Agents {
		if a.LostAtS != nil {
			t.Errorf("%+v was given up: %q", a, r.InvalidReasons)
		}
	}
	if r.Generator.LagMSMax < human.MS(still)/2 {
		t.Errorf("once %.0f ms late, and an agent stood still for %v", r.Generator.LagMSMax, still)
	}
	for _, row := range r.Reconciliation.Rows {
		if row.Differs() || row.Lost {
			t.Errorf("want no difference and no loss, got %+v", row)
		}
	}
}

func TestAllAgentsKilledEndsTheRun(t *testing.T) {
	o := base(t)
	endless(&o.Load)
	f := fleet(t, fleetOptions(2))
	defer f.Dismiss()
	o.Generator = f
	var killed atomic.Bool
	o.Snapshot = func(s run.Snapshot) {
		if s.At >= 3*time.Second && !killed.Swap(true) {
			for _, m := range f.members {
				_ = syscall.Kill(m.PID, syscall.SIGKILL)
			}
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || len(resulttest.Events(r)) != 2 || r.DurationS > 3000 || !r.Audit.Done {
		t.Errorf("valid %v, %v s, events %+v", r.Valid, r.DurationS, r.Events)
	}
}

func TestStoppedByHandKeepsWhatTheAgentsCounted(t *testing.T) {
	o := base(t)
	endless(&o.Load)
	f := fleet(t, fleetOptions(2))
	defer f.Dismiss()
	o.Generator = f
	ctx, cancel := context.WithCancel(t.Context())
	ended := int64(0)
	o.Snapshot = func(s run.Snapshot) {
		if s.Phase == run.Steady && s.Page.Ended() > 0 {
			if ended += s.Page.Ended(); ended > 50 {
				cancel()
			}
		}
	}
	r := mustRun(t, ctx, o)
	if !r.Interrupted || r.Ops == 0 || r.DurationS > 3000 || !r.Audit.Clean ||
		len(resulttest.Events(r)) > 0 {
		t.Errorf("interrupted %v, %d operations in %v s, events %+v", r.Interrupted, r.Ops, r.DurationS, r.Events)
	}
}

// coordinate starts a coordinator in its own process, to be killed.
func coordinate(ctx context.Context) error {
	n, err := strconv.Atoi(os.Getenv("PLIMSOLL_TEST_AGENTS"))
	if err != nil {
		return err
	}
	o := fleetOptions(n)
	o.Local = nil
	o.Listen = os.Getenv("PLIMSOLL_TEST_LISTEN")
	f, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer f.Dismiss()
	l := load.Default()
	l.Users, l.Think = 60, &users.Think{Mean: time.Second}
	endless(&l)
	_, err = run.Run(ctx, run.Options{
		Load: l, DSN: os.Getenv("PLIMSOLL_TEST_DSN"), URLs: []string{os.Getenv("PLIMSOLL_TEST_URL")},
		LagLimit: time.Minute, Generator: f,
		Snapshot: func(s run.Snapshot) { fmt.Println(s.Page.Second) },
	})
	return err
}

func TestKilledCoordinatorStopsTheAgents(t *testing.T) {
	o := base(t)
	// longer than the coordinator lives, so that nothing else stops the users
	w, err := worker.Start(t.Context(), o.Serve, o.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	address := loopback.Address(t)
	var ends []chan error
	for range 2 {
		ended := make(chan error, 1)
		go func() {
			ended <- Join(t.Context(), JoinOptions{URL: "nats://" + address, Access: Access{Token: "secret"},
				Software: version, Wait: patience.Max, Say: func(string, ...any) {}})
		}()
		ends = append(ends, ended)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_ROLE=coordinator", "PLIMSOLL_TEST_AGENTS=2",
		"PLIMSOLL_TEST_LISTEN="+address, "PLIMSOLL_TEST_DSN="+o.DSN, "PLIMSOLL_TEST_URL="+w.URL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	coordinator, err := process.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the first second is over
		t.Fatal(err)
	}
	if err := coordinator.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-coordinator.Exited()
	for _, ended := range ends {
		if err := <-ended; !errors.Is(err, errLost) || problem.ClassOf(err) != problem.Environment {
			t.Errorf("the agent ended with %v, want that it lost its coordinator", err)
		}
	}
}

func TestWhoMayNotJoin(t *testing.T) {
	o := fleetOptions(2)
	o.Local = nil
	o.Listen = "127.0.0.1:0"
	s, err := listen("127.0.0.1:0", o.Access, o.Access.Token)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	o.Bus = s.ClientURL()
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	messages := make(chan struct{}, 10)
	o.Say = func(string, ...any) { messages <- struct{}{} }
	go func() { _, err := Open(ctx, o); opened <- err }()
	<-messages // it waits
	join := func(token, software string) error {
		return Join(t.Context(), JoinOptions{URL: o.Bus, Access: Access{Token: token}, Software: software,
			Wait: patience.Max, Say: func(string, ...any) {}})
	}
	for name, c := range map[string]struct{ token, software, says, hint string }{
		"WrongToken":   {"guess", version, "rejects the token", "PLIMSOLL_TOKEN"},
		"NoToken":      {"", version, "rejects the token", "PLIMSOLL_TOKEN"},
		"OtherVersion": {"secret", "older", "it is version older, the coordinator is test", "same version"},
	} {
		t.Run(name, func(t *testing.T) {
			err := join(c.token, c.software)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(problem.HintOf(err), c.hint) ||
				problem.ClassOf(err) != problem.Usage {
				t.Errorf("%v; hint %q", err, problem.HintOf(err))
			}
		})
	}
	t.Run("SecondCoordinator", func(t *testing.T) {
		second := o
		second.Say = func(string, ...any) {}
		if _, err := Open(t.Context(), second); err == nil ||
			!strings.Contains(err.Error(), "another run coordinates") {
			t.Errorf("error %v, want that another run coordinates agents", err)
		}
	})
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	t.Run("NobodyComes", func(t *testing.T) {
		alone := o
		alone.Wait, alone.Say = 50*time.Millisecond, func(string, ...any) {}
		if _, err := Open(t.Context(), alone); err == nil || !strings.Contains(err.Error(), "0 of 2 agents") ||
			problem.ClassOf(err) != problem.Environment {
			t.Errorf("error %v, want that 0 of 2 agents have joined", err)
		}
	})
	t.Run("NoCoordinator", func(t *testing.T) {
		err := Join(t.Context(), JoinOptions{URL: o.Bus, Access: Access{Token: "secret"}, Software: version,
			Wait: 10 * time.Millisecond, Say: func(string, ...any) {}})
		if err == nil || !strings.Contains(err.Error(), "no coordinator") ||
			problem.ClassOf(err) != problem.Environment {
			t.Errorf("error %v, want that there is no coordinator", err)
		}
	})
}

// recorder is a file of an agent.
type recorder struct {
	mu    sync.Mutex
	due   []time.Duration
	ended *Ending
}

func (r *recorder) Add(_ string, s tally.Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = append(r.due, s.Due)
}

func (r *recorder) End(id string, from, to time.Duration) error {
	r.ended = &Ending{id, from, to}
	return nil
}

func TestAgentsKeepTheirOperations(t *testing.T) {
	o := SleepingRun(t)
	o.Users = SleepingUsers
	address := loopback.Address(t)
	records := []*recorder{{}, {}}
	var ended sync.WaitGroup
	for range records {
		ended.Add(1)
		go func() {
			defer ended.Done()
			if err := Join(t.Context(), JoinOptions{URL: "nats://" + address, DSN: o.DSN,
				Access: Access{Token: "secret"}, Software: version, Say: func(string, ...any) {},
				Keep: func(p run.Plan) (Keeper, error) { return records[p.Segment.Index], nil }}); err != nil {
				t.Error(err)
			}
		}()
	}
	options := fleetOptions(2)
	options.Local, options.Listen = nil, address
	f := fleet(t, options)
	o.Generator = f
	r := mustRun(t, t.Context(), o)
	want := Ending{r.ID, time.Duration(r.Series.SteadyFromS * 1e9), time.Duration(r.Series.SteadyToS * 1e9)}
	f.Conclude(want)
	f.Dismiss()
	ended.Wait()
	n := int64(0)
	for _, one := range records {
		if one.ended == nil || *one.ended != want {
			t.Fatalf("%+v, want %+v", one.ended, want)
		}
		for _, due := range one.due {
			if due >= want.From && due < want.To {
				n++
			}
		}
	}
	if n != r.Ops || len(records[0].due) == 0 || len(records[1].due) == 0 {
		t.Errorf("%d kept, %d counted", n, r.Ops)
	}
}
