package money

import (
	"fmt"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// BankPayment is the type of document: its description and its rules.
func BankPayment() books.DocumentType {
	return books.DocumentType{Rules: bankPaymentRules{}, Document: metadata.Document{
		Name: books.BankPayment, Title: "Bank payment", Prefix: "BP", Search: []string{"counterparty", "request"},
		Registers: books.Names(books.BankReferences, books.SupplierSettlements, books.Cash, books.PaymentPlan,
			books.Payments, books.General),
		Attributes: payment(books.DocumentRef(books.Request, books.PaymentRequest).Required(),
			books.DocumentRef(books.SourceOrder, books.SupplierOrder)),
	}}
}

// bankPaymentRules: a supplier is paid by an approved request, not more than is still open of it and than lies on the
// account; the bank's reference of it comes once for an account.
//
//	bank's reference · SS− · CA− · planned CA− · payments+  ·  Dr 60 Cr 51
type bankPaymentRules struct{}

func (bankPaymentRules) Reads() map[string][]string {
	return map[string][]string{
		books.Contracts: books.SettlementReads, books.CashAccounts: books.Names(books.Bank),
		books.PaymentRequest: books.Names(books.Counterparty, books.Contract),
		books.SupplierOrder:  books.Names(books.Counterparty, books.Contract),
	}
}

func (bankPaymentRules) Needs(d *document.Document) posting.Needs {
	needs := posting.Needs{Read: []posting.Need{
		books.Cash.Need(d, books.Cash.Key(books.CashAccount.In(d))),
		books.PaymentPlan.Need(d, books.PaymentPlan.Key(books.Contract.In(d), books.Request.In(d))),
	}}
	if order := books.SourceOrder.In(d); !order.IsZero() {
		needs.Lock = append(needs.Lock, books.SupplierOrders.Lock(d, books.SupplierOrders.Key(order)))
	}
	return needs
}

func (bankPaymentRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Supplier); err != nil {
		return nil, err
	}
	if err := books.CheckOrder(d, facts, books.SupplierOrder, books.Counterparty, books.Contract); err != nil {
		return nil, err
	}
	bank, err := bankAccount(d, facts)
	if err != nil {
		return nil, err
	}
	if err := approved(d, facts); err != nil {
		return nil, err
	}
	account, sum := books.CashAccount.In(d), books.Amount.In(d)
	if err := checkLeft(d, facts, books.PaymentPlan, books.Request.In(d), "is still open in the request"); err != nil {
		return nil, err
	}
	if err := checkLeft(d, facts, books.Cash, account, "is on the account"); err != nil {
		return nil, err
	}
	out, fulfilled := books.Cash.Movements(1), books.PaymentPlan.Movements(1)
	out.Add(true, account, sum)
	fulfilled.Add(true, books.Contract.In(d), books.Request.In(d), sum)
	return &posting.Records{
		Information: []*information.Records{books.BankReferences.State(account, books.BankReference.In(d))},
		Movements: []*register.Movements{books.Settle(d, facts, books.SupplierSettlements, true, sum), out, fulfilled,
			paid(d)},
		Entries: books.General.Entries(books.DebitCredit(books.SettlementAccount(d, books.AccountSuppliers), bank,
			sum)),
	}, nil
}

// approved is a request that is posted, of the same deal.
func approved(d *document.Document, facts *posting.Facts) error {
	request, requests := books.Request.In(d), facts.Documents[books.PaymentRequest]
	if !books.ReferredAttr(requests, request, books.Posted) {
		return &posting.Refusal{Control: "approved",
			Message: "the payment request " + books.ReferredAttr(requests, request, books.Number) + " is not approved"}
	}
	for _, a := range []books.Attribute[id.ID]{books.Counterparty, books.Contract} {
		if books.ReferredAttr(requests, request, a) != a.In(d) {
			return &document.Invalid{Field: a.Name(),
				Reason: "differs from that of the payment request " +
					books.ReferredAttr(requests, request, books.Number)}
		}
	}
	return nil
}

// Uncovered is a sum that there is not enough for.
type Uncovered struct {
	Of        id.ID        `json:"of"`
	Available amount.Money `json:"available"`
	Required  amount.Money `json:"required"`
}

// checkLeft refuses to pay more than is left: the balance of the register that was queried.
func checkLeft(d *document.Document, facts *posting.Facts, balances books.Register, subject id.ID, what string) error {
	balance, sum := books.Amount.Of(balances.Balances(facts))[0], books.Amount.In(d)
	if sum <= balance {
		return nil
	}
	return &posting.Refusal{Control: balances.Name(), Items: []Uncovered{{subject, balance, sum}},
		Message: fmt.Sprintf("%s %s, %s required", balance, what, sum)}
}
