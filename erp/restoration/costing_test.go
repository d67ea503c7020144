package restoration_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/erp/restoration"
	"plimsoll/platform/worker/server"
)

// Every type of document that takes from layers gets the costs of the order of time, down to the cost of an asset
// made of stock.
func TestEveryTypeThatTakesFromLayersIsRestored(t *testing.T) {
	c := erptest.New(t, 1)
	o := c.Organisations[0]
	u := erptest.Login(t, c.Worker(t, server.Config{}), o.User)
	lines := func(quantity, price string) []erptest.Line {
		return []erptest.Line{{Item: c.Items[0], Quantity: quantity, Price: price}}
	}
	for _, d := range []struct {
		kind   string
		fields erptest.Fields
	}{
		{"goods-receipt", erptest.Fields{"date": "2025-05-10T00:00:00Z", "warehouse": o.Warehouses[0],
			"counterparty": o.Counterparty, "contract": erptest.Contract(o.Counterparty),
			"lines": lines("20", "3.00")}},
		{"internal-consumption", erptest.Fields{"date": "2025-05-11T00:00:00Z", "warehouse": o.Warehouses[0],
			"department": o.Department, "expense_item": o.ExpenseItem, "lines": lines("4", "")}},
		{"asset-commissioning", erptest.Fields{"date": "2025-05-12T00:00:00Z", "asset": o.Assets[0],
			"department": o.Department, "warehouse": o.Warehouses[0], "lines": lines("3", "")}},
		{"goods-receipt", erptest.Fields{"date": "2025-05-01T00:00:00Z", "warehouse": o.Warehouses[0],
			"counterparty": o.Counterparty, "contract": erptest.Contract(o.Counterparty), "lines": lines("5", "1.00")}},
	} {
		if a := u.Post(t, d.kind, "", d.fields); a.Status != 201 {
			t.Fatalf("%s: %d %s", d.kind, a.Status, a.Body)
		}
	}
	const costs = `SELECT (SELECT cost FROM doc_internal_consumption) || ' ' ||
		(SELECT cost FROM doc_asset_commissioning) || ' ' || (SELECT total FROM doc_asset_commissioning)
		|| ' ' || (SELECT amount FROM acc_asset_costs_totals WHERE period = 'infinity')`
	if got := c.Value(t, costs); got != "12.00 9.00 9.00 9.00" {
		t.Fatalf("before: %s", got)
	}
	again := saved(t, c)
	for name, how := range manners {
		again()
		restore(t, c, 1, restoration.Options{How: how})
		if got := c.Value(t, costs); got != "4.00 7.00 7.00 7.00" {
			t.Errorf("%s: consumed, taken for the asset, its total, its register: %s", name, got)
		}
		erptest.Clean(t, c.Database)
	}
}
