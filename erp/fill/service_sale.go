package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/rowset"
)

func serviceSale(h *history, o *organisation, _ id.ID) *document.Document {
	d := h.deal(erp.ServiceSale, o, h.partner(o.customers), "")
	h.addServices(d)
	return d
}

// addServices to the lines of a document.
func (h *history) addServices(d *document.Document) {
	lines := d.Section("lines")
	for range 1 + h.rng.IntN(3) {
		row := lines.Grow(1)
		rowset.Column[id.ID](lines, "service")[row] = h.serviceIDs[skew.Pick(h.rng.Rand, len(h.serviceIDs), skew.Mild)]
		rowset.Column[amount.Quantity](lines, "quantity")[row] = amount.Quantity(1000 * (1 + h.rng.IntN(5)))
	}
}
