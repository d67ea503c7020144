// Package schematest provides databases that the platform has claimed, for tests.
package schematest

import (
	"context"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema"
)

// Open makes a database that is dropped when the test ends, claimed by the platform.
func Open(t testing.TB) *databasetest.Test {
	t.Helper()
	test := databasetest.Open(t)
	if err := schema.Claim(t.Context(), test.Database); err != nil {
		t.Fatal(err)
	}
	return test
}

// Copy is Open of a copy of the database that fill makes once.
func Copy(t testing.TB, name string, fill func(*database.Database) error) *databasetest.Test {
	t.Helper()
	dsn := clustertest.Copy(t, name, func(dsn string) error {
		db, err := database.Open(context.Background(), dsn, database.Options{})
		if err != nil {
			return err
		}
		defer db.Close()
		if err := schema.Claim(context.Background(), db); err != nil {
			return err
		}
		return fill(db)
	}).Secret()
	return &databasetest.Test{Database: databasetest.Connect(t, dsn, database.Options{}), DSN: dsn}
}
