package erp_test

import (
	"errors"
	"fmt"
	"testing"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
	"plimsoll/platform/shape"
)

// However many layers a shape reads, it refuses the same and says the same: what is available is all that there is,
// but for what others have reserved.
func TestAShortageSaysWhatIsAvailableOfAll(t *testing.T) {
	c := erptest.New(t, 1)
	for _, name := range shape.Names {
		t.Run(string(name), func(t *testing.T) {
			c.Clear(t, "plimsoll_number")
			s := booksOf(t, c, name)
			n := 0
			document := func(quantity string) erptest.Document {
				return erptest.Document{Warehouse: c.Organisations[0].Warehouses[0],
					Counterparty: c.Organisations[0].Counterparty,
					Lines:        []erptest.Line{{Item: c.Items[0], Quantity: quantity}}}
			}
			post := func(kind, quantity string, of id.ID) (posting.Result, error) {
				n++
				d := s.decode(t, kind, document(quantity))
				key := posting.Key{Author: c.Organisations[0].ID, Name: fmt.Sprint(n), Digest: []byte{1}}
				d.Posted = true
				if of.IsZero() {
					return s.books.Create(t.Context(), d, key)
				}
				return s.books.Change(t.Context(),
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

// What sales cost is what the layers cost that they take: within the first, across its end, of what another has given
// back.
func TestASaleTakesTheOldestLayersWhateverBecameOfThem(t *testing.T) {
	d := sit(t, 1)
	dated := func(kind, date, quantity, price string) erptest.Answer {
		t.Helper()
		doc := d.document(quantity)
		doc.Date, doc.Lines[0].Price = date+"T12:00:00Z", price
		a := d.Post(t, kind, "", doc)
		want(t, kind, a, 201, "")
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
	want(t, "unpost", d.unpost(t, "goods-sale", first), 200, "")
	third := dated("goods-sale", "2025-03-12", "3", "")
	cost("what was given back, and then the third", third, "50.00")
	want(t, "post anew", d.Call(t, "POST", "/v1/documents/goods-sale/"+second.ID.String()+"/post", "", nil), 200, "")
	cost("posted anew from its own layers, used up since", second, "90.00")
	moved := d.document("50")
	moved.Date, moved.Lines[0].Price = "2025-02-28T12:00:00Z", "30"
	want(t, "move the third receipt before the others",
		d.Change(t, "/v1/documents/goods-receipt/"+receipts["2025-03-03"].ID.String(), 1, encode(t, moved)), 200, "")
	dated("goods-receipt", "2025-03-04", "1", "99")
	dated("goods-receipt", "2025-02-27", "1", "5")
	fourth := dated("goods-sale", "2025-03-13", "2", "")
	cost("by the dates that receipts have now", fourth, "35.00")
	erptest.Clean(t, d.Database)
}
