package invoices

import (
	"slices"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Invoiced is what a type of invoices refers to.
type Invoiced struct {
	Deals   []string // the types of documents that charge VAT
	Payment string   // the type of those that pay, maybe ahead

	Settlements, Advances books.Register // the registers that say how much is ahead, and how much of that is invoiced
}

// side is the side of trade that invoices belong to: customers, to whom they are issued, or suppliers, from whom they
// are received.
type side struct {
	Invoiced
	charged books.Register // the register of VAT that is not invoiced yet
	book    books.Register // of the invoices
	back    books.Register // the book in which booked advances are reversed
	account string         // of VAT of advances
}

var (
	customers = &side{
		Invoiced{[]string{books.GoodsSale, books.ServiceSale}, books.BankReceipt, books.CustomerSettlements,
			books.CustomerAdvances}, books.OutputVAT,
		books.SalesBook, books.PurchaseBook, books.AccountAdvancesReceived,
	}
	suppliers = &side{
		Invoiced{[]string{books.ServicePurchase, books.GoodsReceipt}, books.BankPayment, books.SupplierSettlements,
			books.SupplierAdvances}, books.InputVAT,
		books.PurchaseBook, books.SalesBook, books.AccountAdvancesPaid,
	}
)

// InvoicedBy is what a type of invoices refers to; nil for other types.
func InvoicedBy(documentType string) *Invoiced {
	switch documentType {
	case books.InvoiceIssued:
		return &customers.Invoiced
	case books.InvoiceReceived:
		return &suppliers.Invoiced
	}
	return nil
}

var (
	advanceSum = books.MoneyAttr("advance")
	setOff     = books.MoneyAttr("set_off")
	setOffVAT  = books.MoneyAttr("set_off_vat")
)

// header of an invoice. An advance that is not given is all of the payment that is ahead.
func (s *side) header(more ...books.Described) []metadata.Attribute {
	return books.Attributes(slices.Concat([]books.Described{books.DocumentRef(books.Basis,
		append(slices.Clone(s.Deals), s.Payment)...).Required(), books.Contract.Required(), advanceSum}, more,
		[]books.Described{books.Counterparty.Computed(), books.Amount.Computed(), books.VAT.Computed(),
			books.Total.Computed(), setOff.Computed(),
			setOffVAT.Computed()})...)
}

// reads are the attributes that an invoice reads of the document that it refers to.
func (s *side) reads() map[string][]string {
	reads := map[string][]string{s.Payment: books.Names(books.Counterparty, books.Contract, books.Amount)}
	for _, deal := range s.Deals {
		reads[deal] = append(books.Names(books.Counterparty, books.Contract, books.Amount, books.VAT, books.Total),
			books.LineNames(books.VATRate, books.Amount, books.VAT)...)
	}
	return reads
}

// balances: the basis is guarded by what it cannot be changed without, a deal by the VAT it has charged, a payment by
// what of it is not invoiced.
func (s *side) needs(d *document.Document) posting.Needs {
	basis, contract := books.Basis.In(d), books.Contract.In(d)
	return posting.Needs{
		Read: []posting.Need{
			s.Settlements.Need(d, s.Settlements.Key(contract)), s.Advances.Need(d, s.Advances.Key(contract)),
		},
		Lock: []posting.Lock{
			s.charged.Lock(d, s.charged.Key(basis)), books.Payments.Lock(d, books.Payments.Key(basis)),
		},
	}
}

// invoice an advance, or a deal: that sets off what of the advances it covers.
func (s *side) invoice(d *document.Document, facts *posting.Facts) (moved []*register.Movements, off advance,
	err error) {
	basis := books.Basis.In(d)
	if err := books.CheckPosted(facts, basis); err != nil {
		return nil, off, err
	}
	basisType, referred, row := facts.Document(basis)
	if books.Contract.In(d) != books.Contract.Of(referred.Rows)[row] {
		return nil, off, &document.Invalid{Field: "contract", Reason: "differs from that of the basis"}
	}
	counterparty := books.Counterparty.Of(referred.Rows)[row]
	books.Counterparty.Set(d, counterparty)
	net := books.Amount.Of(referred.Rows)[row]
	if basisType == s.Payment {
		if err := s.ofPayment(d, facts, net); err != nil {
			return nil, off, err
		}
		moved = s.bookAdvance(d, counterparty)
	} else {
		if advanceSum.In(d) != 0 {
			return nil, off, &document.Invalid{Field: "advance", Reason: "must not be given: " +
				"the basis is not a payment"}
		}
		books.SetSums(d, net, books.VAT.Of(referred.Rows)[row], books.Total.Of(referred.Rows)[row])
		if books.Total.In(d) == 0 { // its basis could be unposted unnoticed
			return nil, off, &posting.Refusal{Control: "basis", Message: "it contains nothing to invoice"}
		}
		if off, err = s.coveredAdvance(d, facts); err != nil {
			return nil, off, err
		}
		moved = append(s.bookDeal(d, counterparty, books.ByRate(books.LinesOf(referred, basis))),
			s.reverseAdvances(d, counterparty, off)...)
	}
	setOff.Set(d, off.amount)
	setOffVAT.Set(d, off.vat)
	return moved, off, nil
}

// bookDeal moves the VAT of a deal from what has been charged to a book.
func (s *side) bookDeal(d *document.Document, counterparty id.ID, rates []books.Rated) []*register.Movements {
	charged, booked := s.charged.Movements(2), s.book.Movements(2)
	for _, r := range rates {
		charged.Add(true, books.Basis.In(d), r.Rate, counterparty, r.Amount, r.VAT)
		booked.Add(false, counterparty, r.Rate, r.Amount, r.VAT)
	}
	return []*register.Movements{charged, booked}
}

func (s *side) bookAdvance(d *document.Document, counterparty id.ID) []*register.Movements {
	invoiced, open, booked := books.Payments.Movements(1), s.Advances.Movements(1), s.book.Movements(1)
	invoiced.Add(true, books.Basis.In(d), books.Contract.In(d), books.Total.In(d))
	open.Add(false, books.Contract.In(d), books.Total.In(d), books.VAT.In(d))
	booked.Add(false, counterparty, int64(AdvanceRate), books.Amount.In(d), books.VAT.In(d))
	return []*register.Movements{invoiced, open, booked}
}

// reverseAdvances reverses what was booked of advances that are set off.
func (s *side) reverseAdvances(d *document.Document, counterparty id.ID, off advance) []*register.Movements {
	if off.amount == 0 {
		return nil
	}
	open, booked := s.Advances.Movements(1), s.back.Movements(1)
	open.Add(true, books.Contract.In(d), off.amount, off.vat)
	booked.Add(false, counterparty, int64(AdvanceRate), off.amount-off.vat, off.vat)
	return []*register.Movements{open, booked}
}

// advanced is the account of VAT of the advances under the invoice's contract.
func (s *side) advanced(d *document.Document) ledger.Account {
	return books.SettlementAccount(d, s.account)
}
