package erp_test

import (
	"math/big"

	"pgregory.net/rapid"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// invoicing is what an invoice is of; of a payment, how much of it is an advance: all that can be when that is zero.
type invoicing struct {
	basis   *modelDocument
	advance int64
}

// invoices of a side, in the words of the model.
type invoices struct {
	charged, book, back, settlements, advances string
	account                                    string // of VAT of advances
}

var (
	issued = invoices{books.OutputVAT.Name(), books.SalesBook.Name(), books.PurchaseBook.Name(),
		books.CustomerSettlements.Name(), books.CustomerAdvances.Name(),
		"76AV"}
	entered = invoices{books.InputVAT.Name(), books.PurchaseBook.Name(), books.SalesBook.Name(),
		books.SupplierSettlements.Name(), books.SupplierAdvances.Name(),
		"76VA"}
	inAdvance = big.NewRat(20, 120)
)

// drawInvoice of a sale or a receipt of money that there is, posted or not.
func drawInvoice(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	basis := p.drawPaper(t, h, "goods-sale", "service-sale", "bank-receipt")
	if basis == nil {
		return nil
	}
	i, f := drawInvoicing(p, t, basis)
	p.content = i
	return f
}

func drawInvoicing(p *modelDocument, t *rapid.T, basis *modelDocument) (invoicing, erptest.Fields) {
	i := invoicing{basis: basis}
	f := erptest.Fields{"basis": basis.id, "contract": erptest.Contract(p.o.Counterparty)}
	if sum := basis.paid(); sum > 0 && evenly(t, 3, "in part") == 0 {
		i.advance = rapid.Int64Range(1, sum+1).Draw(t, "advance")
		f["advance"] = amount.Money(i.advance)
	}
	return i, f
}

// paid is the sum of a payment; zero of another paper.
func (p *modelDocument) paid() int64 {
	switch paid := p.content.(type) {
	case payment:
		return paid.sum
	case paidOut:
		return paid.sum
	}
	return 0
}

// asPayment is what of a payment has not been invoiced.
func (p *modelDocument) asPayment() sum {
	return sum{register: books.Payments.Name(), resource: "amount", contract: erptest.Contract(p.o.Counterparty),
		basis: p.self}
}

func recordInvoice(p *modelDocument, b *modelBooks, _ []id.ID) *refusal {
	i := p.content.(invoicing)
	vat, no := p.invoiced(b, issued, &i)
	if p.content = i; no != nil {
		return no
	}
	if i.basis.paid() > 0 {
		p.entries = append(p.entries, entry{p.month, p.at(issued.account), "68", vat})
	}
	if b.other(p, func(other *modelDocument) bool { return other.content.(invoicing).basis == i.basis }) {
		return refuseStated("invoices")
	}
	return nil
}

type received struct {
	invoicing
	number string
}

func drawReceived(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	basis := p.drawPaper(t, h, "goods-receipt", "service-purchase", "bank-payment")
	if basis == nil {
		return nil
	}
	i, f := drawInvoicing(p, t, basis)
	r := received{i, h.drawNumber(t)}
	p.content, f["invoice_number"] = r, r.number
	return f
}

func recordReceived(p *modelDocument, b *modelBooks, _ []id.ID) *refusal {
	r := p.content.(received)
	vat, no := p.invoiced(b, entered, &r.invoicing)
	if p.content = r; no != nil {
		return no
	}
	from := "19"
	if r.basis.paid() > 0 {
		from = entered.account
	}
	p.entries = append(p.entries, entry{p.month, "68", p.at(from), vat})
	var controls []string
	if b.other(p, func(other *modelDocument) bool { return other.content.(received).number == r.number }) {
		controls = append(controls, "invoice_numbers")
	}
	if b.other(p, func(other *modelDocument) bool { return other.content.(received).basis == r.basis }) {
		controls = append(controls, "invoices")
	}
	if controls == nil {
		return nil
	}
	return refuseStated(controls...)
}

// invoiced moves the VAT that another document has charged to a book, or that of an advance, and tells it.
func (p *modelDocument) invoiced(b *modelBooks, of invoices, i *invoicing) (vat *big.Int, no *refusal) {
	if !i.basis.posted {
		return nil, refuse("basis")
	}
	contract := erptest.Contract(p.o.Counterparty)
	open := sum{register: of.advances, resource: "amount", contract: contract}
	openVAT := sum{register: of.advances, resource: "vat", contract: contract}
	// of what has been invoiced of advances
	settled := sum{register: of.settlements, resource: "amount", contract: contract}
	gone := new(big.Int).Add(b.balance(open), b.balance(settled))
	if paid := i.basis.paid(); paid > 0 {
		most := min(paid, -gone.Int64())
		if i.advance == 0 && most > 0 {
			i.advance = most
		}
		if i.advance > most || most <= 0 {
			return nil, refuse("advance")
		}
		v := big.NewInt(i.advance)
		vat = share(v, inAdvance)
		p.sums = append(p.sums, owed{open, p.month, v}, owed{openVAT, p.month, vat},
			owed{i.basis.self.asPayment(), p.month, new(big.Int).Neg(v)})
		p.book(of.book, v, vat)
		return vat, nil
	}
	total, vat := new(big.Int), new(big.Int)
	for _, o := range i.basis.sums {
		if o.to.register != of.charged {
			continue
		}
		if total.Add(total, o.value); o.to.resource == "vat" {
			vat.Add(vat, o.value)
		}
		p.sums = append(p.sums, owed{o.to, p.month, new(big.Int).Neg(o.value)})
		p.sums = append(p.sums, owed{sum{register: of.book, resource: o.to.resource, contract: p.o.Counterparty,
			rate: o.to.rate}, p.month, o.value})
	}
	if total.Sign() == 0 {
		return nil, refuse("basis")
	}
	if gone.Cmp(b.balance(open)) > 0 { // no more than all of it
		gone.Set(b.balance(open))
	}
	if gone.Cmp(total) > 0 {
		gone.Set(total)
	}
	if gone.Sign() > 0 {
		off := share(b.balance(openVAT), new(big.Rat).SetFrac(gone, b.balance(open)))
		p.sums = append(p.sums, owed{open, p.month, new(big.Int).Neg(gone)},
			owed{openVAT, p.month, new(big.Int).Neg(off)})
		p.book(of.back, gone, off)
		taxes := entry{p.month, "68", p.at(of.account), off}
		if of == entered {
			taxes.debit, taxes.credit = taxes.credit, taxes.debit
		}
		p.entries = append(p.entries, taxes)
	}
	return vat, nil
}

// book an advance, or what is set off of them.
func (p *modelDocument) book(book string, sums, vat *big.Int) {
	to := sum{register: book, resource: "amount", contract: p.o.Counterparty, rate: 20}
	p.sums = append(p.sums, owed{to, p.month, new(big.Int).Sub(sums, vat)})
	to.resource = "vat"
	p.sums = append(p.sums, owed{to, p.month, vat})
}

// share of a sum, rounded to a kopeck.
func share(of *big.Int, part *big.Rat) *big.Int {
	return divide(new(big.Int).Mul(of, part.Num()), part.Denom())
}
