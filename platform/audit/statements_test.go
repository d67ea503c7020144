package audit_test

import (
	"testing"

	"plimsoll/platform/audit"
	"plimsoll/platform/platformtest"
	"plimsoll/platform/statement/statementtest"
)

func TestStatements(t *testing.T) {
	invariants := map[string]audit.Invariant{}
	for _, i := range audit.Invariants(platformtest.Application()) {
		invariants[i.ID] = i
	}
	statementtest.Compare(t, "testdata/statements.golden", invariants)
}
