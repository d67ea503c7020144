package sales_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/worker/server"
)

func TestACustomerOrderReservesUntilItIsSold(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	receipt := d.Post(t, "goods-receipt", "", d.Goods("10"))
	receipt.Want(t, "receive", 201, "")
	order := d.Post(t, "customer-order", "", d.Goods("6"))
	order.Want(t, "order", 201, "")
	d.Post(t, "customer-order", "", d.Goods("4.001")).Refused(t, "order more than is free", "stock")
	d.Post(t, "goods-sale", "", d.Goods("4.001")).Refused(t, "sell more than is free", "stock")
	d.Unpost(t, "goods-receipt", receipt.ID).Refused(t, "unpost what is reserved", "stock")
	d.Post(t, "goods-sale", "", d.Goods("4")).Want(t, "sell what is free", 201, "")
	d.Post(t, "goods-sale", "", d.GoodsByOrder(order.ID, "6.001")).Refused(t, "sell more than was ordered",
		"customer_orders")
	sale := d.Post(t, "goods-sale", "", d.GoodsByOrder(order.ID, "2"))
	sale.Want(t, "sell what is reserved", 201, "")
	const open = "SELECT t.quantity || ' ' || t.reserved || ' ' || r.quantity FROM acc_customer_orders_totals t, " +
		"acc_reserves_totals r WHERE t.period = 'infinity' AND r.period = 'infinity'"
	if got := d.Value(t, open); got != "4.000 4.000 4.000" {
		t.Errorf("open, reserved for the order, reserved in all: %s", got)
	}
	d.Unpost(t, "customer-order", order.ID).Refused(t, "unpost an order that has been sold by", "customer_orders")
	d.Repost(t, "customer-order", order.ID).Want(t, "repost the order", 200, "")
	d.Unpost(t, "goods-sale", sale.ID).Want(t, "unpost the sale", 200, "")
	if got := d.Value(t, open); got != "6.000 6.000 6.000" {
		t.Errorf("after the sale was unposted: %s", got)
	}
	d.Unpost(t, "customer-order", order.ID).Want(t, "unpost the order", 200, "")
	d.Post(t, "goods-sale", "", d.GoodsByOrder(order.ID, "1")).Refused(t, "sell by an order that is not posted",
		"order")
	d.Post(t, "goods-sale", "", d.Goods("6")).Want(t, "sell what was reserved", 201, "")
	erptest.Clean(t, d.Database)
}

func TestTheCreditLimitOfAContractHolds(t *testing.T) {
	d := erptest.NewDesk(t, 3) // item 2 costs 6.00 and has no VAT
	d.Exec(t, "UPDATE cat_contracts SET credit_limit = 60 WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	of := func(quantity string) erptest.Document {
		doc := d.Goods(quantity)
		doc.Lines[0].Item = d.Items[2]
		return doc
	}
	d.Post(t, "goods-receipt", "", of("100"))
	sale := d.Post(t, "goods-sale", "", of("7"))
	sale.Want(t, "within", 201, "")
	d.Post(t, "goods-sale", "", of("3.01")).Refused(t, "beyond", "credit")
	d.Post(t, "customer-order", "", of("3.01")).Refused(t, "an order beyond", "credit")
	d.Change(t, "/v1/documents/goods-sale/"+sale.ID.String(), 1, of("10")).Want(t, "the same sale made larger", 200, "")
	d.Change(t, "/v1/documents/goods-sale/"+sale.ID.String(), 2, of("10.01")).Refused(t, "and too large", "credit")
	d.Unpost(t, "goods-sale", sale.ID).Want(t, "unpost it", 200, "")
	d.Post(t, "goods-sale", "", of("10")).Want(t, "up to the limit", 201, "")
	erptest.Clean(t, d.Database)
}

// Many users order a few items, sell by order and sell what is free, under a contract with a limit: nothing is sold
// twice.
func TestConcurrentOrdersAndSalesKeepReservesAndLimits(t *testing.T) {
	c := erptest.New(t, 3)
	bases := []string{c.Worker(t, server.Config{}), c.Worker(t, server.Config{})}
	s := c.Stock(t, bases[0], 40)
	c.Exec(t, "UPDATE cat_contracts SET credit_limit = 700")
	var outcomes erptest.Outcomes
	erptest.Together(c.Posters(t, bases, 40), func(n int, u *erptest.User, rng *rand.Rand) {
		for range 5 {
			order := u.Post(t, "customer-order", "", s.Sale(rng, 3))
			d := s.Sale(rng, 3)
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
				outcomes.Count(t, x)
			}
		}
	})
	outcomes.WantContended(t, 50)
	outcomes.WantNoneStale(t)
	if got := c.Value(t, "SELECT coalesce(max(amount), 0) <= 700 FROM acc_customer_settlements_totals WHERE period "+
		"= 'infinity'"); got != "true" {
		t.Error("the limit was exceeded")
	}
	c.WantNoDeadlock(t)
	erptest.Clean(t, c.Database)
}
