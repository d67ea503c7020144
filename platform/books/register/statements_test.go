package register_test

import (
	"testing"

	"plimsoll/platform/books/register"
	"plimsoll/platform/data/statement/statementtest"
	"plimsoll/platform/platformtest"
)

// What reports put into their queries. The statements of a register are among those of package posting.
func TestStatements(t *testing.T) {
	app, texts := platformtest.Application(), map[string]string{}
	for i := range app.Accumulation {
		meta := &app.Accumulation[i]
		texts[meta.Name+" TotalsSQL"] = register.TotalsSQL(meta)
		texts[meta.Name+" BalanceSQL"] = register.BalanceSQL(meta, "")
		texts[meta.Name+" BalanceSQL filtered"] = register.BalanceSQL(meta, "goods")
		texts[meta.Name+" BalanceOfSQL"] = register.BalanceOfSQL(meta, "goods", "(ARRAY(SELECT goods FROM asked))")
	}
	statementtest.Compare(t, "testdata/statements.golden", texts)
}
