package warehouse_test

import (
	"strings"
	"testing"

	"plimsoll/erp/erptest"
)

// wantListed checks the work list that has so much to be carried, and nothing of a warehouse without cells.
func wantListed(t *testing.T, d erptest.Desk, report, quantity string) {
	t.Helper()
	for query, wanted := range map[string]string{"": `"quantity":"` + quantity + `","cell":"` + d.Org.Cells[0].String(),
		"?warehouse=" + d.Org.Warehouses[0].String(): `{"rows":[]}`} {
		if a := d.Call(t, "GET", "/v1/reports/"+report+query, "", nil); a.Status != 200 ||
			!strings.Contains(string(a.Body), wanted) {
			t.Errorf("%s: %s, want %s", report, a.Body, wanted)
		}
	}
}

// wantNoOrderElsewhere checks that an order refuses places and documents other than those of its basis; of
// the other's type there are no such orders.
func wantNoOrderElsewhere(t *testing.T, d erptest.Desk, order, of string, basis, other erptest.Answer) {
	t.Helper()
	cell, plain := d.Org.Cells[0], d.Post(t, of, "", d.Goods("1"))
	plain.Want(t, "a basis elsewhere", 201, "")
	d.Post(t, order, "", d.WarehouseOrder(plain.ID, cell, "1")).Want(t, "another warehouse", 400, "invalid")
	d.Post(t, order, "", d.WarehouseOrder(plain.ID, cell, "1").With("warehouse", d.Org.Warehouses[0])).Want(t,
		"the cell of another", 400, "invalid")
	d.Post(t, order, "", d.WarehouseOrder(basis.ID, d.Organisations[1].Cells[0], "1")).Want(t, "the cell of others",
		400, "invalid")
	d.Post(t, order, "", d.WarehouseOrder(other.ID, cell, "1")).Want(t, "another type", 400, "invalid")
	unposted := d.Draft(t, of, d.AddressedGoods("1"))
	d.Post(t, order, "", d.WarehouseOrder(unposted.ID, cell, "1")).Refused(t, "what is not posted", "basis")
}

func TestWhatIsSoldLeavesItsCells(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	receipt := d.Post(t, "goods-receipt", "", d.AddressedGoods("10"))
	d.Shelve(t, receipt, d.Org.Cells[0], "7")
	d.Shelve(t, receipt, d.Org.Cells[1], "1")
	sale := d.Post(t, "goods-sale", "", d.AddressedGoods("6"))
	sale.Want(t, "sell", 201, "")
	cell := d.Org.Cells[0]
	wantListed(t, d, "to-ship", "6.000")
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(sale.ID, cell, "3", "3.001")).Refused(t,
		"more than was sold", "to_ship")
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(sale.ID, d.Org.Cells[1], "1", "0.001")).Refused(t,
		"more than lies in the cell", "cells")
	other := d.WarehouseOrder(sale.ID, cell, "1")
	other["lines"].([]erptest.Fields)[0]["item"] = d.Items[1]
	d.Post(t, "warehouse-issue-order", "", other).Refused(t, "what was not sold", "to_ship")
	order := d.Live(t, "warehouse-issue-order", d.WarehouseOrder(sale.ID, d.Org.Cells[1], "1"),
		d.WarehouseOrder(sale.ID, cell, "3", "1"))
	const left = "SELECT s.quantity || ' ' || c.quantity FROM acc_to_ship_totals s, acc_cells_totals c WHERE " +
		"s.period = 'infinity' AND c.period = 'infinity' AND c.cell = $1"
	if got := d.Value(t, left, cell); got != "2.000 3.000" {
		t.Errorf("still to be shipped, and left in the cell: %s", got)
	}
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(sale.ID, cell, "2.001")).Refused(t, "more than the rest",
		"to_ship")
	d.Unpost(t, "goods-sale", sale.ID).Refused(t, "unpost what has been shipped", "to_ship")
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(sale.ID, cell, "2")).Want(t, "the rest", 201, "")
	used := d.Post(t, "internal-consumption", "",
		d.Consumption("1").With("warehouse", d.Org.Addressed).With("lines",
			[]erptest.Line{{Item: d.Items[0], Quantity: "1"}}),
	)
	used.Want(t, "use up", 201, "")
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(used.ID, cell, "1")).Want(t, "what is used up", 201, "")

	d.Post(t, "goods-receipt", "", d.Goods("1")).Want(t, "receive elsewhere", 201, "")
	wantNoOrderElsewhere(t, d, "warehouse-issue-order", "goods-sale", sale, receipt)
	if got := d.Recordings(t, "warehouse-issue-order", order); got != 2 {
		t.Errorf("%d rows are recorded: lines of one cell are one movement", got)
	}
}
