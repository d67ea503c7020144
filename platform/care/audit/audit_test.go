package audit_test

import (
	"slices"
	"testing"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/platformtest"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func shop(t *testing.T) *platformtest.Shop {
	s := platformtest.Open(t, posting.Lean)
	s.Post(t, s.Document(platformtest.Receipt, platformtest.Day(1), s.Line(0, 5000, 1000)))
	s.Post(t, s.Document(platformtest.Issue, platformtest.Day(2), s.Line(0, 2000, 0)))
	return s
}

// violated are the invariants that do not hold.
func violated(r audit.Report) (ids []string) {
	for _, c := range r.Checks {
		if c.Violations > 0 {
			ids = append(ids, c.Invariant)
		}
	}
	return ids
}

// Each damage is repaired before the next one is done.
func TestDamageIsFound(t *testing.T) {
	s := shop(t)
	s.Clean(t)
	for invariant, damage := range map[string]struct{ do, undo string }{
		"stock.current": {"UPDATE acc_stock_totals SET quantity = quantity + 1 WHERE period = 'infinity'",
			"UPDATE acc_stock_totals SET quantity = quantity - 1 WHERE period = 'infinity'"},
		"sales.monthly": {"UPDATE acc_sales_totals SET amount = amount + 1",
			"UPDATE acc_sales_totals SET amount = amount - 1"},
		"stock.covers": {"INSERT INTO acc_promised_totals (organisation, shelf, goods, period, quantity) SELECT " +
			"organisation, shelf, goods, 'infinity', 100 FROM acc_stock_totals WHERE period = 'infinity'",
			"DELETE FROM acc_promised_totals"},
		"batches.dated": {"UPDATE acc_batches_totals SET brought_at = brought_at - interval '1 day' WHERE period = " +
			"'infinity'", "UPDATE acc_batches_totals SET brought_at = brought_at + interval '1 day' WHERE period = " +
			"'infinity'"},
		"general.current": {"UPDATE gl_general SET amount = amount + 1", "UPDATE gl_general SET amount = amount - 1"},
		"general.accounts": {"UPDATE gl_general_accounts SET debit = debit + 1",
			"UPDATE gl_general_accounts SET debit = debit - 1"},
		"receipt.posted": {"UPDATE doc_receipt SET posted = false", "UPDATE doc_receipt SET posted = true"},
		"stock.recorders": {"UPDATE doc_issue SET date = date + interval '1 hour'",
			"UPDATE doc_issue SET date = date - interval '1 hour'"},
		"issue.operations": {"UPDATE plimsoll_operation SET organisation = document WHERE document_type = 'issue'",
			"UPDATE plimsoll_operation SET organisation = (SELECT organisation FROM doc_issue) WHERE document_type = " +
				"'issue'"},
	} {
		t.Run(invariant, func(t *testing.T) {
			s.Exec(t, damage.do)
			defer s.Exec(t, damage.undo)
			if found := violated(s.Audit(t, audit.Options{})); !slices.Contains(found, invariant) {
				t.Errorf("found %v", found)
			}
		})
	}
	s.Clean(t)
}

// Since a clean point only what has changed is looked at, and damage done since is found.
func TestChangesSinceACleanPoint(t *testing.T) {
	s := shop(t)
	// What is under way at the clean point, such as an autovacuum, keeps all that was written since it began among what
	// has changed.
	patience.Until(t, "no other transaction is under way", func() bool {
		return s.Value(t, "SELECT pg_snapshot_xmin(s) = pg_snapshot_xmax(s) FROM pg_current_snapshot() s") == "true"
	})
	if r := s.Audit(t, audit.Options{Keep: true}); !r.Clean() || !r.Kept {
		t.Fatalf("kept %v (%s), violated %v", r.Kept, r.Unkept, violated(r))
	}
	s.Post(t, s.Document(platformtest.Receipt, platformtest.Day(3), s.Line(1, 1000, 100)))
	r := s.Audit(t, audit.Options{Mode: audit.SinceClean, Keep: true})
	if r.Mode != audit.SinceClean || !r.Clean() || r.Documents != 1 || r.DocumentsAll != 3 {
		t.Errorf("mode %s (%s), %d of %d documents, violated %v", r.Mode, r.Reason, r.Documents, r.DocumentsAll,
			violated(r))
	}
	s.Exec(t, "DELETE FROM acc_stock WHERE recorder_type = 'issue'")
	r = s.Audit(t, audit.Options{Mode: audit.SinceClean})
	if found := violated(r); r.Mode != audit.SinceClean || !slices.Contains(found, "issue.posted") {
		t.Errorf("mode %s (%s), found %v", r.Mode, r.Reason, found)
	}
}

// TestOneMissingTableDoesNotEndAnAudit also finds other damage.
func TestOneMissingTableDoesNotEndAnAudit(t *testing.T) {
	s := shop(t)
	s.Clean(t)
	s.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 1")
	s.Exec(t, "ALTER TABLE acc_sales RENAME TO elsewhere")
	r := s.Audit(t, audit.Options{Mode: audit.SinceClean, Keep: true})
	found := violated(r)
	if r.Kept || r.Mode != audit.All || !slices.Contains(found, "sales.monthly") ||
		!slices.Contains(found, "general.accounts") || slices.Contains(found, "stock.monthly") {
		t.Errorf("mode %s, kept %v, found %v", r.Mode, r.Kept, found)
	}
	for _, c := range r.Checks {
		if c.Invariant == "sales.monthly" && c.Examples[0].Subject != "table acc_sales" {
			t.Errorf("check %+v, want the missing table named", c)
		}
	}
}
