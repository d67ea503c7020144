// Package filltest owns the small filled bases of tests that know a database by its DSN.
package filltest

import (
	"testing"

	"plimsoll/erp/fill"
	"plimsoll/platform/database"
)

// Fill makes a base in an empty database, with a pool that is gone afterwards.
func Fill(t testing.TB, dsn string, options fill.Options) {
	t.Helper()
	db, err := database.Open(t.Context(), dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := fill.Run(t.Context(), db, options); err != nil {
		t.Fatal(err)
	}
}
