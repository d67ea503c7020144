package fill

import (
	"slices"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// linesDrawn is the number of lines of a goods document, LinesAverage on average.
func (h *history) linesDrawn() int { return linesLeast + h.rng.IntN(2*(LinesAverage-linesLeast)+1) }

// addReceived adds lines of incoming goods.
func (h *history) addReceived(d *document.Document) {
	for range h.linesDrawn() {
		addLine(d, h.itemIDs[h.itemDrawn()], amount.Quantity(1000*(10+h.rng.IntN(60))))
	}
}

// Stock that is left for the users of the filled base, so that controls refuse them because they ask for too much and
// not because nothing is left: an item is not taken below stockLeast, and a surplus is not sold off entirely.
const (
	stockLeast = 20
	stockKept  = 300
)

// sold is the quantity taken of a free stock; 0 when there is too little. It is small, and for a surplus a share of
// it, so that what comes in leaves in the end.
func (h *history) sold(item int, free int64) int64 {
	units := int64(1 + h.rng.IntN(9))
	if free < stockLeast+units {
		return 0
	}
	if spare := free - stockKept - openingOfHottest/int64(item+1); spare > 2 {
		units += h.rng.Int64N(spare / 2)
	}
	return units
}

// placesTried before giving up: nothing can be taken.
const placesTried = 4

// take adds lines from a warehouse's free stock, each item once; the rule gives the quantity. Nil when there is
// nothing.
func (h *history) take(begin func(warehouse id.ID) *document.Document, lines, step int,
	units func(item int, free int64) int64) *document.Document {
	for range placesTried {
		warehouse := h.warehouseDrawn()
		var d *document.Document
		var seen []int
		for range lines {
			item := h.itemDrawn()
			if item = item/step*step + step - 1; item >= len(h.itemIDs) || slices.Contains(seen, item) {
				continue
			}
			seen = append(seen, item)
			n := units(item, h.free(warehouse, h.itemIDs[item]))
			if n <= 0 {
				continue
			}
			if d == nil {
				d = begin(warehouse)
			}
			addLine(d, h.itemIDs[item], amount.Quantity(1000*n))
		}
		if d != nil {
			return d
		}
	}
	return nil
}

// free is the quantity of an item that nobody has reserved, in whole units.
func (h *history) free(warehouse, item id.ID) int64 {
	return (h.memory.balance(books.Stock.Name(), warehouse, item) - h.memory.balance(books.Reserves.Name(), warehouse,
		item)) / 1000
}

// byOrderShare of the sales follow an order; of the receipts a half.
const (
	salesByOrder    = 0.75
	receiptsByOrder = 0.5
)

func sale(h *history) *document.Document {
	if h.rng.Float64() < salesByOrder {
		if d := h.follow(books.GoodsSale, books.CustomerOrder); d != nil {
			return d
		}
	}
	return h.take(func(warehouse id.ID) *document.Document {
		return h.trade(books.GoodsSale, warehouse, h.customer(), "")
	}, h.linesDrawn(), 1, h.sold)
}

// firmShare of the customer orders are sold. The others stay open, with one of each item reserved.
const firmShare = 0.4

func order(h *history) *document.Document {
	units := func(_ int, free int64) int64 { return min(1, free-stockLeast) }
	if h.rng.Float64() < firmShare {
		units = h.sold
	}
	return h.take(func(warehouse id.ID) *document.Document {
		return h.trade(books.CustomerOrder, warehouse, h.customer(), "")
	}, h.linesDrawn(), 1, units)
}

// severalOfEach reports whether an order has more than one of each item.
func (h *history) severalOfEach(order *document.Document) bool {
	for _, q := range rowset.Column[amount.Quantity](order.Section("lines"), "quantity") {
		if q > 1000 {
			return true
		}
	}
	return false
}

func supplierOrder(h *history) *document.Document {
	d := h.trade(books.SupplierOrder, h.warehouseDrawn(), h.supplier(), "")
	h.addReceived(d)
	return d
}

func receipt(h *history) *document.Document {
	if h.rng.Float64() < receiptsByOrder {
		if d := h.follow(books.GoodsReceipt, books.SupplierOrder); d != nil {
			return d
		}
	}
	return h.received()
}

// received without an order.
func (h *history) received() *document.Document {
	d := h.trade(books.GoodsReceipt, h.warehouseDrawn(), h.supplier(), "")
	set(d, "supplier_number", h.foreign("%d"))
	h.addReceived(d)
	return d
}

func otherReceipt(h *history) *document.Document {
	d := h.begin(books.OtherGoodsReceipt, "")
	set(d, "warehouse", h.warehouseDrawn())
	set(d, "reason", "Излишки по инвентаризации")
	for range 1 + h.rng.IntN(5) {
		addLine(d, h.itemIDs[h.itemDrawn()], amount.Quantity(1000*(1+h.rng.IntN(5))))
	}
	return d
}

// consumption of materials.
func consumption(h *history) *document.Document {
	return h.take(func(warehouse id.ID) *document.Document {
		d := h.begin(books.InternalConsumption, "")
		set(d, "warehouse", warehouse)
		h.spend(d)
		return d
	}, 1+h.rng.IntN(5), materialEvery, func(_ int, free int64) int64 {
		return min(int64(1+h.rng.IntN(5)), free-stockLeast)
	})
}
