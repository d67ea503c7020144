package sales_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/shape"
)

// However many layers a shape reads, it refuses with the same message: available is all stock that others have not
// reserved.
func TestAShortageSaysWhatIsAvailableOfAll(t *testing.T) {
	c := erptest.New(t, 1)
	for _, name := range shape.Names {
		t.Run(string(name), func(t *testing.T) {
			c.Clear(t, "plimsoll_number")
			s := c.BooksOf(t, name)
			n := 0
			document := func(quantity string) erptest.Document {
				return erptest.Document{Warehouse: c.Organisations[0].Warehouses[0],
					Counterparty: c.Organisations[0].Counterparty,
					Lines:        []erptest.Line{{Item: c.Items[0], Quantity: quantity}}}
			}
			post := func(kind, quantity string, of id.ID) (posting.Result, error) {
				n++
				d := s.Decode(t, kind, document(quantity))
				key := posting.Key{Author: c.Organisations[0].Author, Name: fmt.Sprint(n), Digest: []byte{1}}
				d.Posted = true
				if of.IsZero() {
					return s.Books.Create(t.Context(), d, key)
				}
				return s.Books.Change(t.Context(),
					posting.Change{Type: kind, Organisation: d.Organisation, Document: of, Content: d,
						State: posting.Posted}, key)
			}
			done := func(kind, quantity string, of id.ID) id.ID {
				t.Helper()
				made, err := post(kind, quantity, of)
				if err != nil {
					t.Fatalf("%s of %s: %v", kind, quantity, err)
				}
				return made.ID
			}
			short := func(kind, quantity, available string, of id.ID) {
				t.Helper()
				_, err := post(kind, quantity, of)
				var no *posting.Refusal
				if want := "not enough stock of Item 0: " + available + " available, " + quantity +
					" required"; !errors.As(err, &no) || no.Message != want {
					t.Errorf("%s of %s: %v, want %s", kind, quantity, err, want)
				}
			}
			for range 3 {
				done(books.GoodsReceipt, "5.000", id.ID{})
			}
			done(books.CustomerOrder, "6.000", id.ID{})
			short(books.GoodsSale, "9.001", "9.000", id.ID{})
			short(books.GoodsSale, "15.001", "9.000", id.ID{})
			sale := done(books.GoodsSale, "4.000", id.ID{})
			short(books.GoodsSale, "5.001", "5.000", id.ID{})
			short(books.GoodsSale, "9.001", "9.000", sale) // its own are there to be taken again
			done(books.GoodsSale, "8.000", sale)
			short(books.GoodsSale, "2.000", "1.000", id.ID{})
			done(books.GoodsSale, "1.000", id.ID{})
			short(books.GoodsSale, "0.001", "0.000", id.ID{})
			done(books.GoodsSale, "0.500", sale)
			erptest.Clean(t, c.Database)
		})
	}
}

// A sale costs what its layers cost: within the first layer, across its end, and in a layer that another sale has
// returned.
func TestASaleTakesTheOldestLayersWhateverBecameOfThem(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	dated := func(kind, date, quantity, price string) erptest.Answer {
		t.Helper()
		doc := d.Goods(quantity)
		doc.Date, doc.Lines[0].Price = date+"T12:00:00Z", price
		a := d.Post(t, kind, "", doc)
		a.Want(t, kind, 201, "")
		return a
	}
	cost := func(what string, a erptest.Answer, want string) {
		t.Helper()
		if got := d.Value(t, "SELECT cost FROM doc_goods_sale WHERE id = $1", a.ID); got != want {
			t.Errorf("%s: cost %s, want %s", what, got, want)
		}
	}
	receipts := map[string]erptest.Answer{}
	for _, r := range [][3]string{{"2025-03-01", "2", "10"}, {"2025-03-02", "3", "20"}, {"2025-03-03", "50", "30"}} {
		receipts[r[0]] = dated("goods-receipt", r[0], r[1], r[2])
	}
	first := dated("goods-sale", "2025-03-10", "2", "")
	cost("the first layer to its end", first, "20.00")
	second := dated("goods-sale", "2025-03-11", "4", "")
	cost("across the end of the next", second, "90.00")
	d.Unpost(t, "goods-sale", first.ID).Want(t, "unpost", 200, "")
	third := dated("goods-sale", "2025-03-12", "3", "")
	cost("what was given back, and then the third", third, "50.00")
	d.Repost(t, "goods-sale", second.ID).Want(t, "repost", 200, "")
	cost("reposted from its own layers, used up since", second, "90.00")
	moved := d.Goods("50")
	moved.Date, moved.Lines[0].Price = "2025-02-28T12:00:00Z", "30"
	d.Change(t, "/v1/documents/goods-receipt/"+receipts["2025-03-03"].ID.String(), 1, moved).Want(t,
		"move the third receipt before the others", 200, "")
	dated("goods-receipt", "2025-03-04", "1", "99")
	dated("goods-receipt", "2025-02-27", "1", "5")
	fourth := dated("goods-sale", "2025-03-13", "2", "")
	cost("by the dates that receipts have now", fourth, "35.00")
	erptest.Clean(t, d.Database)
}

// The first sale has read its balance and waits, in the middle of writing, for the ledger that the test holds; the
// second one wants the same goods. Whatever it reads before the first has ended is stale.
func TestASaleReadsItsBalanceBehindTheSaleBeforeIt(t *testing.T) {
	c := erptest.New(t, 1)
	bases := c.Mixed(t)
	s := c.Stock(t, bases[0], 10)
	users := c.Posters(t, bases, 2)
	d := erptest.Document{Warehouse: s.Warehouse, Counterparty: c.Organisations[0].Counterparty,
		Lines: []erptest.Line{{Item: c.Items[0], Quantity: "7"}}}
	first, second := make(chan erptest.Answer, 1), make(chan erptest.Answer, 1)
	c.HoldLedger(t, func() {
		go func() { first <- users[0].Post(t, "goods-sale", "", d) }()
		c.Blocked(t, 1)
		go func() { second <- users[1].Post(t, "goods-sale", "", d) }()
		c.Blocked(t, 2)
	})
	if a, b := <-first, <-second; a.Status != 201 || b.Status != 409 {
		t.Errorf("first %d %s, second %d %s", a.Status, a.Body, b.Status, b.Body)
	}
	erptest.Clean(t, c.Database)
}

// An unposting that waits in the middle of writing has taken the goods already: a sale must not see them, nor the
// other way round.
func TestASaleAndAnUnpostingReadBehindEachOther(t *testing.T) {
	for name, saleFirst := range map[string]bool{"TheSaleFirst": true, "TheUnpostingFirst": false} {
		t.Run(name, func(t *testing.T) {
			c := erptest.New(t, 1)
			users := c.Posters(t, c.Mixed(t), 2)
			d := erptest.Document{Warehouse: c.Organisations[0].Warehouses[0],
				Counterparty: c.Organisations[0].Counterparty, Lines: []erptest.Line{{Item: c.Items[0], Quantity: "7"}}}
			receipt := users[0].Post(t, "goods-receipt", "", d)
			calls := []func() erptest.Answer{
				func() erptest.Answer {
					return users[0].Call(t, "POST", "/v1/documents/goods-receipt/"+receipt.ID.String()+"/unpost", "",
						nil)
				},
				func() erptest.Answer { return users[1].Post(t, "goods-sale", "", d) },
			}
			if saleFirst {
				slices.Reverse(calls)
			}
			first, second := make(chan erptest.Answer, 1), make(chan erptest.Answer, 1)
			c.HoldLedger(t, func() {
				go func() { first <- calls[0]() }()
				c.Blocked(t, 1)
				go func() { second <- calls[1]() }()
				c.Blocked(t, 2)
			})
			if a, b := <-first, <-second; a.Status > 201 || b.Status != 409 {
				t.Errorf("first %d %s, second %d %s", a.Status, a.Body, b.Status, b.Body)
			}
			erptest.Clean(t, c.Database)
		})
	}
}
