package fill

import (
	"slices"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// splitFrom is the number of lines from which an issue order takes half of them and a second order the rest.
const splitFrom = 4

// receiptOrder is made for the oldest document with items to be received into cells.
func receiptOrder(h *history) *document.Document {
	return h.orderOf(books.WarehouseReceiptOrder, h.shelve, books.GoodsReceipt, books.OtherGoodsReceipt)
}

// orderOf returns the oldest document, of the first of these types that has one, for which an order can be made.
func (h *history) orderOf(order string, made func(basis *document.Document) *document.Document,
	types ...string) *document.Document {
	for _, basisType := range types {
		q := queue{basisType, order}
		for basis := h.takeOf(q); basis != nil; basis = h.takeOf(q) {
			if d := made(basis); d != nil {
				return d
			}
		}
	}
	return nil
}

// carry begins a warehouse order for a document, with the items that are still open.
func (h *history) carry(kind, register string, basis *document.Document) (d *document.Document, warehouse int,
	items []id.ID) {
	d = h.begin(kind, "")
	at := rowset.Column[id.ID](basis.Header, "warehouse")[0]
	set(d, "basis", basis.ID)
	set(d, "warehouse", at)
	for _, item := range rowset.Column[id.ID](basis.Section("lines"), "item") {
		if !slices.Contains(items, item) && h.memory.balance(register, basis.ID, item) > 0 {
			items = append(items, item)
		}
	}
	return d, slices.Index(h.o.warehouses, at), items
}

// shelve puts what a document has brought into cells, or returns nil if there is nothing. An item always goes to the
// same three cells, so that it is found again.
func (h *history) shelve(basis *document.Document) *document.Document {
	d, warehouse, items := h.carry(books.WarehouseReceiptOrder, books.ToReceive.Name(), basis)
	for _, item := range items {
		cell := h.cellsOf(warehouse, item)[h.rng.IntN(cellsOfItem)]
		addCell(d, item, cell, amount.Quantity(h.memory.balance(books.ToReceive.Name(), basis.ID, item)))
	}
	if len(items) == 0 {
		return nil
	}
	return d
}

const cellsOfItem = 3

func (h *history) cellsOf(warehouse int, item id.ID) (all [cellsOfItem]id.ID) {
	first := int(mix(uint64(item[15]), uint64(item[14]), uint64(item[13])) % cellsPerWarehouse)
	for i := range all {
		all[i] = h.cellID(h.o, warehouse, (first+i)%cellsPerWarehouse)
	}
	return all
}

// issueOrder is made for the oldest document whose goods lie in cells and are to be shipped.
func issueOrder(h *history) *document.Document {
	return h.orderOf(books.WarehouseIssueOrder, h.ship, books.GoodsSale, books.InternalConsumption,
		books.AssetCommissioning)
}

// ship takes from the cells what a document has sold, or returns nil if there is nothing.
func (h *history) ship(basis *document.Document) *document.Document {
	d, warehouse, items := h.carry(books.WarehouseIssueOrder, books.ToShip.Name(), basis)
	half := len(items)
	if half >= splitFrom {
		half = (half + 1) / 2
	}
	carried := 0
	for _, item := range items {
		if carried == half {
			break
		}
		before := d.Section("lines").Rows()
		h.pick(d, warehouse, item, amount.Quantity(h.memory.balance(books.ToShip.Name(), basis.ID, item)))
		if d.Section("lines").Rows() > before {
			carried++
		}
	}
	if carried == 0 {
		return nil
	}
	if carried == half && half < len(items) {
		h.untake()
	}
	return d
}

// pick takes an item from its cells: the quantity wanted, or what there is.
func (h *history) pick(d *document.Document, warehouse int, item id.ID, wanted amount.Quantity) {
	for _, cell := range h.cellsOf(warehouse, item) {
		if wanted == 0 {
			return
		}
		part := min(wanted, amount.Quantity(h.memory.balance(books.Cells.Name(), h.o.warehouses[warehouse], item,
			cell)))
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
