package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
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
	left := func(register string) amount.Quantity {
		keys := rowset.New([]metadata.Attribute{{Name: "warehouse", Type: metadata.Reference}, {Name: "item", Type: metadata.Reference}}, 1)
		keys.Append(warehouse, item)
		return rowset.Column[amount.Quantity](h.memory.balancesOf(o.id, h.app.Register(register), keys), "quantity")[0]
	}
	return left(erp.Stock) - left(erp.Reserves)
}
