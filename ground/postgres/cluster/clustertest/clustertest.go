// Package clustertest provides the PostgreSQL server that the tests of one binary share: quick to create, without
// fsync, reached over its socket, and removed when the binary ends in any way.
//
// Which engine: PLIMSOLL_TEST_ENGINE (plimsoll, vanilla, stock, system or a prefix); if unset, our build, else the
// newest installed server.
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

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/test/patience"
)

// EngineVariable names the engine that tests run on.
const EngineVariable = "PLIMSOLL_TEST_ENGINE"

// Engine that tests run on; empty is the default of cluster.Spec.
func Engine() string { return os.Getenv(EngineVariable) }

// shared is the one server of this test binary.
var shared struct {
	ready   bool // Run will end it
	once    sync.Once
	state   string
	server  *cluster.Postmaster
	problem error
}

// Main is for TestMain of a package that uses Start or Database: it runs the tests, then stops and removes the shared
// server.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that does more, such as leak.Main over Runner(m).
func Run(m interface{ Run() int }) int {
	shared.ready = true
	code := m.Run()
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return max(code, 1)
	}
	return code
}

// Runner gives m the shared server, for leak.Main(clustertest.Runner(m)).
func Runner(m *testing.M) interface{ Run() int } { return runner{m} }

type runner struct{ m *testing.M }

func (r runner) Run() int { return Run(r.m) }

// Start returns the shared running cluster, which the first call starts.
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
	ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
	defer cancel()
	if shared.state, shared.problem = newState(); shared.problem != nil {
		return
	}
	c, err := cluster.Open(shared.state).Create(ctx, "test", Copied(Spec()))
	if err == nil {
		shared.server, err = c.Start(ctx, cluster.StartOptions{})
	}
	shared.problem = err
}

// Spec is a small cluster that starts quickly, without fsync.
func Spec() cluster.Spec {
	const why = "a test's server may lie in memory"
	return cluster.Spec{Engine: Engine(), Memory: "512MB", SocketOnly: true, Unsafe: true,
		Settings: []profile.Setting{
			{Name: "max_wal_size", Value: "512MB", Reason: why}, {Name: "min_wal_size", Value: "80MB", Reason: why},
			{Name: "autovacuum_naptime", Value: "1d", Reason: "a test's databases live for seconds, and no test may " +
				"depend on when they are vacuumed"},
		}}
}

func end() error {
	if shared.state == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
	defer cancel()
	var err error
	if shared.server != nil {
		err = shared.server.Stop(ctx, cluster.Immediate)
	}
	return errors.Join(err, remove(shared.state))
}

var databases atomic.Int64

// Database is a fresh empty database. The end of the test drops it and its open connections.
func Database(t testing.TB) cluster.DSN {
	t.Helper()
	return create(t, Start(t), "")
}

// Connect opens a connection until the end of the test, under the name of an application if there is one.
func Connect(t testing.TB, dsn, application string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if application != "" {
		config.RuntimeParams["application_name"] = application
	}
	ctx, cancel := bound()
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// bound outlives the test's own context, which has ended when cleanups run.
func bound() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience.Max)
}

// Value runs statements on a connection of its own, in one transaction, and returns the first value of the last one as
// text; empty if it has none.
func Value(t testing.TB, dsn, sql string) (text string) {
	t.Helper()
	ctx, cancel := bound()
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if last := results[len(results)-1]; len(last.Rows) > 0 {
		text = string(last.Rows[0][0])
	}
	return text
}

// Exec runs a statement on a connection of its own and returns the number that it answers, if it answers one.
func Exec(t testing.TB, dsn, sql string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(patience.Context(t), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(patience.Context(t), sql).Scan(&n); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return n
}

// templates are the databases that copies are made from, by name.
var templates sync.Map

// Copy is a copy of the database that fill makes once, and is dropped like that of Database. Copying a database of a
// hundred tables takes a twentieth of the processor time of creating it.
func Copy(t testing.TB, name string, fill func(dsn string) error) cluster.DSN {
	t.Helper()
	c := Start(t)
	made, _ := templates.LoadOrStore(name, sync.OnceValue(func() error { return makeTemplate(c, name, fill) }))
	if err := made.(func() error)(); err != nil {
		t.Fatalf("clustertest: template %s: %v", name, err)
	}
	return create(t, c, " TEMPLATE "+templateName(name)+" STRATEGY file_copy")
}

func templateName(name string) string { return pgx.Identifier{"template_" + name}.Sanitize() }

func makeTemplate(c *cluster.Cluster, name string, fill func(dsn string) error) error {
	if err := run(c, "CREATE DATABASE "+templateName(name)); err != nil {
		return err
	}
	if err := fill(c.DSN("template_" + name).Secret()); err != nil {
		return err
	}
	return run(c, "ALTER DATABASE "+templateName(name)+" ALLOW_CONNECTIONS false")
}

func create(t testing.TB, c *cluster.Cluster, from string) cluster.DSN {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := run(c, "CREATE DATABASE "+name+from); err != nil {
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
	ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN("").Secret())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
