package erp_test

import (
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/openapi/openapitest"
)

// Whatever a document refers to, states, reserves and settles: what it needs is read in one round trip, and what
// follows is written in another.
func TestANewDocumentTakesTwoRoundTripsAndAChangeThree(t *testing.T) {
	d := erptest.NewDesk(t, 3)
	d.Post(t, "goods-receipt", "", d.Goods("100"))
	order := d.Post(t, "customer-order", "", d.Goods("5"))
	bought := d.Post(t, "supplier-order", "", d.Goods("5"))
	poster := posting.New(d.Database, erp.Metadata(), erp.Rules())
	for _, c := range []struct {
		kind string
		body func(*testing.T) []byte
	}{
		{books.GoodsSale, func(t *testing.T) []byte { return openapitest.JSON(t, d.GoodsByOrder(order.ID, "2")) }},
		{books.GoodsReceipt, func(t *testing.T) []byte {
			doc := d.GoodsByOrder(bought.ID, "2")
			doc.SupplierNumber = id.New().String()
			return openapitest.JSON(t, doc)
		}},
		{books.CustomerOrder, func(t *testing.T) []byte { return openapitest.JSON(t, d.Goods("1")) }},
	} {
		t.Run(c.kind, func(t *testing.T) {
			meta, _ := erp.Metadata().Document(c.kind)
			author := d.Org.Author
			var made posting.Result
			for n := range 2 { // the first one also draws a block of numbers
				doc, err := document.Decode(meta, c.body(t), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				doc.Organisation, doc.Author, doc.Posted = d.Org.ID, author, true
				ctx, counters := database.WithCounters(t.Context())
				made, err = poster.Create(ctx, doc,
					posting.Key{Author: author, Name: id.New().String(), Digest: []byte{1}})
				if err != nil || n > 0 && counters.RoundTrips != 2 {
					t.Errorf("%d round trips, %v", counters.RoundTrips, err)
				}
			}
			ctx, counters := database.WithCounters(t.Context())
			change := posting.Change{Type: c.kind, Organisation: d.Org.ID, Document: made.ID, State: posting.Posted}
			if _, err := poster.Change(ctx, change,
				posting.Key{Author: author, Name: id.New().String(), Digest: []byte{1}}); err != nil ||
				counters.RoundTrips != 3 {
				t.Errorf("reposted in %d round trips, %v", counters.RoundTrips, err)
			}
		})
	}
}
