package audit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/audit/damage"
	"plimsoll/erp/audit/damagetest"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
)

func checkOf(t *testing.T, report audit.Report, id string) audit.Check {
	t.Helper()
	i := slices.IndexFunc(report.Checks, func(c audit.Check) bool { return c.Invariant == id })
	if i < 0 {
		t.Fatalf("nobody looks at %s", id)
	}
	return report.Checks[i]
}

// A batch that is not the oldest, at the cost that it has: the document tells so itself, and only a replay knows
// better.
func TestCostsThatDoNotFollowTheOrderOfTimeAreNamed(t *testing.T) {
	c := damagetest.Company(t, damagetest.Rounds)
	const receipts = "(SELECT d.id FROM doc_goods_receipt d WHERE source_order <> " + damage.None +
		" ORDER BY number DESC LIMIT 1)"
	c.Exec(t, "UPDATE acc_batches SET receipt = "+receipts+" WHERE line = 1 AND recorder = (SELECT id FROM "+
		"doc_internal_consumption ORDER BY number LIMIT 1)")
	for _, o := range []audit.Options{{}, {Mode: audit.Sample, Share: 1}} {
		report := run(t, c, o)
		if derived := checkOf(t, report, "internal_consumption.derived"); derived.Violations != 0 ||
			derived.Checked != damagetest.Rounds {
			t.Errorf("%s: the document is as it says, but %d of %d differ", report.Mode,
				derived.Violations, derived.Checked)
		}
		order := checkOf(t, report, "batches.order")
		if order.Violations != 1 || order.Examples[0].Field != "batches 1.receipt" ||
			!strings.HasPrefix(order.Examples[0].Subject, "internal_consumption IC-") {
			t.Errorf("%s: %+v", report.Mode, order)
		}
	}
	c.Exec(t, "INSERT INTO acc_batches_boundary (organisation, warehouse, item, moment) SELECT DISTINCT organisation, "+
		"warehouse, item, '2000-01-01'::timestamptz FROM acc_batches")
	report := run(t, c, audit.Options{})
	if order := checkOf(t, report, "batches.order"); order.Violations != 1 {
		t.Errorf("a boundary at no document hides costs: %+v", order)
	}
	if at := checkOf(t, report, "batches_boundary.moments"); at.Violations != at.Checked || at.Violations == 0 ||
		at.Examples[0].Field != "moment" {
		t.Errorf("boundaries at no document: %+v", at)
	}
	c.Exec(t, "UPDATE acc_batches_boundary b SET moment = (SELECT min(period) FROM acc_batches m WHERE "+
		"(m.organisation, m.warehouse, m.item) = (b.organisation, b.warehouse, b.item))")
	if order := checkOf(t, run(t, c, audit.Options{}), "batches.order"); order.Violations != 0 ||
		order.Underivable == 0 ||
		order.Checked != 0 {
		t.Errorf("behind a boundary nothing is known: %+v", order)
	}
}

// A sale of the year 2099 agrees with all that it has recorded and with all totals.
func TestASaleOf2099IsNamed(t *testing.T) {
	c := company(t)
	meta, _ := erp.Metadata().Document(books.ServiceSale)
	d := document.New(meta)
	o := c.Organisations[0]
	d.Organisation, d.Posted, d.Date = o.ID, true, time.Date(2099, 6, 1, 0, 0, 0, 0, time.UTC)
	d.Author = o.Author
	books.Counterparty.Set(d, o.Counterparty)
	books.Contract.Set(d, erptest.Contract(o.Counterparty))
	lines := d.Section("lines")
	row := lines.Grow(1)
	books.Service.Of(lines)[row], books.Quantity.Of(lines)[row] = c.Services[0], 1000
	if _, err := posting.New(c.Database, erp.Metadata(), erp.Rules()).Create(t.Context(), d,
		posting.Key{Author: o.Author, Name: "2099", Digest: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	report := run(t, c, audit.Options{})
	check := checkOf(t, report, "service_sale.identity")
	if report.Violations != 1 || check.Violations != 1 || check.Examples[0].Field != "date" ||
		!strings.Contains(check.Examples[0].Subject, d.ID.String()) {
		t.Errorf("%d violations: %+v", report.Violations, check)
	}
}

// What others have under way in the same server may make more look changed, never less.
func TestWhatHasChangedIsPostedAnew(t *testing.T) {
	c := company(t)
	point(t, c)
	postSale(t, c)
	if check := checkOf(t, sinceClean(t, c), "goods_sale.derived"); check.Checked < 1 || check.Violations != 0 {
		t.Errorf("a sale is new: %+v", check)
	}
	c.Exec(t, "UPDATE doc_goods_sale_lines SET price = price + 1 WHERE line = 1")
	check := checkOf(t, sinceClean(t, c), "goods_sale.derived")
	if check.Checked < 2 || check.Violations == 0 || check.Examples[0].Field == "" {
		t.Errorf("two have changed: %+v", check)
	}
	c.Exec(t, "UPDATE cat_items SET vat_rate = 3")
	if check := checkOf(t, sinceClean(t, c), "goods_receipt.derived"); check.Checked != 2 || check.Violations == 0 {
		t.Errorf("a rate has changed: %+v", check)
	}
}

// An audit of books that lack a table goes on, and names what it could not look at.
func TestAMissingTableIsAFinding(t *testing.T) {
	c := company(t)
	point(t, c)
	c.Exec(t, "DROP TABLE acc_cash")
	c.Exec(t, "ALTER TABLE doc_service_sale DROP COLUMN vat")
	c.Exec(t, "UPDATE doc_goods_receipt_lines SET vat = vat + 1 WHERE line = 1")
	for _, o := range []audit.Options{{Keep: true}, {Mode: audit.SinceClean, Keep: true},
		{Mode: audit.Sample, Share: 1}} {
		report := run(t, c, o)
		for id, missing := range map[string]string{"cash.current": "table acc_cash",
			"bank_receipt.derived": "table acc_cash", "service_sale.ledger": "column doc_service_sale.vat"} {
			if check := checkOf(t, report, id); check.Violations == 0 || check.Examples[0].Subject != missing {
				t.Errorf("%s: %+v", report.Mode, check)
			}
		}
		if report.Kept {
			t.Errorf("%s: a clean point was kept", report.Mode)
		}
		if check := checkOf(t, report, "goods_receipt.derived"); check.Violations == 0 {
			t.Errorf("%s: the audit has not gone on: %+v", report.Mode, check)
		}
	}
}
