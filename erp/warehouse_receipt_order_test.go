package erp_test

import (
	"strings"
	"testing"

	"plimsoll/erp/erptest"
)

func TestWhatIsReceivedIsPutIntoCells(t *testing.T) {
	d := sit(t, 2)
	at := func(quantity string) erptest.Document {
		doc := d.document(quantity)
		doc.Warehouse = d.o.Addressed
		return doc
	}
	receipt := d.Post(t, "goods-receipt", "", at("10"))
	cell := d.o.Cells[0]
	for query, wanted := range map[string]string{"": `"quantity":"10.000","cell":"` + cell.String(), "?warehouse=" + d.o.Warehouses[0].String(): `{"rows":[]}`} {
		if a := d.Call(t, "GET", "/v1/reports/to-receive"+query, "", nil); a.Status != 200 || !strings.Contains(string(a.Body), wanted) {
			t.Errorf("what is to be received: %s, want %s", a.Body, wanted)
		}
	}
	refused(t, "more than was received", d.Post(t, "warehouse-receipt-order", "", d.issue(receipt.ID, cell, "5", "5.001")), "to_receive")
	other := d.issue(receipt.ID, cell, "1")
	other["lines"].([]erptest.Fields)[0]["item"] = d.Items[1]
	refused(t, "what was not received", d.Post(t, "warehouse-receipt-order", "", other), "to_receive")
	put := d.live(t, "warehouse-receipt-order", d.issue(receipt.ID, d.o.Cells[1], "1"), d.issue(receipt.ID, cell, "3", "4"))
	const left = "SELECT r.quantity || ' ' || c.quantity FROM acc_to_receive_totals r, acc_cells_totals c WHERE r.period = 'infinity' AND c.period = 'infinity' AND c.cell = $1"
	if got := d.Value(t, left, cell); got != "3.000 7.000" {
		t.Errorf("still to be received, and in the cell: %s", got)
	}
	refused(t, "more than the rest", d.Post(t, "warehouse-receipt-order", "", d.issue(receipt.ID, cell, "3.001")), "to_receive")
	refused(t, "take back what is in cells", d.unpost(t, "goods-receipt", receipt), "to_receive")
	_, elsewhere := d.addressed(t)
	moved := at("10")
	moved.Warehouse = elsewhere
	refused(t, "move to another warehouse what is in cells", d.Change(t, "/v1/documents/goods-receipt/"+receipt.ID.String(), 1, encode(t, moved)), "to_receive")

	sale := d.Post(t, "goods-sale", "", at("2"))
	want(t, "ship from the cell", d.Post(t, "warehouse-issue-order", "", d.issue(sale.ID, cell, "2")), 201, "")
	refused(t, "take back what has been shipped", d.Call(t, "POST", "/v1/documents/warehouse-receipt-order/"+put.String()+"/unpost", "", nil), "cells")
	given := d.Post(t, "other-goods-receipt", "", with(d.found(erptest.Line{Item: d.Items[0], Quantity: "2"}), "warehouse", d.o.Addressed))
	want(t, "what is found", d.Post(t, "warehouse-receipt-order", "", d.issue(given.ID, cell, "2")), 201, "")

	plain := d.Post(t, "goods-receipt", "", d.document("1"))
	want(t, "another warehouse", d.Post(t, "warehouse-receipt-order", "", d.issue(plain.ID, cell, "1")), 400, "invalid")
	want(t, "the cell of another", d.Post(t, "warehouse-receipt-order", "", with(d.issue(plain.ID, cell, "1"), "warehouse", d.o.Warehouses[0])), 400, "invalid")
	want(t, "the cell of others", d.Post(t, "warehouse-receipt-order", "", d.issue(receipt.ID, d.Organisations[1].Cells[0], "1")), 400, "invalid")
	want(t, "a sale", d.Post(t, "warehouse-receipt-order", "", d.issue(sale.ID, cell, "1")), 400, "invalid")
	unposted := d.Call(t, "POST", "/v1/documents/goods-receipt?post=false", "", encode(t, at("1")))
	refused(t, "what is not posted", d.Post(t, "warehouse-receipt-order", "", d.issue(unposted.ID, cell, "1")), "basis")
	erptest.Clean(t, d.Database)
}
