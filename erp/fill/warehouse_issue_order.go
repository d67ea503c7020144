package fill

import (
	"plimsoll/erp"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/rowset"
)

// issueOrder for the oldest document that has something to be shipped and whose goods lie in cells.
func issueOrder(h *history, o *organisation, _ id.ID) *document.Document {
	for _, of := range []string{erp.GoodsSale, erp.InternalConsumption, erp.AssetCommissioning} {
		for basis := h.next(queue{o.id, of, erp.WarehouseIssueOrder}); basis != nil; basis = h.next(queue{o.id, of, erp.WarehouseIssueOrder}) {
			if d := h.ship(o, basis); d != nil {
				return d
			}
		}
	}
	return nil
}

// ship what there is in cells of what a document has taken; nil when there is nothing.
func (h *history) ship(o *organisation, basis *document.Document) *document.Document {
	d := h.begin(erp.WarehouseIssueOrder, o, "")
	warehouse := rowset.Column[id.ID](basis.Header, "warehouse")[0]
	set(d, "basis", basis.ID)
	set(d, "warehouse", warehouse)
	items, seen := rowset.Column[id.ID](basis.Section("lines"), "item"), map[id.ID]bool{}
	for _, item := range items {
		if !seen[item] {
			seen[item] = true
			h.pick(d, o, warehouse, item, h.quantity(o, erp.ToShip, basis.ID, item))
		}
	}
	if d.Section("lines").Rows() == 0 {
		return nil
	}
	return d
}

// pick an item out of the cells of a warehouse, as much as is wanted or as there is.
func (h *history) pick(d *document.Document, o *organisation, warehouse, item id.ID, wanted amount.Quantity) {
	for _, cell := range o.cells[warehouse] {
		if wanted == 0 {
			return
		}
		part := min(wanted, h.quantity(o, erp.Cells, warehouse, item, cell))
		if part > 0 {
			addCell(d, item, cell, part)
			wanted -= part
		}
	}
}

func addCell(d *document.Document, item, cell id.ID, quantity amount.Quantity) {
	addLine(d, item, quantity)
	lines := d.Section("lines")
	rowset.Column[id.ID](lines, "cell")[lines.Rows()-1] = cell
}

// quantity that a register has under references.
func (h *history) quantity(o *organisation, register string, under ...any) amount.Quantity {
	r := h.app.Register(register)
	keys := rowset.New(r.Dimensions[:len(under)], 1)
	keys.Append(under...)
	return rowset.Column[amount.Quantity](h.memory.balancesOf(o.id, r, keys), "quantity")[0]
}
