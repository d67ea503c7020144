package posting_test

import (
	"testing"

	"plimsoll/platform/platformtest"
	"plimsoll/platform/posting"
	"plimsoll/platform/statement/statementtest"
)

// All that posting sends for an application: the statements of documents, catalogs, registers and ledgers too.
func TestStatements(t *testing.T) {
	app := platformtest.Application()
	statementtest.Compare(t, "testdata/statements.golden", posting.New(nil, app, platformtest.Rules(app)))
}
