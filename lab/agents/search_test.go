package agents

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/line"
	"plimsoll/lab/run"
	"plimsoll/lab/runs"
	"plimsoll/lab/scenario"
	"plimsoll/platform/problem"
)

// searchOptions are of a search of two trials: the first number of users, and its confirmation.
func searchOptions(t *testing.T) line.Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sleep.toml")
	const text = "application = \"none\"\n[operations.sleep]\ntarget = \"30s\"\nsql = \"SELECT pg_sleep(0.01)\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	const crowd = 40
	return line.Options{
		Run: run.Options{
			Scenario: s, DSN: clustertest.Database(t).Secret(), Duration: 4 * time.Second, Ramp: run.None, Drain: 10 * time.Second, LagLimit: time.Minute,
			Seed: 1, Store: runs.Open(t.TempDir()), Software: version, Think: s.Roles[0].Think,
		},
		Target: 0.85, Bounds: line.Bounds{First: crowd, Most: crowd, Resolution: 0.25, Confirmations: 1}, Reset: line.ResetNone, Store: line.OpenStore(t.TempDir()),
	}
}

func TestAgentsThatStayServeAWholeSearch(t *testing.T) {
	o := searchOptions(t)
	o.Run.Think.Mean = 100 * time.Millisecond
	address := freeAddress(t)
	staying, leave := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	for range 2 {
		ended.Add(1)
		go func() {
			defer ended.Done()
			if err := Join(staying, JoinOptions{URL: "nats://" + address, Access: Access{Token: "secret"}, Software: version, Stay: true, Say: func(string, ...any) {}}); err != nil {
				t.Error(err)
			}
		}()
	}
	defer func() { leave(); ended.Wait() }()
	o.Muster = func(ctx context.Context) (run.Generator, func(), error) {
		ordered := fleetOptions(2)
		ordered.Local, ordered.Listen = nil, address
		f, err := Open(ctx, ordered)
		if err != nil {
			return nil, nil, err
		}
		return f, f.Dismiss, nil
	}
	l, err := line.Find(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, problem.HintOf(err))
	}
	if !l.Complete || len(l.Trials) < 2 || l.Trials[1].Purpose != line.Confirm {
		t.Fatalf("%+v", l)
	}
	for _, trial := range l.Trials {
		made, err := o.Run.Store.Load(trial.Run)
		if err != nil || len(made.Generator.Agents) != 2 || made.Generator.Agents[0].Users+made.Generator.Agents[1].Users != trial.Users {
			t.Errorf("%v, agents %+v", err, made.Generator.Agents)
		}
	}
}

// freeAddress where the coordinators of one trial after another listen.
func freeAddress(t *testing.T) string {
	t.Helper()
	s, err := listen("127.0.0.1:0", Access{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	return s.Addr().String()
}

func TestALostAgentEndsASearchThatCanGoOn(t *testing.T) {
	o := searchOptions(t)
	o.Run.Think.Mean = 100 * time.Millisecond
	o.Muster = func(ctx context.Context) (run.Generator, func(), error) {
		f, err := Open(ctx, fleetOptions(2))
		if err != nil {
			return nil, nil, err
		}
		time.AfterFunc(3*time.Second, func() { _ = f.children[0].Signal(syscall.SIGKILL) })
		return f, f.Dismiss, nil
	}
	l, err := line.Find(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "agent 1@") && !strings.Contains(err.Error(), "agent 2@") || !strings.Contains(problem.HintOf(err), "--resume") {
		t.Fatalf("%v; hint %q", err, problem.HintOf(err))
	}
	if l == nil || len(l.Trials) != 0 || l.Complete {
		t.Fatalf("%+v", l)
	}
	o.Muster = func(ctx context.Context) (run.Generator, func(), error) {
		f, err := Open(ctx, fleetOptions(2))
		return f, f.Dismiss, err
	}
	o.Resume = true
	again, err := line.Find(t.Context(), o)
	if err != nil || again.ID != l.ID || !again.Complete {
		t.Errorf("%v; %+v", err, again)
	}
}
