package audit_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/erptest"
	platform "plimsoll/platform/care/audit"
	"plimsoll/platform/worker/server"
	"plimsoll/test/patience"
)

func run(t *testing.T, c *erptest.Company, o audit.Options) audit.Report {
	t.Helper()
	report, err := audit.RunAs(t.Context(), c.Database, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// settled waits until nothing is under way that began before what was written last, such as an autovacuum: then the
// next clean point is after all of it.
func settled(t *testing.T, c *erptest.Company) {
	t.Helper()
	patience.Until(t, "no other transaction is under way", func() bool {
		return c.Value(t, "SELECT pg_snapshot_xmin(s) = pg_snapshot_xmax(s) FROM pg_current_snapshot() s") == "true"
	})
}

// point makes the books of now the clean point. After the first one only what has changed since is looked at.
func point(t *testing.T, c *erptest.Company) {
	t.Helper()
	if report := run(t, c, audit.Options{Mode: audit.SinceClean, Keep: true}); !report.Kept {
		t.Fatalf("no clean point: %s, %d violations", report.Unkept, report.Violations)
	}
}

func sinceClean(t *testing.T, c *erptest.Company) audit.Report {
	t.Helper()
	report := run(t, c, audit.Options{Mode: audit.SinceClean})
	if report.Mode != audit.SinceClean || report.Since == nil {
		t.Errorf("looked at everything: %s", report.Reason)
	}
	return report
}

func TestWhatHasNotChangedIsNotLookedAt(t *testing.T) {
	c := company(t)
	settled(t, c)
	point(t, c)
	report := sinceClean(t, c)
	if !report.Clean() || report.Documents != 0 || report.Months != 0 || report.DocumentsAll == 0 ||
		report.MonthsAll < 2 {
		t.Errorf("nothing has changed, looked at %+v", report)
	}
	if report.Unchanged() != len(report.Checks) || report.Whole() != 0 {
		t.Errorf("nothing has changed, and %d invariants of %d hold as they did", report.Unchanged(),
			len(report.Checks))
	}
	sale := postSale(t, c)
	report = sinceClean(t, c)
	if !report.Clean() || report.Documents != 1 || report.Months != 1 {
		t.Errorf("one document is new, looked at %d of %d, in %d months of %d", report.Documents, report.DocumentsAll,
			report.Months, report.MonthsAll)
	}
	if n := report.Unchanged(); n == 0 || n == len(report.Checks) ||
		report.Checks[slices.IndexFunc(report.Checks, ofSales)].Unchanged {
		t.Errorf("a sale is new, and %d invariants of %d hold as they did", n, len(report.Checks))
	}
	for range 2 { // a frozen row is no other one
		c.Exec(t, "VACUUM (FREEZE, FULL) doc_goods_sale, acc_stock, gl_general, plimsoll_clean_point")
		c.Exec(t, "UPDATE doc_goods_sale SET total = total + 1 WHERE id = $1", sale)
		if report = sinceClean(t, c); report.Documents != 1 ||
			report.Checks[slices.IndexFunc(report.Checks, ofSales)].Violations != 1 {
			t.Errorf("frozen, %d documents, %d violations", report.Documents, report.Violations)
		}
		c.Exec(t, "UPDATE doc_goods_sale SET total = total - 1 WHERE id = $1", sale)
	}
}

func ofSales(c audit.Check) bool { return c.Invariant == "goods_sale.ledger" }

func postSale(t *testing.T, c *erptest.Company) any {
	t.Helper()
	o := c.Organisations[0]
	a := erptest.Login(t, c.Worker(t, server.Config{}), o.User).Post(t, "goods-sale", "", erptest.Document{
		Warehouse: o.Warehouses[0], Counterparty: o.Counterparty,
		Lines: []erptest.Line{{Item: c.Items[1], Quantity: "1"}}})
	if a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return a.ID
}

// A clean point is kept while a transaction is under way that has written, and while another that has deleted.
func TestATransactionUnderWayAcrossTheCleanPointIsLookedAtAfterIt(t *testing.T) {
	for name, statement := range map[string]string{
		"ARowChanged": "UPDATE doc_goods_sale SET total = total + 1",
		"ARowDeleted": "DELETE FROM acc_stock WHERE recorder = (SELECT id FROM doc_goods_sale) AND line = 1",
		"ARowWritten": "INSERT INTO acc_stock SELECT recorder, line + 100, recorder_type, organisation, period, " +
			"expense, warehouse, item, quantity, amount FROM acc_stock WHERE recorder_type = 'goods_sale'",
		"InASavepoint": "SAVEPOINT one; UPDATE doc_goods_sale SET total = total + 1; RELEASE one",
	} {
		t.Run(name, func(t *testing.T) {
			c := company(t)
			err := c.Borrow(t.Context(), func(conn *pgx.Conn) error {
				return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
					if _, err := tx.Exec(t.Context(), statement); err != nil {
						return err
					}
					// later transactions that are over before the clean point
					c.Exec(t, "UPDATE doc_goods_receipt SET comment = 'later'")
					point(t, c)
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if report := sinceClean(t, c); report.Clean() {
				t.Errorf("missed: looked at %d documents", report.Documents)
			}
		})
	}
}

// The stamps of rows that were dumped and restored are those of the restoring transaction.
func TestARestoredBaseIsLookedAtInWhole(t *testing.T) {
	c := company(t)
	never := run(t, c, audit.Options{Mode: audit.SinceClean})
	if never.Mode != audit.All || !strings.Contains(never.Reason, "never been audited") || never.Kept {
		t.Errorf("a base that was never audited: %s, %q", never.Mode, never.Reason)
	}
	point(t, c)
	for _, table := range []string{"plimsoll_clean_point", "plimsoll_clean_part"} {
		c.Exec(t, "CREATE TABLE dumped AS TABLE "+table)
		c.Exec(t, "TRUNCATE "+table)
		c.Exec(t, "INSERT INTO "+table+" TABLE dumped")
		c.Exec(t, "DROP TABLE dumped")
	}
	c.Exec(t, "UPDATE doc_goods_sale SET total = total + 1")
	report := run(t, c, audit.Options{Mode: audit.SinceClean, Keep: true})
	if report.Mode != audit.All || !strings.Contains(report.Reason, "restored or copied") || report.Clean() ||
		report.Kept {
		t.Errorf("a restored base: %s, %q, %d violations", report.Mode, report.Reason, report.Violations)
	}
}

// What a catalog says may make documents wrong that have not changed.
func TestAChangedCatalogIsLookedAtWithAllThatReadsIt(t *testing.T) {
	c := purchases(t)
	point(t, c)
	c.Exec(t, "UPDATE cat_warehouse_cells SET warehouse = gen_random_uuid()")
	report := sinceClean(t, c)
	cells := corruption{subject: "elsewhere",
		want: []string{"warehouse_issue_order.moves", "warehouse_receipt_order.moves"}}
	cells.found(t, report)
	noneElse(t, report, []corruption{cells})
	c.Exec(t, "UPDATE cat_contracts SET payment_limit = 3.99")
	if report = sinceClean(t, c); report.Violations < 3 {
		t.Errorf("%d violations", report.Violations)
	}
}

// The clean point moves only over clean books.
func TestTheCleanPointStaysWhereTheBooksWereClean(t *testing.T) {
	c := company(t)
	point(t, c)
	c.Exec(t, "UPDATE doc_goods_sale SET total = total + 1")
	for range 2 {
		if report := run(t, c, audit.Options{Mode: audit.SinceClean, Keep: true}); report.Clean() || report.Kept ||
			report.Unkept == "" {
			t.Errorf("kept %v, %d violations", report.Kept, report.Violations)
		}
	}
	c.Exec(t, "UPDATE doc_goods_sale SET total = total - 1")
	settled(t, c)
	if report := run(t, c, audit.Options{Mode: audit.SinceClean, Keep: true}); !report.Kept || report.Documents == 0 {
		t.Errorf("not kept: %s, looked at %d documents", report.Unkept, report.Documents)
	}
	if report := sinceClean(t, c); report.Documents != 0 {
		t.Errorf("the point has not moved: %d documents", report.Documents)
	}
}

// Half of the seeds, about, find a single wrong document in a sample of half.
func TestASampleIsOfItsShareAndSeed(t *testing.T) {
	c := company(t)
	c.Exec(t, "UPDATE doc_bank_receipt SET amount = amount + 1")
	receipts := slices.DeleteFunc(audit.Invariants(), func(i platform.Invariant) bool {
		return i.ID != "bank_receipt.ledger"
	})
	sample := func(seed int64) audit.Report {
		report, err := platform.Run(t.Context(), c.Database, erp.Metadata(), receipts,
			audit.Options{Mode: audit.Sample, Share: 0.5, Seed: seed, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	const seeds = 48
	hits := 0
	for seed := range int64(seeds) {
		report := sample(seed)
		if report.Kept || seed < 3 && sample(seed).Violations != report.Violations {
			t.Fatalf("seed %d: kept %v, or not the same twice", seed, report.Kept)
		}
		hits += int(report.Violations)
	}
	if hits < seeds/6 || hits > seeds*5/6 {
		t.Errorf("%d of %d samples found it", hits, seeds)
	}
	whole := run(t, c, audit.Options{Mode: audit.Sample, Share: 0.5, Keep: true})
	if whole.Kept || len(whole.Checks) < len(audit.Invariants()) {
		t.Errorf("kept %v, %d invariants", whole.Kept, len(whole.Checks))
	}
}

func TestAnAuditEndsWithItsContext(t *testing.T) {
	c := company(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := audit.RunAs(ctx, c.Database, audit.Options{Progress: func(int64, int64) { cancel() }})
	if err == nil {
		t.Error("went on")
	}
}
