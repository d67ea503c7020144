package fill

import (
	"plimsoll/erp"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

func invoiceIssued(h *history, o *organisation, _ id.ID) *document.Document {
	return h.invoice(erp.InvoiceIssued, o, erp.GoodsSale, erp.ServiceSale)
}

// invoice of the oldest document of the first of these types that has none yet.
func (h *history) invoice(kind string, o *organisation, bases ...string) *document.Document {
	for _, of := range bases {
		if basis := h.next(queue{o.id, of, kind}); basis != nil {
			d := h.begin(kind, o, "")
			set(d, "basis", basis.ID)
			return d
		}
	}
	return nil
}
