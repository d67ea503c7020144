package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

// consumption of materials; nil when the warehouse has none of those drawn.
func consumption(h *history, o *organisation, warehouse id.ID) *document.Document {
	d := h.begin(erp.InternalConsumption, o, "")
	set(d, "warehouse", warehouse)
	set(d, "department", o.departments[skew.Pick(h.rng.Rand, len(o.departments), skew.Mild)])
	set(d, "expense_item", o.expenseItems[h.rng.IntN(len(o.expenseItems))])
	materials := min(len(h.itemIDs), assortmentMax) / materialEvery
	for range 1 + h.rng.IntN(5) {
		if materials == 0 {
			break
		}
		item := h.itemIDs[skew.Pick(h.rng.Rand, materials, skew.Strong)*materialEvery+materialEvery-1]
		units := 1 + h.rng.IntN(5)
		if h.free(o, warehouse, item) >= amount.Quantity(10*1000*units) { // the lines may draw the same item
			addLine(d, item, amount.Quantity(1000*units))
		}
	}
	if d.Section("lines").Rows() == 0 {
		return nil
	}
	return d
}
