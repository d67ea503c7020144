package erp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
	"plimsoll/platform/server"
)

// refused checks that a control said no.
func refused(t *testing.T, what string, a erptest.Answer, control string) {
	t.Helper()
	var said struct {
		Error struct{ Control struct{ ID string } }
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || a.Status != 409 || said.Error.Control.ID != control {
		t.Errorf("%s: %d %s, want a refusal by %s", what, a.Status, a.Body, control)
	}
}

func (d desk) by(order id.ID, quantity string) erptest.Document {
	doc := d.document(quantity)
	doc.Order = order
	return doc
}

func (d desk) unpost(t *testing.T, kind string, a erptest.Answer) erptest.Answer {
	t.Helper()
	return d.Call(t, "POST", "/v1/documents/"+kind+"/"+a.ID.String()+"/unpost", "", nil)
}

func TestACustomerOrderReservesUntilItIsSold(t *testing.T) {
	d := sit(t, 2)
	receipt := d.Post(t, "goods-receipt", "", d.document("10"))
	want(t, "receive", receipt, 201, "")
	order := d.Post(t, "customer-order", "", d.document("6"))
	want(t, "order", order, 201, "")
	refused(t, "order more than is free", d.Post(t, "customer-order", "", d.document("4.001")), "stock")
	refused(t, "sell more than is free", d.Post(t, "goods-sale", "", d.document("4.001")), "stock")
	refused(t, "take back what is reserved", d.unpost(t, "goods-receipt", receipt), "stock")
	want(t, "sell what is free", d.Post(t, "goods-sale", "", d.document("4")), 201, "")
	refused(t, "sell more than was ordered", d.Post(t, "goods-sale", "", d.by(order.ID, "6.001")), "customer_orders")
	sale := d.Post(t, "goods-sale", "", d.by(order.ID, "2"))
	want(t, "sell what is reserved", sale, 201, "")
	const open = "SELECT t.quantity || ' ' || t.reserved || ' ' || r.quantity FROM acc_customer_orders_totals t, " +
		"acc_reserves_totals r WHERE t.period = 'infinity' AND r.period = 'infinity'"
	if got := d.Value(t, open); got != "4.000 4.000 4.000" {
		t.Errorf("open, reserved for the order, reserved in all: %s", got)
	}
	refused(t, "unpost an order that has been sold by", d.unpost(t, "customer-order", order), "customer_orders")
	want(t, "post the order anew", d.Call(t, "POST", "/v1/documents/customer-order/"+order.ID.String()+"/post", "",
		nil), 200, "")
	want(t, "unpost the sale", d.unpost(t, "goods-sale", sale), 200, "")
	if got := d.Value(t, open); got != "6.000 6.000 6.000" {
		t.Errorf("after the sale has been taken back: %s", got)
	}
	want(t, "unpost the order", d.unpost(t, "customer-order", order), 200, "")
	refused(t, "sell by an order that is not posted", d.Post(t, "goods-sale", "", d.by(order.ID, "1")), "order")
	want(t, "sell what was reserved", d.Post(t, "goods-sale", "", d.document("6")), 201, "")
	erptest.Clean(t, d.Database)
}

func TestAReceiptByOrderIsNotAboveIt(t *testing.T) {
	d := sit(t, 2)
	order := d.Post(t, "supplier-order", "", d.document("6"))
	want(t, "order", order, 201, "")
	refused(t, "receive more", d.Post(t, "goods-receipt", "", d.by(order.ID, "6.001")), "supplier_orders")
	other := d.by(order.ID, "1")
	other.Lines[0].Item = d.Items[1]
	refused(t, "receive something else", d.Post(t, "goods-receipt", "", other), "supplier_orders")
	receipt := d.Post(t, "goods-receipt", "", d.by(order.ID, "4"))
	want(t, "receive a part", receipt, 201, "")
	refused(t, "receive more than the rest", d.Post(t, "goods-receipt", "", d.by(order.ID, "2.001")), "supplier_orders")
	want(t, "make it all of the order", d.Change(t, "/v1/documents/goods-receipt/"+receipt.ID.String(), 1,
		encode(t, d.by(order.ID, "6"))), 200, "")
	refused(t, "unpost the order", d.unpost(t, "supplier-order", order), "supplier_orders")
	erptest.Clean(t, d.Database)
}

func TestADocumentReferredToMustBeThereAndFit(t *testing.T) {
	d := sit(t, 1)
	d.Post(t, "goods-receipt", "", d.document("10"))
	order := d.Post(t, "customer-order", "", d.document("6"))
	want(t, "no document", d.Post(t, "goods-sale", "", d.by(id.New(), "1")), 400, "invalid")
	want(t, "a document of another type", d.Post(t, "goods-receipt", "", d.by(order.ID, "1")), 400, "invalid")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	theirs := erptest.Document{Warehouse: d.Organisations[1].Warehouses[0],
		Counterparty: d.Organisations[1].Counterparty, Order: order.ID, Lines: d.document("1").Lines}
	want(t, "a document of another organisation", stranger.Post(t, "goods-sale", "", theirs), 400, "invalid")
	elsewhere := d.by(order.ID, "1")
	elsewhere.Warehouse = d.o.Warehouses[1]
	want(t, "another warehouse", d.Post(t, "goods-sale", "", elsewhere), 400, "invalid")
	partner, contract := id.New(), id.New()
	d.Exec(t, "INSERT INTO cat_counterparties (id, organisation, code, name) VALUES ($1, $2, 'C9', 'Other')", partner,
		d.o.ID)
	d.Exec(t, "INSERT INTO cat_contracts (id, organisation, code, name, counterparty, supplier) VALUES ($1, $2, "+
		"'D9', 'Other', $3, true)", contract, d.o.ID, partner)
	fields := func(counterparty id.ID) erptest.Fields {
		return erptest.Fields{"warehouse": d.o.Warehouses[0], "counterparty": counterparty, "contract": contract,
			"lines": d.document("1").Lines}
	}
	want(t, "the contract of another counterparty", d.Post(t, "goods-sale", "", fields(d.o.Counterparty)), 400,
		"invalid")
	want(t, "a contract of the other side", d.Post(t, "goods-sale", "", fields(partner)), 400, "invalid")
	want(t, "the contract of a supplier", d.Post(t, "goods-receipt", "", fields(partner)), 201, "")

	sale := d.Post(t, "goods-sale", "", d.by(order.ID, "1"))
	for _, path := range []string{"/v1/documents/goods-sale/" + sale.ID.String(), "/v1/documents/goods-sale?limit=1"} {
		if a := d.Call(t, "GET", path, "", nil); !strings.Contains(string(a.Body),
			`"source_order_number":"`+order.Number+`"`) {
			t.Errorf("%s does not show the number of the order: %s", path, a.Body)
		}
	}
	erptest.Clean(t, d.Database)
}

func TestASuppliersNumberComesOnce(t *testing.T) {
	d := sit(t, 1)
	numbered := func(number string) erptest.Document {
		doc := d.document("1")
		doc.SupplierNumber = number
		return doc
	}
	first := d.Post(t, "goods-receipt", "", numbered("A-1"))
	want(t, "the first", first, 201, "")
	refused(t, "the second", d.Post(t, "goods-receipt", "", numbered("A-1")), "supplier_numbers")
	refused(t, "an order of that number", d.Post(t, "supplier-order", "", numbered("A-1")), "supplier_numbers")
	want(t, "without a number", d.Post(t, "goods-receipt", "", numbered("")), 201, "")
	second := d.Post(t, "goods-receipt", "", numbered("A-2"))
	want(t, "another", second, 201, "")
	path := "/v1/documents/goods-receipt/" + second.ID.String()
	refused(t, "change to a number that is taken", d.Change(t, path, 1, encode(t, numbered("A-1"))), "supplier_numbers")
	want(t, "post anew", d.Call(t, "POST", path+"/post", "", nil), 200, "")
	want(t, "unpost the first", d.unpost(t, "goods-receipt", first), 200, "")
	want(t, "change to a number that is free", d.Change(t, path, 2, encode(t, numbered("A-1"))), 200, "")
	refused(t, "post the first again", d.Call(t, "POST", "/v1/documents/goods-receipt/"+first.ID.String()+"/post", "",
		nil), "supplier_numbers")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	theirs := erptest.Document{Warehouse: d.Organisations[1].Warehouses[0],
		Counterparty: d.Organisations[1].Counterparty, SupplierNumber: "A-1", Lines: d.document("1").Lines}
	want(t, "in another organisation", stranger.Post(t, "goods-receipt", "", theirs), 201, "")
	erptest.Clean(t, d.Database)
}

func TestTheCreditLimitOfAContractHolds(t *testing.T) {
	d := sit(t, 3) // item 2 costs 6.00 and has no VAT
	d.Exec(t, "UPDATE cat_contracts SET credit_limit = 60 WHERE id = $1", erptest.Contract(d.o.Counterparty))
	of := func(quantity string) erptest.Document {
		doc := d.document(quantity)
		doc.Lines[0].Item = d.Items[2]
		return doc
	}
	d.Post(t, "goods-receipt", "", of("100"))
	sale := d.Post(t, "goods-sale", "", of("7"))
	want(t, "within", sale, 201, "")
	refused(t, "beyond", d.Post(t, "goods-sale", "", of("3.01")), "credit")
	refused(t, "an order beyond", d.Post(t, "customer-order", "", of("3.01")), "credit")
	want(t, "the same sale made larger", d.Change(t, "/v1/documents/goods-sale/"+sale.ID.String(), 1,
		encode(t, of("10"))), 200, "")
	refused(t, "and too large", d.Change(t, "/v1/documents/goods-sale/"+sale.ID.String(), 2, encode(t, of("10.01"))),
		"credit")
	want(t, "take it back", d.unpost(t, "goods-sale", sale), 200, "")
	want(t, "up to the limit", d.Post(t, "goods-sale", "", of("10")), 201, "")
	erptest.Clean(t, d.Database)
}

// Everybody orders, sells by order and sells what is free of a few items, in a contract with a limit: whatever order
// they come in, nothing is sold twice.
func TestConcurrentOrdersAndSalesKeepReservesAndLimits(t *testing.T) {
	c := erptest.New(t, 3)
	bases := []string{c.Worker(t, server.Config{}), c.Worker(t, server.Config{})}
	s := stock(t, bases[0], c, 40)
	c.Exec(t, "UPDATE cat_contracts SET credit_limit = 700")
	var done, said atomic.Int64
	together(posters(t, c, bases, 40), func(n int, u *erptest.User, rng *rand.Rand) {
		for range 5 {
			order := u.Post(t, "customer-order", "", s.sale(rng, 3))
			d := s.sale(rng, 3)
			d.SupplierNumber = ""
			if order.Status == 201 && rng.IntN(3) > 0 {
				d.Order = order.ID
			}
			a := u.Post(t, "goods-sale", "", d)
			b := erptest.Answer{Status: 200}
			if order.Status == 201 && rng.IntN(2) == 0 {
				b = u.Call(t, "POST", fmt.Sprintf("/v1/documents/customer-order/%s/unpost", order.ID), "", nil)
			}
			for _, x := range []erptest.Answer{order, a, b} {
				switch x.Status {
				case 200, 201:
					done.Add(1)
				case 409:
					said.Add(1)
				default:
					t.Errorf("%d %s", x.Status, x.Body)
				}
			}
		}
	})
	if done.Load() < 50 || said.Load() < 50 {
		t.Errorf("%d done, %d refused: nothing was contended", done.Load(), said.Load())
	}
	if got := c.Value(t, "SELECT coalesce(max(amount), 0) <= 700 FROM acc_customer_settlements_totals WHERE period "+
		"= 'infinity'"); got != "true" {
		t.Error("the limit was exceeded")
	}
	if got := c.Value(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); got != "0" {
		t.Errorf("%s deadlocks", got)
	}
	erptest.Clean(t, c.Database)
}
