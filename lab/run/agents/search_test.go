package agents_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/run"
	"plimsoll/lab/run/agents"
	"plimsoll/test/loopback"
)

// searchOptions describe a search of two trials: the first number of users, and its confirmation.
func searchOptions(t *testing.T) line.Options {
	t.Helper()
	return line.Options{
		Run: agents.SleepingRun(t), Target: 0.85,
		Bounds: line.Bounds{First: agents.SleepingUsers, Most: agents.SleepingUsers, Resolution: 0.25,
			Confirmations: 1},
		Reset: "none", Store: line.OpenStore(t.TempDir()),
	}
}

func TestAgentsThatStayServeAWholeSearch(t *testing.T) {
	o := searchOptions(t)
	address := loopback.Address(t) // of the coordinators, one trial after the other
	staying, leave := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	for range 2 {
		ended.Add(1)
		go func() {
			defer ended.Done()
			if err := agents.Join(staying, agents.JoinOptions{URL: "nats://" + address, DSN: o.Run.DSN,
				Access:   agents.Access{Token: "secret"},
				Software: agents.VersionOfTests, Stay: true, Say: func(string, ...any) {}}); err != nil {
				t.Error(err)
			}
		}()
	}
	defer func() { leave(); ended.Wait() }()
	o.NewGenerator = func(ctx context.Context, _ string) (run.Generator, func(), error) {
		ordered := agents.FleetOfTests(2)
		ordered.Local, ordered.Listen = nil, address
		f, err := agents.Open(ctx, ordered)
		if err != nil {
			return nil, nil, err
		}
		return f, f.Dismiss, nil
	}
	l, err := line.Find(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, problem.HintOf(err))
	}
	confirms := func(t line.Trial) bool { return t.Purpose == line.Confirm }
	if !l.Complete || !slices.ContainsFunc(l.Trials, confirms) {
		t.Fatalf("want a complete search with a confirmation, got %+v", l)
	}
	for _, trial := range l.Trials {
		kept, err := o.Run.Store.Load(trial.Run)
		if err != nil || len(kept.Generator.Agents) != 2 ||
			kept.Generator.Agents[0].Users+kept.Generator.Agents[1].Users != trial.Users {
			t.Errorf("%v, agents %+v", err, kept.Generator.Agents)
		}
	}
}

func TestALostAgentEndsASearchThatCanGoOn(t *testing.T) {
	o := searchOptions(t)
	var lost *agents.Fleet // one of its agents, once users are active
	o.NewGenerator = func(ctx context.Context, _ string) (run.Generator, func(), error) {
		ordered := agents.FleetOfTests(2)
		ordered.DSN = o.Run.DSN
		f, err := agents.Open(ctx, ordered)
		if err != nil {
			return nil, nil, err
		}
		lost = f
		return f, f.Dismiss, nil
	}
	o.Run.Snapshot = func(s run.Snapshot) {
		if s.Page.Ended() > 0 && lost != nil {
			_ = agents.SignalFirst(lost, syscall.SIGKILL)
			lost = nil
		}
	}
	l, err := line.Find(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "agent 1@") && !strings.Contains(err.Error(), "agent 2@") ||
		!strings.Contains(problem.HintOf(err), "--resume") {
		t.Fatalf("%v; hint %q", err, problem.HintOf(err))
	}
	if l == nil || len(l.Trials) != 0 || l.Complete {
		t.Fatalf("want no trial, got %+v", l)
	}
	o.NewGenerator = func(ctx context.Context, _ string) (run.Generator, func(), error) {
		ordered := agents.FleetOfTests(2)
		ordered.DSN = o.Run.DSN
		f, err := agents.Open(ctx, ordered)
		return f, f.Dismiss, err
	}
	o.Resume = true
	again, err := line.Find(t.Context(), o)
	if err != nil || again.ID != l.ID || !again.Complete {
		t.Errorf("%v; %+v", err, again)
	}
}
