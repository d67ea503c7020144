// Package databasetest owns the databases of tests: a fresh one on the server that the test binary shares, as the platform
// sees it, and as the test does behind the platform's back.
package databasetest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/cluster/clustertest"
	"plimsoll/platform/database"
)

// Main is for TestMain of a package that uses Open.
func Main(m *testing.M) { clustertest.Main(m) }

// Test is a fresh empty database.
type Test struct {
	*database.Database
	DSN string
}

// Open makes a database that goes when the test ends.
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

// Exec does something behind the platform's back.
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
