package fill

import (
	"plimsoll/erp"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/rowset"
)

// receiptOrder for the oldest document that has something to be received into cells.
func receiptOrder(h *history, o *organisation, _ id.ID) *document.Document {
	for _, of := range []string{erp.GoodsReceipt, erp.OtherGoodsReceipt} {
		for basis := h.next(queue{o.id, of, erp.WarehouseReceiptOrder}); basis != nil; basis = h.next(queue{o.id, of, erp.WarehouseReceiptOrder}) {
			if d := h.shelve(o, basis); d != nil {
				return d
			}
		}
	}
	return nil
}

// shelve what a document has brought, each item into a cell; nil when there is nothing.
func (h *history) shelve(o *organisation, basis *document.Document) *document.Document {
	d := h.begin(erp.WarehouseReceiptOrder, o, "")
	warehouse := rowset.Column[id.ID](basis.Header, "warehouse")[0]
	set(d, "basis", basis.ID)
	set(d, "warehouse", warehouse)
	seen := map[id.ID]bool{}
	for _, item := range rowset.Column[id.ID](basis.Section("lines"), "item") {
		if quantity := h.quantity(o, erp.ToReceive, basis.ID, item); quantity > 0 && !seen[item] {
			seen[item] = true
			addCell(d, item, o.cells[warehouse][h.rng.IntN(len(o.cells[warehouse]))], quantity)
		}
	}
	if d.Section("lines").Rows() == 0 {
		return nil
	}
	return d
}
