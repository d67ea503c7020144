package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

func sale(h *history, o *organisation, warehouse id.ID) *document.Document {
	return h.take(erp.GoodsSale, o, warehouse, o.customers)
}

func saleByOrder(h *history, o *organisation, _ id.ID) *document.Document {
	return h.follow(erp.GoodsSale, erp.CustomerOrder, o)
}

// take begins a document that takes goods, at most half of what there is; nil when the warehouse has none of the items drawn.
func (h *history) take(kind string, o *organisation, warehouse id.ID, with []deal) *document.Document {
	var d *document.Document
	for range 5 + h.rng.IntN(16) {
		item := h.itemIDs[skew.Pick(h.rng.Rand, min(len(h.itemIDs), assortmentMax), skew.Strong)]
		units := 1 + h.rng.IntN(9)
		if h.free(o, warehouse, item) < amount.Quantity(40*1000*units) { // 20 lines may draw the same item
			continue
		}
		if d == nil {
			d = h.trade(kind, o, warehouse, with, "")
		}
		addLine(d, item, amount.Quantity(1000*units))
	}
	return d
}

// free is what there is of an item that nobody has reserved.
func (h *history) free(o *organisation, warehouse, item id.ID) amount.Quantity {
	return h.quantity(o, erp.Stock, warehouse, item) - h.quantity(o, erp.Reserves, warehouse, item)
}
