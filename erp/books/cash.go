package books

import (
	"plimsoll/platform/model/metadata"
)

// Cash is what lies on bank accounts and in cash desks: accounts 50 and 51.
var Cash = accumulation(metadata.Accumulation{
	Name: "cash", Title: "Cash", Controlled: true,
	Dimensions: Attributes(CashAccount), Resources: Attributes(Amount),
})

// PaymentPlan is what payment requests have been granted and no payment has been made of yet. All of a contract is
// guarded by one lock, that of its settlements. Its paid requests, without end, stay at zero.
var PaymentPlan = accumulation(metadata.Accumulation{
	Name: "payment_plan", Title: "Planned payments", Controlled: true, LockAs: SupplierSettlements.Name(), LockBy: 1,
	IndexNonZero: true, Dimensions: Attributes(Contract, Request), Resources: Attributes(Amount),
})

// BankReferences: what the bank calls a payment comes once for an account.
var BankReferences = stated(metadata.Information{
	Name: "bank_references", Title: "Bank references", Dimensions: Attributes(CashAccount, BankReference),
})

// Requests: a document is requested to be paid once.
var Requests = stated(metadata.Information{
	Name: "payment_requests", Title: "Payment requests by basis", Dimensions: Attributes(Basis),
})
