package posting_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/platformtest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// inBoth runs a test with the books of each strategy.
func inBoth(t *testing.T, test func(t *testing.T, s *platformtest.Shop)) {
	for _, strategy := range []posting.Strategy{posting.Lean, posting.Classic} {
		t.Run(string(strategy), func(t *testing.T) { test(t, platformtest.Open(t, strategy)) })
	}
}

func receipt(s *platformtest.Shop, day int, lines ...platformtest.Line) *document.Document {
	return s.Document(platformtest.Receipt, platformtest.Day(day), lines...)
}

func issue(s *platformtest.Shop, day int, lines ...platformtest.Line) *document.Document {
	return s.Document(platformtest.Issue, platformtest.Day(day), lines...)
}

// wantRefusal by a control; "" is acceptance.
func wantRefusal(t *testing.T, err error, control string) *posting.Refusal {
	t.Helper()
	var refused *posting.Refusal
	switch {
	case control == "" && err == nil:
	case !errors.As(err, &refused):
		t.Fatalf("got %v, want a refusal by %q", err, control)
	case refused.Control != control:
		t.Fatalf("refused by %q (%v), want %q", refused.Control, err, control)
	}
	return refused
}

func TestPostedDocumentsMoveRegistersAndLedger(t *testing.T) {
	inBoth(t, func(t *testing.T, s *platformtest.Shop) {
		s.Post(t, receipt(s, 1, s.Line(0, 5000, 1000), s.Line(1, 1000, 300)))
		s.Post(t, issue(s, 2, s.Line(0, 2000, 0)))
		const balance = "SELECT sum(quantity) || ' ' || sum(amount) FROM %s WHERE period = 'infinity'"
		for query, want := range map[string]string{
			fmt.Sprintf(balance, "acc_stock_totals"):                          "4.000 9.00",
			fmt.Sprintf(balance, "acc_batches_totals"):                        "4.000 9.00",
			"SELECT sum(amount) FROM acc_sales_totals":                        "4.00",
			"SELECT sum(debit) FROM gl_general_accounts WHERE account = '90'": "4.00",
			"SELECT cost || ' ' || estimate FROM doc_issue":                   "4.00 10.00",
		} {
			if got := s.Value(t, query); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		s.Clean(t)
	})
}

func TestControlsRefuse(t *testing.T) {
	inBoth(t, func(t *testing.T, s *platformtest.Shop) {
		promised := receipt(s, 1, s.Line(0, 5000, 1000))
		rowset.Column[bool](promised.Header, "promised")[0] = true
		s.Post(t, promised)
		free := s.Post(t, receipt(s, 2, s.Line(0, 3000, 900)))
		_, err := s.Create(t, issue(s, 3, s.Line(0, 9000, 0)))
		wantRefusal(t, err, platformtest.ControlShort)
		_, err = s.Create(t, issue(s, 3, s.Line(0, 4000, 0)))
		wantRefusal(t, err, platformtest.ControlPromised)
		s.Post(t, issue(s, 3, s.Line(0, 3000, 0)))
		// what is left is promised: the stock covers it no longer
		wantRefusal(t, s.Unpost(free), platformtest.Stock)
		kept := issue(s, 4, s.Line(0, 5000, 0))
		rowset.Column[id.ID](kept.Header, "receipt")[0] = promised.ID
		s.Post(t, kept)
		s.Clean(t)
	})
}

// The same number of a paper, from two receipts.
func TestARecordIsStatedOnce(t *testing.T) {
	inBoth(t, func(t *testing.T, s *platformtest.Shop) {
		for _, control := range []string{"", platformtest.Numbers} {
			d := receipt(s, 1, s.Line(0, 1000, 100))
			rowset.Column[string](d.Header, "paper_number")[0] = "N 1"
			_, err := s.Create(t, d)
			wantRefusal(t, err, control)
		}
		s.Clean(t)
	})
}

func TestAnOperationIsDoneOnceUnderItsKey(t *testing.T) {
	s, key := platformtest.Open(t, posting.Lean), platformtest.Key()
	first, err := s.Books.Create(t.Context(), receipt(s, 1, s.Line(0, 1000, 100)), key)
	if err != nil || first.Replayed {
		t.Fatalf("first: %+v, %v", first, err)
	}
	again, err := s.Books.Create(t.Context(), receipt(s, 1, s.Line(0, 1000, 100)), key)
	if err != nil || !again.Replayed || again.ID != first.ID {
		t.Errorf("again: %+v, %v; want the document %s", again, err, first.ID)
	}
	key.Digest = []byte{2}
	if _, err := s.Books.Create(t.Context(), receipt(s, 1, s.Line(0, 1000, 100)), key); !errors.Is(err,
		posting.ErrKeyReused) {
		t.Errorf("another request: %v, want %v", err, posting.ErrKeyReused)
	}
}

func TestClosedBooksStayAsTheyAre(t *testing.T) {
	inBoth(t, func(t *testing.T, s *platformtest.Shop) {
		before := s.Post(t, receipt(s, 5, s.Line(0, 1000, 100)))
		closing := s.Post(t, s.Document(platformtest.Close, platformtest.Day(31)))
		if got := s.Value(t, "SELECT documents FROM doc_close"); got != "1" {
			t.Errorf("the close has looked at %s documents, want 1", got)
		}
		_, err := s.Create(t, receipt(s, 10, s.Line(0, 1000, 100)))
		refused := wantRefusal(t, err, posting.ControlClosed)
		if hint := "unpost the close of 2025-03"; !strings.Contains(refused.Message, hint) {
			t.Errorf("%q does not say %q", refused.Message, hint)
		}
		wantRefusal(t, s.Unpost(before), posting.ControlClosed)
		s.Post(t, receipt(s, 32, s.Line(0, 1000, 100)))
		if err := s.Unpost(closing); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, s.Unpost(before), "")
		s.Clean(t)
	})
}

// An issue took what came on day 2. Then a receipt of day 1 is entered: what the issue costs is restored.
func TestRestoringPutsCostsInTheOrderOfTime(t *testing.T) {
	for name, manner := range map[string]posting.Manner{
		"InMemory": {}, "Classic": {Classic: true}, "ClassicWide": {Classic: true, Wide: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := platformtest.Open(t, posting.Lean)
			s.Post(t, receipt(s, 2, s.Line(0, 5000, 1000)))
			s.Post(t, issue(s, 10, s.Line(0, 5000, 0)))
			s.Post(t, receipt(s, 1, s.Line(0, 4000, 400)))
			const cost = "SELECT cost FROM doc_issue"
			if got := s.Value(t, cost); got != "10.00" {
				t.Fatalf("before: %s", got)
			}
			done, err := s.Books.Restore(t.Context(), restoration(s, manner))
			if err != nil {
				t.Fatal(err)
			}
			if done.Keys != 1 || done.Documents != 1 || done.Changed != 1 || done.Short != 0 {
				t.Errorf("done %+v", done)
			}
			if got := s.Value(t, cost); got != "6.00" { // 4 of 1.00 and 1 of 2.00
				t.Errorf("restored: %s, want 6.00", got)
			}
			if got := s.Value(t, "SELECT count(*) FROM acc_batches_boundary"); got != "0" {
				t.Errorf("%s boundaries are left", got)
			}
			s.Clean(t)
		})
	}
}

func restoration(s *platformtest.Shop, manner posting.Manner) posting.Restoration {
	keys := rowset.New(s.App.Register(platformtest.Batches).Leading(), 1)
	keys.Append(s.Shelf, s.Goods[0])
	return posting.Restoration{
		Register: platformtest.Batches, Organisation: s.Organisation, Keys: keys, How: manner,
		Locks: register.Locks(s.App.Register(platformtest.Batches), s.Organisation, keys),
	}
}

func TestTotalsAreRecalculatedFromMovements(t *testing.T) {
	s := platformtest.Open(t, posting.Lean)
	s.Post(t, receipt(s, 1, s.Line(0, 5000, 1000)))
	s.Exec(t, "UPDATE acc_stock_totals SET quantity = 7")
	if _, err := s.Books.Recalculate(t.Context(), platformtest.Stock); err != nil {
		t.Fatal(err)
	}
	s.Clean(t)
}

// BenchmarkCreate posts receipts and issues of three lines, with the round trips of a strategy.
func BenchmarkCreate(b *testing.B) {
	for _, strategy := range []posting.Strategy{posting.Lean, posting.Classic} {
		b.Run(string(strategy), func(b *testing.B) {
			s := platformtest.Open(b, strategy)
			lines := func(sum amount.Money) []platformtest.Line {
				return []platformtest.Line{s.Line(0, 1000, sum), s.Line(1, 2000, sum), s.Line(2, 3000, sum)}
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Post(b, receipt(s, 1, lines(100)...))
				s.Post(b, issue(s, 2, lines(0)...))
			}
		})
	}
}
