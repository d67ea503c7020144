package fill

import (
	"plimsoll/erp"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

func order(h *history, o *organisation, warehouse id.ID) *document.Document {
	return h.take(erp.CustomerOrder, o, warehouse, o.customers)
}

func supplierOrder(h *history, o *organisation, warehouse id.ID) *document.Document {
	d := h.trade(erp.SupplierOrder, o, warehouse, o.suppliers, "")
	h.bring(d)
	return d
}
