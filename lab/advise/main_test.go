package advise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(m) }

// bench is one server of its own, since advice is about whole servers; each test has a database in it.
type bench struct {
	own       *clustertest.OwnCluster
	databases atomic.Int64
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{own: clustertest.Alone(t, map[string]string{
		"wal_level": "replica", "max_wal_senders": "8", "max_replication_slots": "4", "max_prepared_transactions": "2",
		// Autovacuum is on, and does not tidy up what a test plants.
		"autovacuum_naptime": "1d", "shared_preload_libraries": "pg_stat_statements",
	})}
	// A test's server has no fsync, which is harmful.
	b.on(t, b.own.DSN(), "ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET full_page_writes = on")
	b.reload(t)
	return b
}

// database of a test, empty.
func (b *bench) database(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("advised_%d", b.databases.Add(1))
	b.on(t, b.own.DSN(), "CREATE DATABASE "+name)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), b.own.DSN())
		if err == nil {
			_, err = conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
			err = errors.Join(err, conn.Close(context.Background()))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return withDatabase(t, b.own.DSN(), name, "")
}

func withDatabase(t *testing.T, dsn, name, user string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if user == "" {
		user = config.User
	}
	return fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable", config.Host, config.Port,
		user,
		config.Password, name)
}

// bound outlives the test's own context, which has ended when cleanups run.
func bound() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience.Max)
}

func (b *bench) on(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "")
	defer conn.Close(context.Background())
	run(t, conn, statements...)
}

func run(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	ctx, cancel := bound()
	defer cancel()
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func value[T any](t *testing.T, dsn, sql string, args ...any) (v T) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "")
	ctx, cancel := bound()
	defer cancel()
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func (b *bench) reload(t *testing.T) {
	t.Helper()
	w := &worker{Applier: Applier{DSN: b.own.DSN()}, conn: clustertest.Connect(t, b.own.DSN(), "")}
	ctx, cancel := bound()
	defer cancel()
	if err := w.reloaded(ctx); err != nil {
		t.Fatal(err)
	}
}

// configure writes the file that a user of a cluster writes, until the test ends.
func (b *bench) configure(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(filepath.Dir(value[string](t, b.own.DSN(), "SHOW data_directory")), "user.conf")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b.reload(t)
	t.Cleanup(func() {
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
		b.reload(t)
	})
}

func advised(t *testing.T, dsn string, causes ...Cause) *Report {
	t.Helper()
	r, err := Run(patience.Context(t), Options{DSN: dsn, Cluster: "here", Causes: causes})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range r.Unavailable {
		if strings.Contains(u.Why, "syntax") || strings.Contains(u.Why, "does not exist") {
			t.Fatalf("a query is wrong: %+v", u)
		}
	}
	return r
}

// waitForAdvice waits until an advice is given: statistics come with a delay.
func waitForAdvice(t *testing.T, dsn, id string) (found Advice) {
	t.Helper()
	patience.Until(t, "there is advice "+id, func() bool {
		a := advised(t, dsn).Find(id)
		if a != nil {
			found = *a
		}
		return a != nil
	})
	found.checkComplete(t)
	return found
}

// checkComplete: no advice without its reason, what was seen, the proof and the way back.
func (a Advice) checkComplete(t *testing.T) {
	t.Helper()
	if a.Title == "" || a.Mechanism == "" || len(a.Evidence) == 0 || len(a.Do) == 0 || a.Prove == "" ||
		a.Revert == "" ||
		a.Class == "" || !strings.ContainsAny(strings.Join(a.Evidence, ""), "0123456789") {
		t.Errorf("not whole: %+v", a)
	}
}

func (r *Report) unavailable(name string) string {
	i := slices.IndexFunc(r.Unavailable, func(u Unavailable) bool { return u.Name == name })
	if i < 0 {
		return ""
	}
	return r.Unavailable[i].Why
}
