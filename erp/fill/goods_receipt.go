package fill

import (
	"fmt"

	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

// openingReceipt brings more of what is hot.
func openingReceipt(h *history, o opening) *document.Document {
	d := h.trade(erp.GoodsReceipt, o.organisation, o.warehouse, o.organisation.suppliers, "Ввод начальных остатков")
	for i := o.from; i < o.to; i++ {
		units := 20 + h.rng.IntN(80) + 4000/(i+1)
		addLine(d, h.itemIDs[i], amount.Quantity(1000*units))
	}
	return d
}

func receipt(h *history, o *organisation, warehouse id.ID) *document.Document {
	d := h.trade(erp.GoodsReceipt, o, warehouse, o.suppliers, "")
	set(d, "supplier_number", h.supplierNumber())
	h.bring(d)
	return d
}

func receiptByOrder(h *history, o *organisation, _ id.ID) *document.Document {
	return h.follow(erp.GoodsReceipt, erp.SupplierOrder, o)
}

// supplierNumber of a document; no two are the same.
func (h *history) supplierNumber() string { return fmt.Sprintf("%s/%d", h.rng.digits(3), h.left) }

// bring adds lines of what comes in.
func (h *history) bring(d *document.Document) {
	for range 5 + h.rng.IntN(16) {
		addLine(d, h.itemIDs[skew.Pick(h.rng.Rand, min(len(h.itemIDs), assortmentMax), skew.Strong)], amount.Quantity(1000*(10+h.rng.IntN(60))))
	}
}
