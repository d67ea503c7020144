package erptest

import (
	"context"
	"slices"

	"plimsoll/erp/audit"
	"plimsoll/platform/database"
)

// reporter is a test, of the standard library or of rapid.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Clean fails the test when the books do not balance, except for invariants that the test itself has broken.
func Clean(t reporter, db *database.Database, except ...string) {
	t.Helper()
	report, err := audit.Run(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if slices.Contains(except, c.Invariant) {
			continue
		}
		for _, v := range c.Examples {
			t.Errorf("%s: %s: expected %s, found %s", c.Invariant, v.Subject, v.Expected, v.Found)
		}
	}
}
