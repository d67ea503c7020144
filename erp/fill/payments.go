package fill

import (
	"plimsoll/erp/books"
	"plimsoll/erp/invoices"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

func invoiceIssued(h *history) *document.Document { return h.invoice(books.InvoiceIssued) }

func invoiceReceived(h *history) *document.Document {
	d := h.invoice(books.InvoiceReceived)
	if d != nil {
		set(d, "invoice_number", h.foreign("F%08d"))
	}
	return d
}

// invoice of the oldest deal that has none yet; when all have one, of the oldest payment of which a part is still
// prepaid.
func (h *history) invoice(kind string) *document.Document {
	invoiced := invoices.InvoicedBy(kind)
	for _, deals := range invoiced.Deals {
		if basis := h.takeOf(queue{deals, kind}); basis != nil {
			return h.invoiceOf(kind, basis)
		}
	}
	for {
		basis := h.takeOf(queue{invoiced.Payment, kind})
		if basis == nil {
			return nil
		}
		if h.isAhead(kind, basis) {
			return h.invoiceOf(kind, basis)
		}
	}
}

func (h *history) invoiceOf(kind string, basis *document.Document) *document.Document {
	d := h.begin(kind, "")
	set(d, "basis", basis.ID)
	set(d, "contract", rowset.Column[id.ID](basis.Header, "contract")[0])
	return d
}

// isAhead reports whether more is prepaid under a payment's contract than invoices of the type cover.
func (h *history) isAhead(kind string, payment *document.Document) bool {
	invoiced, contract := invoices.InvoicedBy(kind), rowset.Column[id.ID](payment.Header, "contract")[0]
	return -h.memory.balance(invoiced.Settlements.Name(), contract) >
		h.memory.balance(invoiced.Advances.Name(), contract)
}

// payersTried before the payer prepays: so many are asked whether they owe something. prepaidShare of the receipts
// pay, besides what is owed, for an order that is still to be sold.
const (
	payersTried  = 5
	prepaidShare = 0.3
)

func bankReceipt(h *history) *document.Document {
	payer, sum := h.prepaid()
	if sum == 0 {
		payer, sum = h.paid()
	}
	d := h.deal(books.BankReceipt, payer, "")
	set(d, "cash_account", h.bank())
	set(d, "bank_reference", h.foreign("BR%08d"))
	set(d, "amount", sum)
	return d
}

// paid is what some customer owes, or a random sum.
func (h *history) paid() (payer deal, sum amount.Money) {
	for range payersTried {
		payer = h.customer()
		if sum = h.owed(books.CustomerSettlements.Name(), payer); sum > 0 {
			return payer, sum
		}
	}
	return payer, amount.Money(100 * (1000 + h.rng.IntN(100_000)))
}

// prepaid order with what is owed besides; nothing when there is none to prepay.
func (h *history) prepaid() (payer deal, sum amount.Money) {
	orders := h.waiting[queue{books.CustomerOrder, books.GoodsSale}]
	if h.rng.Float64() >= prepaidShare || len(orders) == 0 {
		return payer, 0
	}
	order := h.papers[orders[h.rng.IntN((len(orders)+1)/2)]] // one of the older half, which will be sold sooner
	payer = dealIn(order.Document)
	return payer, max(0, h.owed(books.CustomerSettlements.Name(), payer)) +
		rowset.Column[amount.Money](order.Header, "total")[0]
}

// bank account of an organisation; the last account is the cash desk.
func (h *history) bank() id.ID { return h.o.banks()[h.rng.IntN(bankAccountsEach)] }

func (o *organisation) banks() []id.ID { return o.cashAccounts[:bankAccountsEach] }

// owed under a contract; negative when prepaid.
func (h *history) owed(register string, under deal) amount.Money {
	return amount.Money(h.memory.balance(register, under.contract))
}

// aheadShare of the requests prepay an order.
const aheadShare = 0.15

// paymentRequest for what is still to be requested of the oldest purchase, or for a random sum without a purchase.
func paymentRequest(h *history) *document.Document {
	kinds := []string{books.ServicePurchase, books.GoodsReceipt}
	if h.rng.Float64() < aheadShare {
		kinds = []string{books.SupplierOrder}
	}
	for _, basisType := range kinds {
		if basis := h.takeOf(queue{basisType, books.PaymentRequest}); basis != nil {
			d := h.withDealOf(books.PaymentRequest, basis)
			set(d, "basis", basis.ID)
			set(d, "amount", rowset.Column[amount.Money](basis.Header, "total")[0])
			return d
		}
	}
	d := h.deal(books.PaymentRequest, h.supplier(), "")
	set(d, "amount", amount.Money(100*(1000+h.rng.IntN(100_000))))
	return d
}

// bankPayment by the oldest request, as far as there is cash.
func bankPayment(h *history) *document.Document {
	account := h.bank()
	balance := amount.Money(h.memory.balance(books.Cash.Name(), account))
	if balance <= 0 {
		return nil
	}
	request := h.takeOf(queue{books.PaymentRequest, books.BankPayment})
	if request == nil {
		return nil
	}
	d := h.withDealOf(books.BankPayment, request)
	set(d, "request", request.ID)
	set(d, "cash_account", account)
	set(d, "bank_reference", h.foreign("BP%08d"))
	set(d, "amount", min(rowset.Column[amount.Money](request.Header, "amount")[0], balance))
	return d
}

// withDealOf starts a document with the deal of another one.
func (h *history) withDealOf(kind string, as *document.Document) *document.Document {
	return h.deal(kind, dealIn(as), "")
}

// dealIn reads the deal from a document's header.
func dealIn(d *document.Document) deal {
	return deal{rowset.Column[id.ID](d.Header, "counterparty")[0], rowset.Column[id.ID](d.Header, "contract")[0]}
}

// registrar sets off what a counterparty owes as a customer against what it is owed as a supplier. Where there is
// nothing to set off, another customer takes over a debt.
func registrar(h *history) *document.Document {
	d := h.begin(books.SettlementRegistrar, "")
	one := h.active()
	customer, supplier := h.dealOf(one, 0), h.dealOf(one, 1)
	owed := h.owed(books.CustomerSettlements.Name(), customer)
	if sum := min(owed, h.owed(books.SupplierSettlements.Name(), supplier)); sum > 0 {
		addClaim(d, supplier, true, sum, 0)
		addClaim(d, customer, false, 0, sum)
		return d
	}
	if owed <= 0 {
		owed = amount.Money(100 * (1 + h.rng.IntN(10_000)))
	}
	addClaim(d, h.customer(), false, owed, 0)
	addClaim(d, customer, false, 0, owed)
	return d
}

func addClaim(d *document.Document, partner deal, supplier bool, debit, credit amount.Money) {
	lines := d.Section("lines")
	row := lines.Grow(1)
	rowset.Column[id.ID](lines, "contract")[row] = partner.contract
	rowset.Column[bool](lines, "supplier")[row] = supplier
	rowset.Column[amount.Money](lines, "debit")[row], rowset.Column[amount.Money](lines, "credit")[row] = debit, credit
}
