package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
)

func TestWhatIsReceivedIsPutIntoCells(t *testing.T) {
	d := sit(t, 2)
	receipt := d.Post(t, "goods-receipt", "", d.addressedTo("10"))
	cell := d.o.Cells[0]
	d.listed(t, "to-receive", "10.000")
	refused(t, "more than was received", d.Post(t, "warehouse-receipt-order", "",
		d.issue(receipt.ID, cell, "5", "5.001")), "to_receive")
	other := d.issue(receipt.ID, cell, "1")
	other["lines"].([]erptest.Fields)[0]["item"] = d.Items[1]
	refused(t, "what was not received", d.Post(t, "warehouse-receipt-order", "", other), "to_receive")
	put := d.live(t, "warehouse-receipt-order", d.issue(receipt.ID, d.o.Cells[1], "1"),
		d.issue(receipt.ID, cell, "3", "4"))
	const left = "SELECT r.quantity || ' ' || c.quantity FROM acc_to_receive_totals r, acc_cells_totals c WHERE " +
		"r.period = 'infinity' AND c.period = 'infinity' AND c.cell = $1"
	if got := d.Value(t, left, cell); got != "3.000 7.000" {
		t.Errorf("still to be received, and in the cell: %s", got)
	}
	refused(t, "more than the rest", d.Post(t, "warehouse-receipt-order", "", d.issue(receipt.ID, cell, "3.001")),
		"to_receive")
	refused(t, "take back what is in cells", d.unpost(t, "goods-receipt", receipt), "to_receive")
	_, elsewhere := d.addressed(t)
	moved := d.addressedTo("10")
	moved.Warehouse = elsewhere
	refused(t, "move to another warehouse what is in cells",
		d.Change(t, "/v1/documents/goods-receipt/"+receipt.ID.String(), 1, encode(t, moved)), "to_receive")

	sale := d.Post(t, "goods-sale", "", d.addressedTo("2"))
	want(t, "ship from the cell", d.Post(t, "warehouse-issue-order", "", d.issue(sale.ID, cell, "2")), 201, "")
	refused(t, "take back what has been shipped",
		d.Call(t, "POST", "/v1/documents/warehouse-receipt-order/"+put.String()+"/unpost", "", nil), "cells")
	given := d.Post(t, "other-goods-receipt", "",
		with(d.found(erptest.Line{Item: d.Items[0], Quantity: "2"}), "warehouse", d.o.Addressed))
	want(t, "what is found", d.Post(t, "warehouse-receipt-order", "", d.issue(given.ID, cell, "2")), 201, "")

	d.misplaced(t, "warehouse-receipt-order", "goods-receipt", receipt, sale)
	erptest.Clean(t, d.Database)
}
