// Package clustertest owns the PostgreSQL server that the tests of one binary
// share: created quickly, flushing nothing to disk, reached over its socket,
// gone when the binary ends, however it ends.
//
// Which engine: PLIMSOLL_TEST_ENGINE (plimsoll, vanilla, system or a prefix);
// where it is unset, our build and else the newest installed server.
//
//	func TestMain(m *testing.M) { clustertest.Main(m) }
//
//	func TestPosting(t *testing.T) {
//		pool, err := pgxpool.New(t.Context(), clustertest.Database(t).Secret())
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/cluster"
)

// EngineVariable names the engine that tests run on.
const EngineVariable = "PLIMSOLL_TEST_ENGINE"

// Engine is what tests run on: empty is the default of cluster.Spec.
func Engine() string { return os.Getenv(EngineVariable) }

// A test that can't have its server in this time won't get one.
const (
	startMax = 2 * time.Minute
	stopMax  = time.Minute
)

// shared is the one server of this test binary.
var shared struct {
	ready   bool // Run is there to end it
	once    sync.Once
	state   string
	server  *cluster.Postmaster
	problem error
}

// Main is for TestMain of a package that uses Start or Database: it runs the
// tests, then stops the shared server and removes it.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has more to do, such as goleak.VerifyTestMain
// over Runner(m).
func Run(m interface{ Run() int }) int {
	shared.ready = true
	code := m.Run()
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return max(code, 1)
	}
	return code
}

// Runner gives m the shared server, for goleak.VerifyTestMain(clustertest.Runner(m)).
func Runner(m *testing.M) interface{ Run() int } { return runner{m} }

type runner struct{ m *testing.M }

func (r runner) Run() int { return Run(r.m) }

// Start gives the shared running cluster, started by the first call.
func Start(t testing.TB) *cluster.Cluster {
	t.Helper()
	if !shared.ready {
		t.Fatal("clustertest: the package needs func TestMain(m *testing.M) { clustertest.Main(m) }")
	}
	shared.once.Do(begin)
	if shared.problem != nil {
		t.Fatalf("clustertest: %v", shared.problem)
	}
	return shared.server.Cluster()
}

func begin() {
	ctx, cancel := context.WithTimeout(context.Background(), startMax)
	defer cancel()
	if shared.state, shared.problem = newState(); shared.problem != nil {
		return
	}
	c, err := cluster.Open(shared.state).Create(ctx, "test", Spec())
	if err == nil {
		shared.server, err = c.Start(ctx, cluster.StartOptions{})
	}
	shared.problem = err
}

// Spec is a small cluster that is quickly there and flushes nothing.
func Spec() cluster.Spec {
	return cluster.Spec{Engine: Engine(), Memory: "512MB", SocketOnly: true, Unsafe: true}
}

func end() error {
	if shared.state == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopMax)
	defer cancel()
	var err error
	if shared.server != nil {
		err = shared.server.Stop(ctx, cluster.Immediate)
	}
	return errors.Join(err, os.RemoveAll(shared.state))
}

var databases atomic.Int64

// Database gives a fresh empty database, dropped when the test ends together
// with the connections that it left.
func Database(t testing.TB) cluster.DSN {
	t.Helper()
	c := Start(t)
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := run(c, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("clustertest: %v", err)
	}
	t.Cleanup(func() {
		if err := run(c, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("clustertest: %v", err)
		}
	})
	return c.DSN(name)
}

// run does not use the test's context, which has ended when cleanups run.
func run(c *cluster.Cluster, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopMax)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN("").Secret())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
