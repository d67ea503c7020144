package platformtest

import (
	"context"
	"testing"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

// Shop is the application on a fresh database, with one organisation.
type Shop struct {
	*databasetest.Test
	App          *metadata.Application
	Books        *posting.Books
	Organisation id.ID
	Shelf        id.ID
	Goods        [3]id.ID
}

// Open creates a shop that posts with a strategy. TestMain of the test's package must call databasetest.Main.
func Open(t testing.TB, strategy posting.Strategy) *Shop {
	t.Helper()
	s := &Shop{Test: schematest.Open(t), App: Application(), Organisation: id.New()}
	if err := schema.Migrate(context.Background(), s.Database, s.App); err != nil {
		t.Fatal(err)
	}
	books, err := posting.New(s.Database, s.App, Rules(s.App)).With(strategy)
	if err != nil {
		t.Fatal(err)
	}
	s.Books, s.Shelf = books, s.element(t, "shelves", "S0")
	for n := range s.Goods {
		s.Goods[n] = s.element(t, "goods", string(rune('A'+n)))
	}
	return s
}

func (s *Shop) element(t testing.TB, catalog, code string) id.ID {
	t.Helper()
	v := id.New()
	s.Exec(t, "INSERT INTO cat_"+catalog+" (id, organisation, code, name) VALUES ($1, $2, $3, $3)", v, s.Organisation,
		code)
	return v
}

// Day n of March 2025, at noon.
func Day(n int) time.Time { return time.Date(2025, 3, n, 12, 0, 0, 0, time.UTC) }

// Line of a document. An issue has no amount.
type Line struct {
	Goods    id.ID
	Quantity amount.Quantity
	Amount   amount.Money
}

// Line of the goods with this index.
func (s *Shop) Line(goods int, quantity amount.Quantity, sum amount.Money) Line {
	return Line{Goods: s.Goods[goods], Quantity: quantity, Amount: sum}
}

// Document creates a document with its lines, to be posted.
func (s *Shop) Document(kind string, date time.Time, lines ...Line) *document.Document {
	meta, _ := s.App.Document(kind)
	d := document.New(meta)
	d.Organisation, d.Date, d.Posted = s.Organisation, date, true
	if len(lines) > 0 {
		rowset.Column[id.ID](d.Header, "shelf")[0] = s.Shelf
	}
	for _, l := range lines {
		d.Section("lines").Append(l.Goods, l.Quantity, l.Amount)
	}
	return d
}

// Create posts a document.
func (s *Shop) Create(t testing.TB, d *document.Document) (posting.Result, error) {
	t.Helper()
	return s.Books.Create(context.Background(), d, Key())
}

// Post creates and posts a document; a refusal fails the test.
func (s *Shop) Post(t testing.TB, d *document.Document) *document.Document {
	t.Helper()
	if _, err := s.Create(t, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Unpost unposts a document.
func (s *Shop) Unpost(d *document.Document) error {
	_, err := s.Books.Change(context.Background(), posting.Change{Type: d.Meta.Name, Organisation: d.Organisation,
		Document: d.ID, State: posting.Unposted}, Key())
	return err
}

// Key returns a new idempotency key.
func Key() posting.Key {
	return posting.Key{Author: id.ID{1}, Name: id.New().String(), Digest: []byte{1}}
}

// Audit checks all invariants of the books.
func (s *Shop) Audit(t testing.TB, options audit.Options) audit.Report {
	t.Helper()
	report, err := audit.Run(context.Background(), s.Database, s.App, audit.Invariants(s.App), options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Clean fails the test unless all invariants hold.
func (s *Shop) Clean(t testing.TB) {
	t.Helper()
	for _, c := range s.Audit(t, audit.Options{}).Checks {
		for _, v := range c.Examples {
			t.Errorf("%s: %s: %s, not %s", c.Invariant, v.Where(), v.Found, v.Expected)
		}
	}
}
