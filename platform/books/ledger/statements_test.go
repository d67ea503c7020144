package ledger_test

import (
	"testing"

	"plimsoll/platform/books/ledger"
	"plimsoll/platform/data/statement/statementtest"
	"plimsoll/platform/platformtest"
)

// What reports put into their queries. The statements of a ledger are among those of package posting.
func TestStatements(t *testing.T) {
	meta := platformtest.Application().Ledger(platformtest.General)
	texts := map[string]string{
		"TotalsSQL": ledger.TotalsSQL(meta), "AccountTotalsSQL": ledger.AccountTotalsSQL(meta),
		"BetweenSQL": ledger.BetweenSQL(meta, "$2", "$3"),
	}
	for name, filtered := range map[string]bool{"": false, " filtered": true} {
		texts["AccountSQL"+name] = ledger.AccountSQL(meta, filtered)
		texts["CardSQL"+name] = ledger.CardSQL(meta, filtered, "$6")
	}
	statementtest.Compare(t, "testdata/statements.golden", texts)
}
