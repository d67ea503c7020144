package invoices

import (
	"fmt"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// AdvanceRate of VAT, in per cent of the net, is in every advance: what will be shipped for it is not known yet.
const AdvanceRate = 20

// advance with the VAT in it.
type advance struct{ amount, vat amount.Money }

// advanceIn is what has been paid ahead under the document's contract, as its settlements say, and what of that has
// been invoiced. Goods that have been shipped, but not invoiced, are not ahead any more.
func (s *side) advanceIn(facts *posting.Facts) (ahead amount.Money, open advance) {
	balances := s.Advances.Balances(facts)
	open = advance{books.Amount.Of(balances)[0], books.VAT.Of(balances)[0]}
	return -books.Amount.Of(s.Settlements.Balances(facts))[0], open
}

// Advance is what the control of advances refused.
type Advance struct {
	Payment  id.ID        `json:"payment"`
	Paid     amount.Money `json:"paid"`
	Ahead    amount.Money `json:"ahead"`    // under the contract
	Invoiced amount.Money `json:"invoiced"` // of that
	Required amount.Money `json:"required"`
}

// ofPayment is an invoice of what of a payment is ahead: all of it, unless less is asked for.
func (s *side) ofPayment(d *document.Document, facts *posting.Facts, payment amount.Money) error {
	ahead, open := s.advanceIn(facts)
	asked, most := advanceSum.In(d), min(payment, ahead-open.amount)
	sum := asked
	if sum == 0 {
		sum = most
	}
	advanceSum.Set(d, sum)
	if sum <= 0 || sum > most {
		return &posting.Refusal{
			Control: "advance", Items: []Advance{{books.Basis.In(d), payment, ahead, open.amount, asked}},
			Message: fmt.Sprintf("%s of the payment can be invoiced as an advance: %s is prepaid under the contract, "+
				"%s of that is already invoiced", max(0, most), max(0, ahead), open.amount),
		}
	}
	vat, err := sum.Portion(AdvanceRate, 100+AdvanceRate)
	if err != nil {
		return err
	}
	books.SetSums(d, sum-vat, vat, sum)
	return nil
}

// coveredAdvance is what of the advances invoiced is not ahead any more, of that what an invoice of a deal covers. It
// takes of their VAT what goes with it, and the last kopeck with the last of them.
func (s *side) coveredAdvance(d *document.Document, facts *posting.Facts) (off advance, err error) {
	ahead, open := s.advanceIn(facts)
	if off.amount = min(books.Total.In(d), open.amount-max(0, ahead)); off.amount <= 0 {
		return advance{}, nil
	}
	off.vat, err = open.vat.Portion(amount.Quantity(off.amount), amount.Quantity(open.amount))
	return off, err
}

// restate what was ahead, and invoiced of that, as the header of the invoice tells.
func (s *side) restate(d *document.Document, facts *posting.Facts) {
	settled, open := books.Amount.Of(s.Settlements.Balances(facts)), s.Advances.Balances(facts)
	settled[0], books.Amount.Of(open)[0], books.VAT.Of(open)[0] = 0, setOff.In(d), setOffVAT.In(d)
	if advanceSum.In(d) != 0 {
		settled[0], books.Amount.Of(open)[0], books.VAT.Of(open)[0] = -posting.Unlimited, 0, 0
	}
}
