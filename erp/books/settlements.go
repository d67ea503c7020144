package books

import (
	"fmt"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// CustomerSettlements is what customers owe; below zero it is what they have paid ahead.
var CustomerSettlements = reported("customer_settlements", "Settlements with customers")

// SupplierSettlements is what we owe to suppliers; below zero it is what we have paid ahead.
var SupplierSettlements = reported("supplier_settlements", "Settlements with suppliers")

// CustomerPlan is what customers are to pay by order.
var CustomerPlan = settlements("customer_plan", "Payments due by customer orders")

// SupplierPlan is what we are to pay by order.
var SupplierPlan = settlements("supplier_plan", "Payments due by supplier orders")

// settlements are by contract and, where the contract says so, by the document that is the object of settlement. All
// of a contract is guarded by one lock.
func settlements(name, title string) Register {
	return accumulation(metadata.Accumulation{
		Name: name, Title: title, LockBy: 1,
		Dimensions: Attributes(Contract, Object), Resources: Attributes(Amount),
	})
}

// reported settlements are shown at a date, contract by contract.
func reported(name, title string) Register {
	r := settlements(name, title)
	r.meta.IndexMovements = true
	return r
}

// Payments is what of a payment has not been invoiced as an advance: an invoice takes it, and a payment is not reduced
// below its invoice, nor given to another contract.
var Payments = accumulation(metadata.Accumulation{
	Name: "payments", Title: "Payments not invoiced as advances", Controlled: true, LockBy: 1,
	Dimensions: Attributes(Payment, Contract), Resources: Attributes(Amount),
})

// CustomerAdvances is what invoices have been issued of that customers have paid ahead, until it is shipped; its VAT
// is the balance of account 76AV.
var CustomerAdvances = advances("customer_advances", "Invoiced advances of customers", CustomerSettlements)

// SupplierAdvances is what suppliers have sent invoices of that we have paid ahead, until it is received; its VAT is
// the balance of account 76VA.
var SupplierAdvances = advances("supplier_advances", "Invoiced advances to suppliers", SupplierSettlements)

// advances are with their VAT; one lock guards all of a contract, that of its settlements.
func advances(name, title string, settlements Register) Register {
	return accumulation(metadata.Accumulation{
		Name: name, Title: title, Controlled: true, LockAs: settlements.Name(), LockBy: 1,
		Dimensions: Attributes(Contract), Resources: Attributes(Amount, VAT),
	})
}

// SupplierNumbers: what a supplier calls its document comes once.
var SupplierNumbers = stated(metadata.Information{
	Name: "supplier_numbers", Title: "Numbers of suppliers' documents",
	Dimensions: Attributes(Counterparty, SupplierNumber),
})

// SettlementReads are the attributes of a contract that rules of settlements look at.
var SettlementReads = Names(Counterparty, Customer, Supplier, CreditLimit, ByOrder)

// CheckDeal checks that the contract is with the counterparty, and of the side (Customer or Supplier) of the document.
func CheckDeal(d *document.Document, facts *posting.Facts, side Attribute[bool]) error {
	contracts, contract := facts.Catalogs[Contracts], Contract.In(d)
	switch {
	case contract.IsZero(): // a document of a version that had none
		return &document.Invalid{Field: Contract.Name(), Reason: "must be given"}
	case Attr(contracts, contract, Counterparty) != Counterparty.In(d):
		return &document.Invalid{Field: Contract.Name(), Reason: "belongs to another counterparty"}
	case !Attr(contracts, contract, side):
		return &document.Invalid{Field: Contract.Name(), Reason: "is not a contract with a " + side.Name()}
	}
	return nil
}

// Settle is a movement of a register of settlements: a debt grows, or is paid (expense).
func Settle(d *document.Document, facts *posting.Facts, debts Register, expense bool,
	sum amount.Money) *register.Movements {
	contract, object := Contract.In(d), id.ID{}
	if _, ordered := metadata.Find(d.Meta.Attributes, SourceOrder.Name()); ordered &&
		Attr(facts.Catalogs[Contracts], contract, ByOrder) {
		object = SourceOrder.In(d)
	}
	m := debts.Movements(1)
	m.Add(expense, contract, object, sum)
	return m
}

// SettlementAccount is 60 or 62 of the document's counterparty and contract.
func SettlementAccount(d *document.Document, code string) ledger.Account {
	return ledger.At(code, Counterparty.In(d), Contract.In(d))
}

// Credit is what the control of the credit limit refused.
type Credit struct {
	Contract id.ID        `json:"contract"`
	Limit    amount.Money `json:"limit"`
	Debt     amount.Money `json:"debt"`
	Required amount.Money `json:"required"`
}

// NoLimits removes the limits of the contracts: a document that is posted was within them.
func NoLimits(facts *posting.Facts) {
	contracts := facts.Catalogs[Contracts].Rows
	for _, limit := range []Attribute[amount.Money]{CreditLimit, PaymentLimit} {
		if _, read := metadata.Find(contracts.Attributes, limit.Name()); read {
			clear(limit.Of(contracts))
		}
	}
}

// WithinCredit refuses what would bring the debt of the document's contract above its limit.
func WithinCredit(d *document.Document, facts *posting.Facts, sum amount.Money) error {
	contract := Contract.In(d)
	limit := Attr(facts.Catalogs[Contracts], contract, CreditLimit)
	debt := Amount.Of(CustomerSettlements.Balances(facts))[0]
	if limit == 0 || debt+sum <= limit {
		return nil
	}
	return &posting.Refusal{
		Control: "credit", Items: []Credit{{contract, limit, debt, sum}},
		Message: fmt.Sprintf("the credit limit of the contract is %s: %s owed, %s more requested", limit, debt, sum),
	}
}
