package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Registers of what has been paid ahead.
const (
	Payments         = "payments"
	CustomerAdvances = "customer_advances"
	SupplierAdvances = "supplier_advances"
)

// AdvanceRate of VAT, in per cent of the net, is in every advance: what will be shipped for it is not known yet.
const AdvanceRate = 20

// payments is what of a payment has not been invoiced as an advance: an invoice takes it, and a payment is not taken back below its invoice, nor
// given to another contract.
func payments() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Payments, Title: "Payments not invoiced as advances", Controlled: true, LockBy: 1,
		Dimensions: []metadata.Attribute{anyPaper("payment"), reference("contract", "contracts")},
		Resources:  []metadata.Attribute{typed("amount", metadata.Money)},
	}
}

// customerAdvances is what invoices have been issued of that customers have paid ahead, until it is shipped; its VAT is the balance of account 76AV.
func customerAdvances() metadata.Accumulation {
	return advances(CustomerAdvances, "Invoiced advances of customers", CustomerSettlements)
}

// supplierAdvances is what suppliers have sent invoices of that we have paid ahead, until it is received; its VAT is the balance of account 76VA.
func supplierAdvances() metadata.Accumulation {
	return advances(SupplierAdvances, "Invoiced advances to suppliers", SupplierSettlements)
}

// advances are with their VAT; one lock guards all of a contract, that of its settlements.
func advances(name, title, settlements string) metadata.Accumulation {
	return metadata.Accumulation{
		Name: name, Title: title, Controlled: true, LockAs: settlements, LockBy: 1,
		Dimensions: []metadata.Attribute{reference("contract", "contracts")}, Resources: vatResources(),
	}
}

// paid is a payment that an invoice of an advance may be made of.
func paid(d *document.Document) *register.Movements {
	m := moves(Payments, 1)
	m.Add(false, d.ID, refOf(d, "contract"), sumOf(d, "amount"))
	return m
}

// advance with the VAT in it.
type advance struct{ amount, vat amount.Money }

// advanceIn is what has been paid ahead under the document's contract, as its settlements say, and what of that has been invoiced. Goods that have been
// shipped, but not invoiced, are not ahead any more.
func (s *side) advanceIn(facts *posting.Facts) (ahead amount.Money, open advance) {
	there := facts.Balances[s.Advances]
	open = advance{rowset.Column[amount.Money](there, "amount")[0], rowset.Column[amount.Money](there, "vat")[0]}
	return -rowset.Column[amount.Money](facts.Balances[s.Settlements], "amount")[0], open
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
	sum, most := &rowset.Column[amount.Money](d.Header, "advance")[0], min(payment, ahead-open.amount)
	asked := *sum
	if *sum == 0 {
		*sum = most
	}
	if *sum <= 0 || *sum > most {
		return &posting.Refusal{
			Control: "advance", Items: []Advance{{refOf(d, "basis"), payment, ahead, open.amount, asked}},
			Message: fmt.Sprintf("%s of the payment can be invoiced as an advance: %s is paid ahead under the contract, %s of that is invoiced", max(0, most), max(0, ahead), open.amount),
		}
	}
	vat, err := sum.Portion(AdvanceRate, 100+AdvanceRate)
	if err != nil {
		return err
	}
	setSums(d, *sum-vat, vat, *sum)
	return nil
}

// setOff is what of the advances invoiced is not ahead any more, of that what an invoice of a deal covers. It takes of their VAT what goes with it, and the last
// kopeck with the last of them.
func (s *side) setOff(d *document.Document, facts *posting.Facts) (off advance, err error) {
	ahead, open := s.advanceIn(facts)
	if off.amount = min(sumOf(d, "total"), open.amount-max(0, ahead)); off.amount <= 0 {
		return advance{}, nil
	}
	off.vat, err = open.vat.Portion(amount.Quantity(off.amount), amount.Quantity(open.amount))
	return off, err
}

func setSums(d *document.Document, net, vat, total amount.Money) {
	sums := func(name string) *amount.Money { return &rowset.Column[amount.Money](d.Header, name)[0] }
	*sums("amount"), *sums("vat"), *sums("total") = net, vat, total
}
