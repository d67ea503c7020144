package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Registers of settlements.
const (
	CustomerSettlements = "customer_settlements"
	SupplierSettlements = "supplier_settlements"
	CustomerPlan        = "customer_plan"
	SupplierPlan        = "supplier_plan"
	SupplierNumbers     = "supplier_numbers"
)

// customerSettlements is what customers owe; below zero it is what they have paid ahead.
func customerSettlements() metadata.Accumulation {
	return settlements(CustomerSettlements, "Settlements with customers")
}

// supplierSettlements is what we owe to suppliers; below zero it is what we have paid ahead.
func supplierSettlements() metadata.Accumulation {
	return settlements(SupplierSettlements, "Settlements with suppliers")
}

// customerPlan is what customers are to pay by order.
func customerPlan() metadata.Accumulation {
	return settlements(CustomerPlan, "Payments due by customer orders")
}

// supplierPlan is what we are to pay by order.
func supplierPlan() metadata.Accumulation {
	return settlements(SupplierPlan, "Payments due by supplier orders")
}

// settlements are by contract and, where the contract says so, by the document that is the object of settlement. All of a contract is
// guarded by one lock.
func settlements(name, title string) metadata.Accumulation {
	return metadata.Accumulation{
		Name: name, Title: title, LockBy: 1, Dimensions: []metadata.Attribute{reference("contract", "contracts"), anyPaper("object")},
		Resources: []metadata.Attribute{typed("amount", metadata.Money)},
	}
}

// supplierNumbers: what a supplier calls its document comes once.
func supplierNumbers() metadata.Information {
	return metadata.Information{
		Name: SupplierNumbers, Title: "Numbers of suppliers' documents",
		Dimensions: []metadata.Attribute{reference("counterparty", "counterparties"), text("supplier_number", 50)},
	}
}

// settlementReads are the attributes of a contract that rules of settlements look at.
var settlementReads = []string{"counterparty", "customer", "supplier", "credit_limit", "by_order"}

// contractKeys are the settlements of the document's contract.
func contractKeys(d *document.Document, name string) *rowset.Table {
	return keys(name, []id.ID{refOf(d, "contract")})
}

// deal checks that the contract is with the counterparty, and of the side ("customer" or "supplier") of the document.
func deal(d *document.Document, facts *posting.Facts, side string) error {
	contracts, contract := facts.Catalogs["contracts"], refOf(d, "contract")
	switch {
	case contract.IsZero(): // a document of a version that had none
		return &document.Invalid{Field: "contract", Reason: "must be given"}
	case of[id.ID](contracts, contract, "counterparty") != refOf(d, "counterparty"):
		return &document.Invalid{Field: "contract", Reason: "is with another counterparty"}
	case !of[bool](contracts, contract, side):
		return &document.Invalid{Field: "contract", Reason: "is not one with a " + side}
	}
	return nil
}

// settle is a movement of a register of settlements: a debt grows, or is paid (expense).
func settle(d *document.Document, facts *posting.Facts, name string, expense bool, sum amount.Money) *register.Movements {
	contract, object := refOf(d, "contract"), id.ID{}
	if _, ordered := metadata.Find(d.Meta.Attributes, "source_order"); ordered && of[bool](facts.Catalogs["contracts"], contract, "by_order") {
		object = refOf(d, "source_order")
	}
	m := moves(name, 1)
	m.Add(expense, contract, object, sum)
	return m
}

// settlementAccount is 60 or 62 of the document's counterparty and contract.
func settlementAccount(d *document.Document, code string) ledger.Account {
	return ledger.At(code, refOf(d, "counterparty"), refOf(d, "contract"))
}

// Credit is what the control of the credit limit refused.
type Credit struct {
	Contract id.ID        `json:"contract"`
	Limit    amount.Money `json:"limit"`
	Debt     amount.Money `json:"debt"`
	Required amount.Money `json:"required"`
}

// withinCredit refuses what would bring the debt of the document's contract above its limit.
func withinCredit(d *document.Document, facts *posting.Facts, sum amount.Money) error {
	contract := refOf(d, "contract")
	limit, debt := of[amount.Money](facts.Catalogs["contracts"], contract, "credit_limit"), rowset.Column[amount.Money](facts.Balances[CustomerSettlements], "amount")[0]
	if limit == 0 || debt+sum <= limit {
		return nil
	}
	return &posting.Refusal{
		Control: "credit", Items: []Credit{{contract, limit, debt, sum}},
		Message: fmt.Sprintf("the credit limit of the contract is %s: %s owed, %s more required", limit, debt, sum),
	}
}
