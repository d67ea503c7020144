package erp

import (
	"slices"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Invoiced is what invoices of a type are of.
type Invoiced struct {
	Deals   []string // the types of documents that charge VAT
	Payment string   // the type of those that pay, maybe ahead

	Settlements, Advances string // the registers that say how much is ahead, and how much of that is invoiced
}

// side of trade that invoices are of: that of customers, to whom they are issued, or that of suppliers, from whom they are received.
type side struct {
	Invoiced
	charged string // the register of VAT that no invoice is of yet
	book    string // of the invoices
	back    string // the book that what was booked of advances is taken back by
	account string // of VAT of advances
}

var (
	customers = &side{
		Invoiced{[]string{GoodsSale, ServiceSale}, BankReceipt, CustomerSettlements, CustomerAdvances}, OutputVAT, SalesBook, PurchaseBook, AccountAdvancesReceived,
	}
	suppliers = &side{
		Invoiced{[]string{ServicePurchase, GoodsReceipt}, BankPayment, SupplierSettlements, SupplierAdvances}, InputVAT, PurchaseBook, SalesBook, AccountAdvancesPaid,
	}
)

// InvoicedBy is what a type of invoices is of; nil for other types.
func InvoicedBy(kind string) *Invoiced {
	switch kind {
	case InvoiceIssued:
		return &customers.Invoiced
	case InvoiceReceived:
		return &suppliers.Invoiced
	}
	return nil
}

// header of an invoice. An advance that is not given is all of the payment that is ahead.
func (s *side) header(more ...metadata.Attribute) []metadata.Attribute {
	counterparty := reference("counterparty", "counterparties")
	counterparty.Computed = true
	return slices.Concat([]metadata.Attribute{
		required(paper("basis", append(slices.Clone(s.Deals), s.Payment)...)), required(reference("contract", "contracts")), typed("advance", metadata.Money),
	}, more, []metadata.Attribute{
		counterparty, computed("amount", metadata.Money), computed("vat", metadata.Money), computed("total", metadata.Money),
		computed("set_off", metadata.Money), computed("set_off_vat", metadata.Money),
	})
}

// reads are what an invoice looks at in the document that it is of.
func (s *side) reads() map[string][]string {
	reads := map[string][]string{s.Payment: {"counterparty", "contract", "amount"}}
	for _, deal := range s.Deals {
		reads[deal] = []string{"counterparty", "contract", "amount", "vat", "total", "lines.vat_rate", "lines.amount", "lines.vat"}
	}
	return reads
}

// balances: the basis is guarded by what it cannot be changed without, a deal by the VAT it has charged, a payment by what of it is not invoiced.
func (s *side) balances(d *document.Document) []posting.Balance {
	basis := []id.ID{refOf(d, "basis")}
	return []posting.Balance{
		guard(d, s.charged, keys(s.charged, basis)), guard(d, Payments, keys(Payments, basis)),
		need(d, s.Settlements, contractKeys(d, s.Settlements)), need(d, s.Advances, contractKeys(d, s.Advances)),
	}
}

// invoice an advance, or a deal: that sets off what of the advances it covers.
func (s *side) invoice(d *document.Document, facts *posting.Facts) (moved []*register.Movements, off advance, err error) {
	basis := refOf(d, "basis")
	if err := postedBasis(facts, basis); err != nil {
		return nil, off, err
	}
	kind, of, row := facts.Document(basis)
	if refOf(d, "contract") != rowset.Column[id.ID](of.Rows, "contract")[row] {
		return nil, off, &document.Invalid{Field: "contract", Reason: "is another one than that of the basis"}
	}
	counterparty := rowset.Column[id.ID](of.Rows, "counterparty")[row]
	rowset.Column[id.ID](d.Header, "counterparty")[0] = counterparty
	sums := func(name string) amount.Money { return rowset.Column[amount.Money](of.Rows, name)[row] }
	if kind == s.Payment {
		if err := s.ofPayment(d, facts, sums("amount")); err != nil {
			return nil, off, err
		}
		moved = s.bookAdvance(d, counterparty)
	} else {
		if sumOf(d, "advance") != 0 {
			return nil, off, &document.Invalid{Field: "advance", Reason: "is given, but the basis is no payment"}
		}
		setSums(d, sums("amount"), sums("vat"), sums("total"))
		if sumOf(d, "total") == 0 { // its basis could be taken back without anybody noticing
			return nil, off, &posting.Refusal{Control: "basis", Message: "there is nothing to be invoiced in it"}
		}
		if off, err = s.setOff(d, facts); err != nil {
			return nil, off, err
		}
		moved = append(s.bookDeal(d, counterparty, byRate(of.Sections["lines"], of.Lines("lines", basis))), s.takeBack(d, counterparty, off)...)
	}
	rowset.Column[amount.Money](d.Header, "set_off")[0], rowset.Column[amount.Money](d.Header, "set_off_vat")[0] = off.amount, off.vat
	return moved, off, nil
}

// bookDeal moves the VAT of a deal from what has been charged to a book.
func (s *side) bookDeal(d *document.Document, counterparty id.ID, rates []rated) []*register.Movements {
	charged, booked := moves(s.charged, 2), moves(s.book, 2)
	for _, r := range rates {
		charged.Add(true, refOf(d, "basis"), r.rate, counterparty, r.amount, r.vat)
		booked.Add(false, counterparty, r.rate, r.amount, r.vat)
	}
	return []*register.Movements{charged, booked}
}

func (s *side) bookAdvance(d *document.Document, counterparty id.ID) []*register.Movements {
	invoiced, open, booked := moves(Payments, 1), moves(s.Advances, 1), moves(s.book, 1)
	invoiced.Add(true, refOf(d, "basis"), refOf(d, "contract"), sumOf(d, "total"))
	open.Add(false, refOf(d, "contract"), sumOf(d, "total"), sumOf(d, "vat"))
	booked.Add(false, counterparty, int64(AdvanceRate), sumOf(d, "amount"), sumOf(d, "vat"))
	return []*register.Movements{invoiced, open, booked}
}

// takeBack what was booked of advances that are set off.
func (s *side) takeBack(d *document.Document, counterparty id.ID, off advance) []*register.Movements {
	if off.amount == 0 {
		return nil
	}
	open, booked := moves(s.Advances, 1), moves(s.back, 1)
	open.Add(true, refOf(d, "contract"), off.amount, off.vat)
	booked.Add(false, counterparty, int64(AdvanceRate), off.amount-off.vat, off.vat)
	return []*register.Movements{open, booked}
}

// advanced is the account of VAT of the advances under the invoice's contract.
func (s *side) advanced(d *document.Document) ledger.Account { return settlementAccount(d, s.account) }
