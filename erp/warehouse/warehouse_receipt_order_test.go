package warehouse_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestWhatIsReceivedIsPutIntoCells(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	receipt := d.Post(t, "goods-receipt", "", d.AddressedGoods("10"))
	cell := d.Org.Cells[0]
	wantListed(t, d, "to-receive", "10.000")
	d.Post(t, "warehouse-receipt-order", "", d.WarehouseOrder(receipt.ID, cell, "5", "5.001")).Refused(t,
		"more than was received", "to_receive")
	other := d.WarehouseOrder(receipt.ID, cell, "1")
	other["lines"].([]erptest.Fields)[0]["item"] = d.Items[1]
	d.Post(t, "warehouse-receipt-order", "", other).Refused(t, "what was not received", "to_receive")
	put := d.Live(t, "warehouse-receipt-order", d.WarehouseOrder(receipt.ID, d.Org.Cells[1], "1"),
		d.WarehouseOrder(receipt.ID, cell, "3", "4"))
	const left = "SELECT r.quantity || ' ' || c.quantity FROM acc_to_receive_totals r, acc_cells_totals c WHERE " +
		"r.period = 'infinity' AND c.period = 'infinity' AND c.cell = $1"
	if got := d.Value(t, left, cell); got != "3.000 7.000" {
		t.Errorf("still to be received, and in the cell: %s", got)
	}
	d.Post(t, "warehouse-receipt-order", "", d.WarehouseOrder(receipt.ID, cell, "3.001")).Refused(t,
		"more than the rest", "to_receive")
	d.Unpost(t, "goods-receipt", receipt.ID).Refused(t, "unpost what is in cells", "to_receive")
	_, elsewhere := anotherAddressed(t, d)
	moved := d.AddressedGoods("10")
	moved.Warehouse = elsewhere

	d.Change(t, "/v1/documents/goods-receipt/"+receipt.ID.String(), 1, moved).Refused(t,
		"move to another warehouse what is in cells", "to_receive")
	sale := d.Post(t, "goods-sale", "", d.AddressedGoods("2"))
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(sale.ID, cell, "2")).Want(t, "ship from the cell", 201, "")
	d.Unpost(t, "warehouse-receipt-order", put).Refused(t, "unpost what has been shipped", "cells")
	given := d.Post(t, "other-goods-receipt", "",
		d.FoundGoods(erptest.Line{Item: d.Items[0], Quantity: "2"}).With("warehouse", d.Org.Addressed))
	d.Post(t, "warehouse-receipt-order", "", d.WarehouseOrder(given.ID, cell, "2")).Want(t, "what is found", 201, "")

	wantNoOrderElsewhere(t, d, "warehouse-receipt-order", "goods-receipt", receipt, sale)
	erptest.Clean(t, d.Database)
}

// anotherAddressed adds a warehouse whose goods lie in cells, with a cell.
func anotherAddressed(t *testing.T, d erptest.Desk) (cell, warehouse id.ID) {
	cell, warehouse = id.New(), id.New()
	d.Exec(t, "INSERT INTO cat_warehouses (id, organisation, code, name, addressed) VALUES ($1, $2, 'W9', 'Other', "+
		"true)", warehouse, d.Org.ID)
	d.Exec(t, "INSERT INTO cat_warehouse_cells (id, organisation, code, name, warehouse) VALUES ($1, $2, 'L9', "+
		"'Other', $3)", cell, d.Org.ID, warehouse)
	return cell, warehouse
}
