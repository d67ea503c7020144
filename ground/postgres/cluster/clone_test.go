package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/patience"
)

// dsnOf a role of the cluster a, by its socket.
func dsnOf(c *cluster.Cluster, role, password string) string {
	config, err := pgx.ParseConfig(c.SocketDSN("").Secret())
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=postgres sslmode=disable", config.Host, config.Port,
		role, password)
}

// whole: both tables have the same rows, and none is missing between them.
const whole = `SELECT (count(*) = (SELECT count(*) FROM twin) AND count(*) = coalesce(max(n), -1) + 1)::text FROM kept`

// A copy of a server under writes is as of one moment, and does not act as the server.
func TestClone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.primary("a")
	there := filepath.Join(b.state, "elsewhere")
	check(t, os.Mkdir(there, 0o777))
	check(t, os.Chmod(there, 0o777))
	space := filepath.Join(there, "space")
	for _, sql := range []string{
		"CREATE TABLE kept (n int)",
		"CREATE TABLE twin (n int)",
		`CREATE ROLE copier LOGIN REPLICATION PASSWORD 'a:b\c d'`,
		"CREATE ROLE user1 LOGIN PASSWORD 'x'",
		"CREATE ROLE plain LOGIN PASSWORD 'x'",
		"ALTER SYSTEM SET archive_command = 'touch " + filepath.Join(there, "archived") + "'",
		"ALTER SYSTEM SET TimeZone = 'Asia/Tokyo'",
		"CREATE SUBSCRIPTION taken CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)",
		"UPDATE pg_subscription SET subenabled = true",
		"ALTER SYSTEM SET restore_command = 'false'",
		"SELECT pg_reload_conf()",
	} {
		check(t, order(t, a, sql))
	}
	// The folder of a tablespace must be the server's user's: it makes its own, among its data.
	if err := order(t, a, "COPY (SELECT 1) TO PROGRAM 'mkdir "+space+"'"); err != nil {
		t.Fatal(err)
	}
	check(t, order(t, a, "CREATE TABLESPACE far LOCATION '"+space+"'"))
	check(t, order(t, a, "CREATE TABLE away TABLESPACE far AS SELECT 7 AS n"))

	writing, stop := context.WithCancel(patience.Context(t))
	ended := make(chan error)
	go func() {
		conn := clustertest.Connect(t, a.SocketDSN("").Secret(), "")
		for n := 0; writing.Err() == nil; n++ {
			// Both or none, and none without those before it.
			if _, err := conn.Exec(context.Background(), fmt.Sprintf("BEGIN; INSERT INTO kept VALUES (%d); "+
				"INSERT INTO twin VALUES (%d); COMMIT", n, n)); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	_, err := b.Clone(patience.Context(t), "c", cluster.Spec{Unsafe: true}, dsnOf(a, "copier", `'a:b\\c d'`),
		cluster.CloneOptions{Fast: true, Pace: "500M"})
	stop()
	check(t, errors.Join(err, <-ended))
	c, err := b.Up(patience.Context(t), "c", cluster.Spec{})
	check(t, err)
	b.downAtEnd("c")
	for sql, want := range map[string]string{
		whole:                      "true",
		"SELECT n::text FROM away": "7",
		"SHOW archive_command":     "(disabled)",
		"SHOW restore_command":     "",
		"SHOW TimeZone":            "Asia/Tokyo",
		"SELECT count(*)::text FROM pg_subscription WHERE subenabled": "0",
		"SELECT count(*)::text FROM pg_replication_slots":             "0",
		"SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = 'far'": filepath.Join(b.dir("c"),
			"tablespaces", queried(t, a, "SELECT oid::text FROM pg_tablespace WHERE spcname = 'far'")),
		"SELECT rolsuper::text FROM pg_roles WHERE rolname = 'plimsoll'":                "true",
		"SELECT (rolpassword IS NOT NULL)::text FROM pg_authid WHERE rolname = 'user1'": "true",
	} {
		if got := queried(t, c, sql); got != want {
			t.Errorf("%s: %q, expected %q", sql, got, want)
		}
	}
	b.mustHear("1 subscriptions are disabled")
	for _, left := range []string{"clone.pgpass"} {
		if _, err := os.Stat(filepath.Join(b.dir("c"), left)); err == nil {
			t.Errorf("%s stays", left)
		}
	}
	if _, err := os.Stat(filepath.Join(there, "archived")); err == nil {
		t.Error("the copy, or the source, archived")
	}

	t.Run("NeedsReplication", func(t *testing.T) {
		_, err := b.Clone(patience.Context(t), "d", cluster.Spec{}, dsnOf(a, "plain", "x"), cluster.CloneOptions{})
		problemtest.Want(t, err, problem.Environment, "may not copy the server", "ALTER ROLE")
		b.leftNothing("d")
	})
	t.Run("InterruptedLeavesNothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(patience.Context(t))
		b.Copied = func(int64, int64) { cancel() }
		defer func() { b.Copied = nil }()
		_, err := b.Clone(ctx, "e", cluster.Spec{Unsafe: true}, dsnOf(a, "copier", `'a:b\\c d'`),
			cluster.CloneOptions{Fast: true, Pace: "1M"})
		if err == nil {
			t.Error("it ended whole before it was interrupted")
		}
		cancel()
		b.leftNothing("e")
	})
}

// leftNothing of a cluster that was not made.
func (b *bench) leftNothing(name string) {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.state, "clusters"))
	check(b.t, err)
	for _, e := range entries {
		if strings.HasPrefix(strings.TrimPrefix(e.Name(), "."), name) && !strings.HasSuffix(e.Name(), ".lock") {
			b.t.Errorf("%s stays", e.Name())
		}
	}
}
