package fill

import (
	"fmt"

	"plimsoll/erp"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

func invoiceReceived(h *history, o *organisation, _ id.ID) *document.Document {
	d := h.invoice(erp.InvoiceReceived, o, erp.ServicePurchase, erp.GoodsReceipt)
	if d != nil {
		set(d, "invoice_number", fmt.Sprintf("F%08d", h.left)) // no two are the same
	}
	return d
}
