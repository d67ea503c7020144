package posting_test

import (
	"testing"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/statement/statementtest"
	"plimsoll/platform/platformtest"
)

// All that posting sends for an application: the statements of documents, catalogs, registers and ledgers too.
func TestStatements(t *testing.T) {
	app := platformtest.Application()
	statementtest.Compare(t, "testdata/statements.golden", posting.New(nil, app, platformtest.Rules(app)))
}
