package erp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/worker/openapi/openapitest"
)

func TestTheLifeOfADocument(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	receipt := d.Draft(t, "goods-receipt", d.Goods("10"))
	receipt.Want(t, "write", 201, "")
	path := "/v1/documents/goods-receipt/" + receipt.ID.String()
	moved := func(what, count string) {
		t.Helper()
		if got := d.Value(t, "SELECT (SELECT count(*) FROM acc_stock WHERE recorder = $1) || ' ' || (SELECT "+
			"count(*) FROM gl_general WHERE recorder = $1)", receipt.ID); got != count {
			t.Errorf("%s: %s movements and entries, want %s", what, got, count)
		}
	}
	moved("written", "0 0")
	d.Post(t, "goods-sale", "", d.Goods("1")).Want(t, "sell what has not come", 409, "refused")
	d.Call(t, "POST", path+"/post", "", nil).Want(t, "post", 200, "")
	moved("posted", "1 2")
	sale := d.Post(t, "goods-sale", "", d.Goods("4"))
	sale.Want(t, "sell", 201, "")
	d.Call(t, "POST", path+"/unpost", "", nil).Want(t, "unpost what has been sold", 409, "refused")
	d.Change(t, path, 2, d.Goods("3.999")).Want(t, "take away what has been sold", 409, "refused")
	elsewhere := d.Goods("10")
	elsewhere.Warehouse = d.Org.Warehouses[1]
	d.Change(t, path, 2, elsewhere).Want(t, "move elsewhere what has been sold", 409, "refused")
	d.Change(t, path, 2, d.Goods("4")).Want(t, "leave what has been sold", 200, "")
	d.Unpost(t, "goods-sale", sale.ID).Want(t, "unpost the sale", 200, "")
	d.Call(t, "POST", path+"/unpost", "", nil).Want(t, "unpost", 200, "")
	moved("unposted", "0 0")
	if got := d.Value(t, "SELECT count(*) FROM acc_stock_totals WHERE quantity <> 0 OR amount <> 0"); got != "0" {
		t.Errorf("%s totals are left", got)
	}
	card := d.Call(t, "GET", path, "", nil)
	var shown struct {
		Posted  bool
		Version int64
	}
	if json.Unmarshal(card.Body, &shown) != nil || shown.Posted || shown.Version != 4 {
		t.Errorf("card: %s", card.Body)
	}
	erptest.Clean(t, d.Database)
}

// Reposting writes nothing of the record sets that stay the same.
func TestOnlyDifferencesAreRewritten(t *testing.T) {
	d := erptest.NewDesk(t, 3)
	receipt := erptest.Document{Warehouse: d.Org.Warehouses[0], Counterparty: d.Org.Counterparty,
		Date: "2025-03-01T10:00:00Z"}
	for _, item := range d.Items {
		receipt.Lines = append(receipt.Lines, erptest.Line{Item: item, Quantity: "5"})
	}
	a := d.Post(t, "goods-receipt", "", receipt)
	path := "/v1/documents/goods-receipt/" + a.ID.String()
	const rows = "SELECT string_agg(line || ' ' || xmin, ',' ORDER BY line) FROM acc_stock"
	before := d.Value(t, rows)
	d.Call(t, "POST", path+"/post", "", nil).Want(t, "repost", 200, "")
	if after := d.Value(t, rows); after != before {
		t.Errorf("movements were rewritten: %s, then %s", before, after)
	}
	receipt.Lines[1].Quantity = "6"
	d.Change(t, path, 2, receipt).Want(t, "change a line", 200, "")
	const others = "SELECT string_agg(line || ' ' || xmin, ',' ORDER BY line) FROM (SELECT line, xmin::text FROM " +
		"acc_stock WHERE line <> 2 UNION ALL SELECT line + 10, xmin::text FROM doc_goods_receipt_lines WHERE line " +
		"<> 2) r"
	kept := d.Value(t, others)
	receipt.Lines = receipt.Lines[:2]
	d.Change(t, path, 3, receipt).Want(t, "take the last line out", 200, "")
	if got := d.Value(t, "SELECT count(*) || ' of ' || (SELECT count(*) FROM doc_goods_receipt_lines) "+
		"FROM acc_stock"); got != "2 of 2" || kept == d.Value(t, others) {
		t.Errorf("%s lines", got)
	}
	if got := d.Value(t, "SELECT min(line || ' ' || xmin) FROM acc_stock"); got != before[:len(got)] {
		t.Errorf("the first line was rewritten: %s, it was %s", got, before)
	}
	erptest.Clean(t, d.Database)
}

func TestADocumentIsChangedByWhoSawItAndMay(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	a := d.Post(t, "goods-receipt", "first", d.Goods("10"))
	path, body := "/v1/documents/goods-receipt/"+a.ID.String(), openapitest.JSON(t, d.Goods("9"))
	d.Call(t, "PUT", path, "", body).Want(t, "without a version", 400, "invalid")
	for _, version := range []int64{-1, 0} {
		d.Change(t, path, version, body).Want(t, "with no version", 400, "invalid")
	}
	d.Change(t, path, 2, body).Want(t, "with a version to come", 412, "changed")
	d.Change(t, path, 1, body).Want(t, "with the version", 200, "")
	d.Change(t, path, 1, body).Want(t, "with the version before", 412, "changed")
	d.Call(t, "POST", path+"/post", "", body).Want(t, "with a body where none belongs", 400, "invalid")
	d.Change(t, path+"?post=maybe", 2, body).Want(t, "with a state that is none", 400, "invalid")
	d.Unpost(t, "goods-sale", a.ID).Want(t, "another type", 404, "not_found")
	d.Call(t, "POST", "/v1/documents/goods-sale/1/unpost", "", nil).Want(t, "no id", 404, "not_found")
	d.Call(t, "POST", path+"/unpost", "first", nil).Want(t, "a key used", 422, "key_reused")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	theirs := erptest.Document{Warehouse: d.Organisations[1].Warehouses[0],
		Counterparty: d.Organisations[1].Counterparty, Lines: d.Goods("1").Lines}
	stranger.Change(t, path, 2, theirs).Want(t, "their change", 404, "not_found")
	stranger.Call(t, "POST", path+"/unpost", "", nil).Want(t, "their unposting", 404, "not_found")
	d.Change(t, path, 2, theirs).Want(t, "what is ours in theirs", 400, "invalid")
	if got := d.Value(t, "SELECT version || ' ' || posted FROM doc_goods_receipt"); got != "2 true" {
		t.Errorf("the document is now %s", got)
	}
	erptest.Clean(t, d.Database)
}

// Many sessions change, repost, unpost and sell from the same few documents at once, on two workers.
func TestConcurrentEditorsLoseNothingAndDoNotDeadlock(t *testing.T) {
	c := erptest.New(t, 5)
	bases := c.Mixed(t)
	s := c.Stock(t, bases[0], 30)
	users := c.Posters(t, bases, 60)
	var shared []string
	for n := range 6 {
		kind := []string{"goods-receipt", "goods-sale"}[n%2]
		a := users[0].Post(t, kind, "", s.Sale(rand.New(rand.NewPCG(2, uint64(n))), 3))
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		shared = append(shared, "/v1/documents/"+kind+"/"+a.ID.String())
	}
	var outcomes erptest.Outcomes
	erptest.Together(users, func(n int, u *erptest.User, rng *rand.Rand) {
		for range 4 {
			path := shared[rng.IntN(len(shared))]
			var a erptest.Answer
			switch rng.IntN(5) {
			case 0:
				a = u.Call(t, "POST", path+"/unpost", "", nil)
			case 1:
				a = u.Call(t, "POST", path+"/post", "", nil)
			case 2, 3:
				var card struct{ Version int64 }
				_ = json.Unmarshal(u.Call(t, "GET", path, "", nil).Body, &card)
				d := s.Sale(rng, 4)
				d.Date = fmt.Sprintf("2025-%02d-11T00:00:00Z", 1+rng.IntN(3))
				a = u.Change(t, path, card.Version, d)
			case 4:
				a = u.Post(t, "goods-sale", "", s.Sale(rng, 3))
			}
			outcomes.Count(t, a)
		}
	})
	if outcomes.WantContended(t, 1); outcomes.Stale.Load() == 0 {
		t.Error("no editor came too late")
	}
	c.WantNoDeadlock(t)
	erptest.Clean(t, c.Database)
}
