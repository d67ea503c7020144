// Package databasetest provides databases for tests: a fresh one on the server that the test binary shares, as the
// platform sees it, and with direct access past the platform.
package databasetest

import (
	"context"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
)

// Main is for TestMain of a package that uses Open.
func Main(m *testing.M) { clustertest.Main(m) }

// Test is a fresh empty database.
type Test struct {
	*database.Database
	DSN string
}

// Open makes an empty database that is dropped when the test ends.
func Open(t testing.TB) *Test {
	t.Helper()
	dsn := clustertest.Database(t).Secret()
	return &Test{Connect(t, dsn, database.Options{}), dsn}
}

// Connect opens another pool, as another worker would.
func Connect(t testing.TB, dsn string, options database.Options) *database.Database {
	t.Helper()
	db, err := database.Open(context.Background(), dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// Exec executes SQL past the platform.
func (d *Test) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	err := d.Borrow(context.Background(), func(c *pgx.Conn) error {
		_, err := c.Exec(context.Background(), sql, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Value reads one value as text.
func (d *Test) Value(t testing.TB, sql string, args ...any) (value string) {
	t.Helper()
	err := d.Borrow(context.Background(), func(c *pgx.Conn) error {
		return c.QueryRow(context.Background(), "SELECT ("+sql+")::text", args...).Scan(&value)
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// Count is the result of a query for one number.
func (d *Test) Count(t testing.TB, sql string, args ...any) int {
	t.Helper()
	n, err := strconv.Atoi(d.Value(t, sql, args...))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// RowsLookedAt is how many rows of a table the server has looked at, as far as its sessions have told
// (pg_stat_force_next_flush).
func (d *Test) RowsLookedAt(t testing.TB, table string) int {
	t.Helper()
	return d.Count(t, "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables "+
		"WHERE relname = $1", table)
}
