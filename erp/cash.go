package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
)

// Registers of cash.
const (
	Cash           = "cash"
	PaymentPlan    = "payment_plan"
	BankReferences = "bank_references"
	Requests       = "payment_requests"
)

// cash is what lies on bank accounts and in cash desks: accounts 50 and 51.
func cash() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Cash, Title: "Cash", Controlled: true, Dimensions: []metadata.Attribute{reference("cash_account", "cash_accounts")},
		Resources: []metadata.Attribute{typed("amount", metadata.Money)},
	}
}

// paymentPlan is what payment requests have been granted and no payment has been made of yet. All of a contract is guarded by one lock, that of its
// settlements.
func paymentPlan() metadata.Accumulation {
	return metadata.Accumulation{
		Name: PaymentPlan, Title: "Planned payments", Controlled: true, LockAs: SupplierSettlements, LockBy: 1,
		Dimensions: []metadata.Attribute{reference("contract", "contracts"), anyPaper("request")},
		Resources:  []metadata.Attribute{typed("amount", metadata.Money)},
	}
}

// bankReferences: what the bank calls a payment comes once for an account.
func bankReferences() metadata.Information {
	return metadata.Information{
		Name: BankReferences, Title: "Bank references",
		Dimensions: []metadata.Attribute{reference("cash_account", "cash_accounts"), text("bank_reference", 50)},
	}
}

// requestsByBasis: a document is requested to be paid once.
func requestsByBasis() metadata.Information {
	return metadata.Information{Name: Requests, Title: "Payment requests by basis", Dimensions: []metadata.Attribute{anyPaper("basis")}}
}

// payment is the header of a document of the bank.
func payment() []metadata.Attribute {
	return []metadata.Attribute{
		required(reference("cash_account", "cash_accounts")), required(reference("counterparty", "counterparties")), required(reference("contract", "contracts")),
		required(text("bank_reference", 50)), required(typed("amount", metadata.Money)), text("purpose", 300),
	}
}

// bankAccount is account 51 of the document's cash account, which must not be a cash desk. The rules read its attribute "bank".
func bankAccount(d *document.Document, facts *posting.Facts) (ledger.Account, error) {
	account := refOf(d, "cash_account")
	if !of[bool](facts.Catalogs["cash_accounts"], account, "bank") {
		return ledger.Account{}, &document.Invalid{Field: "cash_account", Reason: "is a cash desk, not a bank account"}
	}
	return ledger.At(AccountBank, account), nil
}
