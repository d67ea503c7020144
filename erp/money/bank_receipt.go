package money

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// BankReceipt is the type of document: its description and its rules.
func BankReceipt() books.DocumentType {
	return books.DocumentType{Rules: bankReceiptRules{}, Document: metadata.Document{
		Name: books.BankReceipt, Title: "Bank receipt", Prefix: "BR", Search: []string{"counterparty"},
		Registers: books.Names(books.BankReferences, books.CustomerSettlements, books.Cash, books.Payments,
			books.General),
		Attributes: payment(books.DocumentRef(books.SourceOrder, books.CustomerOrder)),
	}}
}

// bankReceiptRules: a customer pays what is owed, or ahead, which an invoice may be issued of; the bank's reference
// of it comes once for an account.
//
//	bank's reference · SC− · CA+ · payments+  ·  Dr 51 Cr 62
type bankReceiptRules struct{}

func (bankReceiptRules) Reads() map[string][]string {
	return map[string][]string{books.Contracts: books.SettlementReads, books.CashAccounts: books.Names(books.Bank),
		books.CustomerOrder: books.Names(books.Counterparty, books.Contract)}
}

func (bankReceiptRules) Needs(d *document.Document) posting.Needs {
	order := books.SourceOrder.In(d)
	if order.IsZero() {
		return posting.Needs{}
	}
	return posting.Needs{Lock: []posting.Lock{books.CustomerOrders.Lock(d, books.CustomerOrders.Key(order))}}
}

func (bankReceiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Customer); err != nil {
		return nil, err
	}
	if err := books.CheckOrder(d, facts, books.CustomerOrder, books.Counterparty, books.Contract); err != nil {
		return nil, err
	}
	bank, err := bankAccount(d, facts)
	if err != nil {
		return nil, err
	}
	sum := books.Amount.In(d)
	came := books.Cash.Movements(1)
	came.Add(false, books.CashAccount.In(d), sum)
	return &posting.Records{
		Information: []*information.Records{books.BankReferences.State(books.CashAccount.In(d),
			books.BankReference.In(d))},
		Movements: []*register.Movements{books.Settle(d, facts, books.CustomerSettlements, true, sum), came, paid(d)},
		Entries: books.General.Entries(books.DebitCredit(bank, books.SettlementAccount(d, books.AccountCustomers),
			sum)),
	}, nil
}
