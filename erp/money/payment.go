package money

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// payment is the header of a document of the bank.
func payment(more ...books.Described) []metadata.Attribute {
	return books.Attributes(append([]books.Described{books.CashAccount.Required(), books.Counterparty.Required(),
		books.Contract.Required(),
		books.BankReference.Required(), books.Amount.Required(), books.TextAttr("purpose", 300)}, more...)...)
}

// bankAccount is account 51 of the document's cash account, which must not be a cash desk. The rules read its
// attribute "bank".
func bankAccount(d *document.Document, facts *posting.Facts) (ledger.Account, error) {
	account := books.CashAccount.In(d)
	if !books.Attr(facts.Catalogs[books.CashAccounts], account, books.Bank) {
		return ledger.Account{}, &document.Invalid{Field: books.CashAccount.Name(),
			Reason: "is a cash desk, not a bank account"}
	}
	return ledger.At(books.AccountBank, account), nil
}

// paid is a payment that an invoice of an advance may be made of.
func paid(d *document.Document) *register.Movements {
	m := books.Payments.Movements(1)
	m.Add(false, d.ID, books.Contract.In(d), books.Amount.In(d))
	return m
}
