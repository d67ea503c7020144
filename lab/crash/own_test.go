package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
	"plimsoll/lab/crash"
	"plimsoll/lab/crash/image"
)

// What a killed test left goes, what a living process works on stays, and a file keeps what each seed showed.
func TestItCleansUpAndGoesOn(t *testing.T) {
	clusters := cluster.Open(clustertest.State(t))
	spec := clustertest.Copied(clustertest.Spec())
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left, others := fmt.Sprintf("crash-%d-1", gone.Process.Pid), fmt.Sprintf("crash-%d-1", os.Getppid())
	for _, name := range []string{left, others} {
		if _, err := clusters.Create(t.Context(), name, spec); err != nil {
			t.Fatal(err)
		}
	}
	o := crash.Options{Clusters: clusters, Spec: spec, Ending: crash.Orderly, Durability: crash.Async, Load: crash.SQL,
		Sessions: 2, Duration: 50 * time.Millisecond, Seeds: 1, Seed: 7, Kept: filepath.Join(t.TempDir(), "kept")}
	o.Spec.Unsafe = false
	for seeds := 1; seeds <= 2; seeds++ {
		o.Seeds = seeds
		report, err := crash.Run(t.Context(), o)
		if err != nil || len(report.Cuts) != seeds || report.Cuts[seeds-1].Seed != uint64(6+seeds) || report.Left != 0 {
			t.Fatalf("%v, %+v: want %d seeds in all", err, report, seeds)
		}
		half, err := os.OpenFile(o.Kept, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = half.WriteString(`{"cut":{"se`) // a run that was killed
		if err := errors.Join(err, half.Close()); err != nil {
			t.Fatal(err)
		}
	}
	o.Sessions++
	if _, err := crash.Run(t.Context(), o); problem.ClassOf(err) != problem.Usage {
		t.Errorf("with other settings it still goes on: %v", err)
	}
	if _, err := clusters.Find(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cluster of a killed test is left: %v", err)
	}
	if _, err := clusters.Find(others); err != nil {
		t.Errorf("the cluster of a living process is gone: %v", err)
	}
}

// Interrupted in the middle of cuts that are examined side by side, a count keeps a beginning of the seeds and goes on
// behind it.
func TestAnInterruptedCountOfPowerCutsGoesOn(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	clusters := cluster.Open(clustertest.State(t))
	spec := clustertest.Spec()
	spec.Unsafe = false
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o := crash.Options{Clusters: clusters, Spec: clustertest.Copied(spec), Ending: crash.PowerCut,
		Durability: crash.Sync, Load: crash.SQL, Sessions: 2, Duration: 200 * time.Millisecond, Seeds: 7, Seed: 3,
		Model: image.Strict, PerLoad: 5, Recoveries: 3, Kept: filepath.Join(t.TempDir(), "kept"),
		Progress: func(p crash.Progress) {
			if p.Done >= 2 {
				interrupt()
			}
		}}
	before, err := crash.Run(ctx, o)
	if problem.ClassOf(err) != problem.Interrupted || len(before.Cuts) < 2 || len(before.Cuts) == o.Seeds {
		t.Fatalf("%d cuts, %v", len(before.Cuts), err)
	}
	o.Progress = nil
	after, err := crash.Run(t.Context(), o)
	if err != nil || len(after.Cuts) != o.Seeds || after.Lost() > 0 {
		t.Fatalf("%+v, %v", after, err)
	}
	inOrder(t, after)
	if diff := cmp.Diff(before.Cuts, after.Cuts[:len(before.Cuts)], cmpopts.IgnoreUnexported(crash.Cut{})); diff != "" {
		t.Errorf("what was kept differs:\n%s", diff)
	}
	if left, _ := clusters.List(); len(left) > 0 {
		t.Errorf("%d clusters are left", len(left))
	}
}

// A journal that cannot tell everything says so.
func TestAJournalIsWorthNothingAfterWhatItCannotTell(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	spec := clustertest.Copied(clustertest.Spec())
	spec.Settings = append(spec.Settings, profile.Setting{Name: "wal_level", Value: "replica"},
		profile.Setting{Name: "max_replication_slots", Value: "1"})
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "one", spec)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := c.JournalDir()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Start(t.Context(), cluster.StartOptions{Journal: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(t.Context(), cluster.Immediate); err != nil {
			t.Error(err)
		}
	}()
	state, err := storage.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	conn, err := pgx.Connect(t.Context(), c.SocketDSN("").Secret())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, one := range []struct {
		sql    string
		beyond bool
	}{{"CREATE TABLE t AS SELECT 1; CHECKPOINT", false}, {"SELECT pg_create_physical_replication_slot('one')", true}} {
		if _, err := conn.Exec(t.Context(), one.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		if err := state.Err(); (err != nil) != one.beyond {
			t.Errorf("%s: %v", one.sql, err)
		}
	}
}
