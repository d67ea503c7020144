package erptest

import (
	"context"

	"plimsoll/erp/audit"
	"plimsoll/platform/database"
)

// reporter is a test, of the standard library or of rapid.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Clean fails the test when the books do not balance.
func Clean(t reporter, db *database.Database) {
	t.Helper()
	report, err := audit.Run(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		for _, v := range c.Examples {
			t.Errorf("%s: %s: expected %s, found %s", c.Invariant, v.Subject, v.Expected, v.Found)
		}
	}
}
