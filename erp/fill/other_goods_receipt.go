package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

func otherReceipt(h *history, o *organisation, warehouse id.ID) *document.Document {
	d := h.begin(erp.OtherGoodsReceipt, o, "")
	set(d, "warehouse", warehouse)
	set(d, "reason", "Излишки по инвентаризации")
	for range 1 + h.rng.IntN(5) {
		addLine(d, h.itemIDs[skew.Pick(h.rng.Rand, min(len(h.itemIDs), assortmentMax), skew.Strong)], amount.Quantity(1000*(1+h.rng.IntN(5))))
	}
	return d
}
