package restoration_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// history writes documents at random, many of them back-dated, some changed or unposted.
type history struct {
	*erptest.Company
	books   *posting.Books
	rng     *rand.Rand
	written []posting.Change
}

const items = 5

func newHistory(t *testing.T, seed uint64) *history {
	c := erptest.New(t, items)
	return &history{c, posting.New(c.Database, erp.Metadata(), erp.Rules()), rand.New(rand.NewPCG(seed, 1)), nil}
}

// newUser writes into the same books at the same time, first of all into what the history has written.
func newUser(h *history, seed uint64) *history {
	return &history{h.Company, h.books, rand.New(rand.NewPCG(seed, 2)), slices.Clone(h.written)}
}

var today = time.Date(2025, 6, 15, 12, 0, 0, 0, time.UTC)

func (h *history) write(t *testing.T, operations int) {
	t.Helper()
	for range operations {
		var err error
		switch n := h.rng.IntN(10); {
		case n < 7 || len(h.written) == 0:
			err = h.create(t, h.draw())
		case n < 9:
			c := h.written[h.rng.IntN(len(h.written))]
			c.Content = h.content(c.Type, c.Organisation)
			_, err = h.books.Change(t.Context(), c, h.key())
		default:
			c := h.written[h.rng.IntN(len(h.written))]
			c.State = []posting.State{posting.Posted, posting.Unposted}[h.rng.IntN(2)]
			_, err = h.books.Change(t.Context(), c, h.key())
		}
		var refused *posting.Refusal
		if err != nil && !errors.As(err, &refused) {
			t.Error(err)
		}
	}
}

func (h *history) key() posting.Key { // of a job
	return posting.Key{Name: id.New().String(), Digest: []byte{1}}
}

func (h *history) create(t *testing.T, d *document.Document) error {
	r, err := h.books.Create(t.Context(), d, h.key())
	if err == nil {
		h.written = append(h.written, posting.Change{Type: d.Meta.Name, Organisation: d.Organisation, Document: r.ID})
	}
	return err
}

func (h *history) draw() *document.Document {
	organisation := h.Organisations[h.rng.IntN(4)/3]
	d := h.content([]string{books.GoodsReceipt, books.GoodsSale}[h.rng.IntN(2)], organisation.ID)
	d.Organisation, d.Author, d.Posted = organisation.ID, organisation.Author, h.rng.IntN(8) > 0
	return d
}

func (h *history) content(kind string, organisation id.ID) *document.Document {
	meta, _ := erp.Metadata().Document(kind)
	d, of := document.New(meta), h.Organisations[0]
	if organisation == h.Organisations[1].ID {
		of = h.Organisations[1]
	}
	d.Date = today.AddDate(0, 0, -h.rng.IntN(70))
	if h.rng.IntN(4) == 0 {
		d.Date = today.AddDate(0, 0, -3) // several of one moment
	}
	rowset.Column[id.ID](d.Header, "warehouse")[0] = of.Warehouses[h.rng.IntN(3)/2]
	rowset.Column[id.ID](d.Header, "counterparty")[0], rowset.Column[id.ID](d.Header, "contract")[0] = of.Counterparty,
		erptest.Contract(of.Counterparty)
	lines, most := d.Section("lines"), 5000
	if kind == books.GoodsSale {
		most = 2500
	}
	for range 1 + h.rng.IntN(4) {
		row := lines.Grow(1)
		rowset.Column[id.ID](lines, "item")[row] = h.Items[h.rng.IntN(items)]
		rowset.Column[amount.Quantity](lines, "quantity")[row] = amount.Quantity(1 + h.rng.IntN(most))
		rowset.Column[amount.Money](lines, "price")[row] = amount.Money(1 + h.rng.IntN(1000))
	}
	return d
}
