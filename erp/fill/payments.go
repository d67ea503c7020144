package fill

import (
	"fmt"

	"plimsoll/erp"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// aheadShare of the requests are to pay an order ahead.
const aheadShare = 0.15

// paymentRequest of all that the oldest purchase comes to that has not been requested yet.
func paymentRequest(h *history, o *organisation, _ id.ID) *document.Document {
	kinds := []string{erp.ServicePurchase, erp.GoodsReceipt}
	if h.rng.Float64() < aheadShare {
		kinds = []string{erp.SupplierOrder}
	}
	for _, of := range kinds {
		if basis := h.next(queue{o.id, of, erp.PaymentRequest}); basis != nil {
			d := h.same(erp.PaymentRequest, o, basis)
			set(d, "basis", basis.ID)
			set(d, "amount", rowset.Column[amount.Money](basis.Header, "total")[0])
			return d
		}
	}
	return nil
}

// bankPayment by the oldest request, as far as there is cash.
func bankPayment(h *history, o *organisation, _ id.ID) *document.Document {
	account := o.bank(h)
	there := h.lies(o, account)
	if there <= 0 {
		return nil
	}
	request := h.next(queue{o.id, erp.PaymentRequest, erp.BankPayment})
	if request == nil {
		return nil
	}
	d := h.same(erp.BankPayment, o, request)
	set(d, "request", request.ID)
	set(d, "cash_account", account)
	set(d, "bank_reference", fmt.Sprintf("BP%08d", h.left)) // no two are the same
	set(d, "amount", min(rowset.Column[amount.Money](request.Header, "amount")[0], there))
	return d
}

// same begins a document of the deal of another one.
func (h *history) same(kind string, o *organisation, as *document.Document) *document.Document {
	return h.deal(kind, o, deal{rowset.Column[id.ID](as.Header, "counterparty")[0], rowset.Column[id.ID](as.Header, "contract")[0]}, "")
}

// lies on a cash account.
func (h *history) lies(o *organisation, account id.ID) amount.Money {
	keys := rowset.New([]metadata.Attribute{{Name: "cash_account", Type: metadata.Reference}}, 1)
	keys.Append(account)
	return rowset.Column[amount.Money](h.memory.balancesOf(o.id, h.app.Register(erp.Cash), keys), "amount")[0]
}
