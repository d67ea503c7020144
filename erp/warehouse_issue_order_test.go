package erp_test

import (
	"strings"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

// shelve puts goods of a receipt into a cell.
func (d desk) shelve(t *testing.T, receipt erptest.Answer, cell id.ID, quantity string) {
	t.Helper()
	want(t, "shelve", d.Post(t, "warehouse-receipt-order", "", d.issue(receipt.ID, cell, quantity)), 201, "")
}

func (d desk) issue(basis id.ID, cell id.ID, quantities ...string) erptest.Fields {
	var lines []erptest.Fields
	for _, quantity := range quantities {
		lines = append(lines, erptest.Fields{"item": d.Items[0], "cell": cell, "quantity": quantity})
	}
	return erptest.Fields{"basis": basis, "warehouse": d.o.Addressed, "lines": lines}
}

// addressedTo is a document of goods in the warehouse with cells.
func (d desk) addressedTo(quantity string) erptest.Document {
	doc := d.document(quantity)
	doc.Warehouse = d.o.Addressed
	return doc
}

// listed checks the work list that has so much to be carried, and nothing of a warehouse without cells.
func (d desk) listed(t *testing.T, report, quantity string) {
	t.Helper()
	for query, wanted := range map[string]string{"": `"quantity":"` + quantity + `","cell":"` + d.o.Cells[0].String(),
		"?warehouse=" + d.o.Warehouses[0].String(): `{"rows":[]}`} {
		if a := d.Call(t, "GET", "/v1/reports/"+report+query, "", nil); a.Status != 200 ||
			!strings.Contains(string(a.Body), wanted) {
			t.Errorf("%s: %s, want %s", report, a.Body, wanted)
		}
	}
}

// misplaced checks what an order says to places and papers that are not those of its basis, a document of a type; of
// the other's type there are no such orders.
func (d desk) misplaced(t *testing.T, order, of string, basis, other erptest.Answer) {
	t.Helper()
	cell, plain := d.o.Cells[0], d.Post(t, of, "", d.document("1"))
	want(t, "a basis elsewhere", plain, 201, "")
	want(t, "another warehouse", d.Post(t, order, "", d.issue(plain.ID, cell, "1")), 400, "invalid")
	want(t, "the cell of another", d.Post(t, order, "",
		with(d.issue(plain.ID, cell, "1"), "warehouse", d.o.Warehouses[0])), 400, "invalid")
	want(t, "the cell of others", d.Post(t, order, "", d.issue(basis.ID, d.Organisations[1].Cells[0], "1")), 400,
		"invalid")
	want(t, "another type", d.Post(t, order, "", d.issue(other.ID, cell, "1")), 400, "invalid")
	unposted := d.Call(t, "POST", "/v1/documents/"+of+"?post=false", "", encode(t, d.addressedTo("1")))
	refused(t, "what is not posted", d.Post(t, order, "", d.issue(unposted.ID, cell, "1")), "basis")
}

func TestWhatIsSoldLeavesItsCells(t *testing.T) {
	d := sit(t, 2)
	receipt := d.Post(t, "goods-receipt", "", d.addressedTo("10"))
	d.shelve(t, receipt, d.o.Cells[0], "7")
	d.shelve(t, receipt, d.o.Cells[1], "1")
	sale := d.Post(t, "goods-sale", "", d.addressedTo("6"))
	want(t, "sell", sale, 201, "")
	cell := d.o.Cells[0]
	d.listed(t, "to-ship", "6.000")
	refused(t, "more than was sold", d.Post(t, "warehouse-issue-order", "", d.issue(sale.ID, cell, "3", "3.001")),
		"to_ship")
	refused(t, "more than lies in the cell",
		d.Post(t, "warehouse-issue-order", "", d.issue(sale.ID, d.o.Cells[1], "1", "0.001")), "cells")
	other := d.issue(sale.ID, cell, "1")
	other["lines"].([]erptest.Fields)[0]["item"] = d.Items[1]
	refused(t, "what was not sold", d.Post(t, "warehouse-issue-order", "", other), "to_ship")
	order := d.live(t, "warehouse-issue-order", d.issue(sale.ID, d.o.Cells[1], "1"), d.issue(sale.ID, cell, "3", "1"))
	const left = "SELECT s.quantity || ' ' || c.quantity FROM acc_to_ship_totals s, acc_cells_totals c WHERE " +
		"s.period = 'infinity' AND c.period = 'infinity' AND c.cell = $1"
	if got := d.Value(t, left, cell); got != "2.000 3.000" {
		t.Errorf("still to be shipped, and left in the cell: %s", got)
	}
	refused(t, "more than the rest", d.Post(t, "warehouse-issue-order", "", d.issue(sale.ID, cell, "2.001")), "to_ship")
	refused(t, "take back what has been shipped", d.unpost(t, "goods-sale", sale), "to_ship")
	want(t, "the rest", d.Post(t, "warehouse-issue-order", "", d.issue(sale.ID, cell, "2")), 201, "")
	used := d.Post(t, "internal-consumption", "",
		with(with(d.consumption("1"), "warehouse", d.o.Addressed), "lines",
			[]erptest.Line{{Item: d.Items[0], Quantity: "1"}}))
	want(t, "use up", used, 201, "")
	want(t, "what is used up", d.Post(t, "warehouse-issue-order", "", d.issue(used.ID, cell, "1")), 201, "")

	want(t, "receive elsewhere", d.Post(t, "goods-receipt", "", d.document("1")), 201, "")
	d.misplaced(t, "warehouse-issue-order", "goods-sale", sale, receipt)
	if got := d.recordings(t, "warehouse-issue-order", order); got != 2 {
		t.Errorf("%d rows are recorded: lines of one cell are one movement", got)
	}
}
