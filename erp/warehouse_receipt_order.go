package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// WarehouseReceiptOrder is the type of document.
const WarehouseReceiptOrder = "warehouse_receipt_order"

func warehouseReceiptOrder() metadata.Document {
	return metadata.Document{
		Name: WarehouseReceiptOrder, Title: "Warehouse receipt order", Prefix: "WR", Search: []string{"basis"},
		Registers:  []string{ToReceive, Cells},
		Attributes: []metadata.Attribute{required(paper("basis", GoodsReceipt, OtherGoodsReceipt)), required(reference("warehouse", "warehouses"))},
		Sections:   []metadata.Section{cellLines()},
	}
}

// receiptOrderRules: what has been brought is put into cells, not more than is still to be received of it. The cells are locked, so that who takes from
// one sees what lies there.
//
//	ST at cell+ · to be received−
type receiptOrderRules struct{}

func (receiptOrderRules) Reads() map[string][]string {
	return map[string][]string{"warehouse_cells": {"warehouse"}, GoodsReceipt: {"warehouse"}, OtherGoodsReceipt: {"warehouse"}}
}

func (receiptOrderRules) Balances(d *document.Document) []posting.Balance {
	basis := refOf(d, "basis")
	return []posting.Balance{
		need(d, ToReceive, byItem(d, ToReceive, basis)), guard(d, Cells, cellKeys(d)),
	}
}

func (receiptOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := cellsOf(d, facts); err != nil {
		return nil, err
	}
	received, err := fulfilWarehouse(d, facts, ToReceive)
	if err != nil {
		return nil, err
	}
	lines := d.Section("lines")
	put, quantity := moves(Cells, lines.Rows()), rowset.Column[amount.Quantity](lines, "quantity")
	items, cells := rowset.Column[id.ID](lines, "item"), rowset.Column[id.ID](lines, "cell")
	for i := range items {
		put.Add(false, refOf(d, "warehouse"), items[i], cells[i], quantity[i])
	}
	return &posting.Records{Movements: []*register.Movements{received, put}}, nil
}
