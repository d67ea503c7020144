// Package filltest owns the small filled bases of tests that know a database by its DSN.
package filltest

import (
	"testing"

	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
)

// Copy gives a copy of the base of that name, which is filled once for all tests of a package; it goes when the test
// ends.
func Copy(t testing.TB, name string, options fill.Options) (dsn string) {
	t.Helper()
	return clustertest.Copy(t, name, func(dsn string) error { Fill(t, dsn, options); return nil }).Secret()
}

// Fill makes a base in an empty database, with a pool that is gone afterwards.
func Fill(t testing.TB, dsn string, options fill.Options) {
	t.Helper()
	db, err := database.Open(t.Context(), dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	options.Create = true
	if _, err := fill.Run(t.Context(), db, options); err != nil {
		t.Fatal(err)
	}
}
