package system_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// on is a system on a cluster, with the ERP or with SQL of its own.
func on(t *testing.T, name string, application scenario.Application) *system.System {
	t.Helper()
	l := load.Default()
	l.Scenario.Application = application
	y, err := system.System{Run: run.Options{Load: l}, Shape: system.Shape{Name: "lean"}}.On(name)
	if err != nil {
		t.Fatal(err)
	}
	return &y
}

func letter(i int) string { return string(rune('A' + i)) }

func TestUp(t *testing.T) {
	ctx, clusters := context.Background(), store(t)
	if _, err := clusters.Create(ctx, "test", spec()); err != nil {
		t.Fatal(err)
	}
	state := func() cluster.State {
		c, err := clusters.Find("test")
		if err != nil {
			t.Fatal(err)
		}
		return c.Status(ctx).State
	}

	t.Run("EachClusterOnceAndCompletesTheRuns", func(t *testing.T) {
		var said progressLog
		l := local(clusters, &said)
		l.Serve = []string{"plimsoll", "serve"}
		lean, classic := on(t, "test", scenario.ERP), on(t, "test+classic", scenario.ERP)
		down, err := l.Up(ctx, letter, lean, classic)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(fmt.Sprint(said.all), "starting cluster"); n != 1 {
			t.Errorf("started %d times: %q", n, said.all)
		}
		for _, y := range []*system.System{lean, classic} {
			if y.Run.DSN == "" || y.Run.Profile == "" || !strings.Contains(y.Run.Scale, "20 items") ||
				y.Restarts() == nil {
				t.Errorf("%s: %+v", y.Name, y.Run)
			}
		}
		if !slices.Contains(lean.Run.Serve, "--shape=lean") || !slices.Contains(classic.Run.Serve, "--shape=classic") {
			t.Errorf("%q, %q", lean.Run.Serve, classic.Run.Serve)
		}
		if err := down(); err != nil || state() != cluster.Stopped {
			t.Errorf("%v, then it is %s", err, state())
		}
	})

	t.Run("EndsWhatItStartedIfAnotherSystemFails", func(t *testing.T) {
		l := local(clusters, &progressLog{})
		_, err := l.Up(ctx, letter, on(t, "test", scenario.ERP), on(t, "nosuch", scenario.ERP))
		if err == nil || !strings.HasPrefix(err.Error(), `B: no cluster "nosuch"`) || state() != cluster.Stopped {
			t.Errorf("%v, then it is %s", err, state())
		}
	})

	t.Run("WithoutTheERPTheClusterMustRun", func(t *testing.T) {
		l := local(clusters, &progressLog{})
		if _, err := l.Up(ctx, nil, on(t, "test", scenario.NoERP)); err == nil ||
			!strings.Contains(err.Error(), "cluster test is stopped") {
			t.Error(err)
		}
	})

	t.Run("NothingForRequestsAndCommands", func(t *testing.T) {
		requests := &system.System{Run: run.Options{Load: load.Default()}}
		requests.Run.Scenario = &scenario.Scenario{Application: scenario.NoERP}
		l := system.Local{} // has no clusters
		down, err := l.Up(ctx, nil, requests, &system.System{})
		if err != nil || requests.Run.DSN != "" {
			t.Fatal(err, requests.Run.DSN)
		}
		if err := down(); err != nil {
			t.Error(err)
		}
	})
}
