package audit_test

import (
	"testing"

	"plimsoll/platform/care/audit"
	"plimsoll/platform/data/statement/statementtest"
	"plimsoll/platform/platformtest"
)

func TestStatements(t *testing.T) {
	invariants := map[string]audit.Invariant{}
	for _, i := range audit.Invariants(platformtest.Application()) {
		invariants[i.ID] = i
	}
	statementtest.Compare(t, "testdata/statements.golden", invariants)
}
