package audit_test

import (
	"fmt"
	"testing"

	"plimsoll/erp/erptest"
)

// progressLog is a test that is told what is wrong and goes on.
type progressLog struct {
	*testing.T
	errors []string
}

func (t *progressLog) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

// What other tests rely on finds what is wrong, though it looks at no more than has rows.
func TestBooksThatAreNotCleanFailATest(t *testing.T) {
	c := company(t)
	for _, statement := range []string{"UPDATE doc_bank_receipt SET amount = amount + 1",
		"UPDATE acc_cash_totals SET amount = amount + 1", "DELETE FROM doc_goods_sale"} {
		before := progressLog{T: t}
		erptest.Clean(&before, c.Database)
		c.Exec(t, statement)
		after := progressLog{T: t}
		if erptest.Clean(&after, c.Database); len(after.errors) <= len(before.errors) {
			t.Errorf("%s: told %q before and %q after", statement, before.errors, after.errors)
		}
	}
}
