package agents

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/store"
)

// What the tests of searches need, which import packages above this one.

const VersionOfTests = version

// FleetOfTests is of agents on this machine.
func FleetOfTests(agents int) Options { return fleetOptions(agents) }

// SignalFirst agent of a fleet.
func SignalFirst(f *Fleet, s syscall.Signal) error { return f.children[0].Signal(s) }

// SleepingUsers of SleepingRun.
const SleepingUsers = 40

// SleepingRun is a light load, 40 operations per second: agents in this process would each count its whole processor
// time.
func SleepingRun(t *testing.T) run.Options {
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
	l := load.Default()
	l.Scenario, l.Ramp, l.Duration, l.Drain = s, 0, 4*time.Second, time.Minute
	l.Think = &users.Think{Mean: time.Second}
	return run.Options{Load: l, DSN: clustertest.Database(t).Secret(), LagLimit: time.Minute,
		Store: store.Open(t.TempDir()), Software: version}
}
