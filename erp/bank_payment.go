package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// BankPayment is the type of document.
const BankPayment = "bank_payment"

func bankPayment() metadata.Document {
	return metadata.Document{
		Name: BankPayment, Title: "Bank payment", Prefix: "BP", Search: []string{"counterparty", "request"},
		Registers:  []string{BankReferences, SupplierSettlements, Cash, PaymentPlan, Payments, General},
		Attributes: append(payment(), required(paper("request", PaymentRequest)), paper("source_order", SupplierOrder)),
	}
}

// bankPaymentRules: a supplier is paid by an approved request, not more than is still open of it and than lies on the account; the bank's reference
// of it comes once for an account.
//
//	bank's reference · SS− · CA− · planned CA− · payments+  ·  Dr 60 Cr 51
type bankPaymentRules struct{}

func (bankPaymentRules) Reads() map[string][]string {
	return map[string][]string{
		"contracts": settlementReads, "cash_accounts": {"bank"},
		PaymentRequest: {"counterparty", "contract"}, SupplierOrder: {"counterparty", "contract"},
	}
}

func (bankPaymentRules) Balances(d *document.Document) []posting.Balance {
	needs := []posting.Balance{
		need(d, Cash, keys(Cash, []id.ID{refOf(d, "cash_account")})),
		need(d, PaymentPlan, keys(PaymentPlan, []id.ID{refOf(d, "contract"), refOf(d, "request")})),
	}
	if order := refOf(d, "source_order"); !order.IsZero() {
		needs = append(needs, guard(d, SupplierOrders, keys(SupplierOrders, []id.ID{order})))
	}
	return needs
}

func (bankPaymentRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "supplier"); err != nil {
		return nil, err
	}
	if err := byOrder(d, facts, SupplierOrder, "counterparty", "contract"); err != nil {
		return nil, err
	}
	bank, err := bankAccount(d, facts)
	if err != nil {
		return nil, err
	}
	if err := approved(d, facts); err != nil {
		return nil, err
	}
	account, sum := refOf(d, "cash_account"), sumOf(d, "amount")
	if err := covered(d, facts, PaymentPlan, refOf(d, "request"), "is still open of the request"); err != nil {
		return nil, err
	}
	if err := covered(d, facts, Cash, account, "lies on the account"); err != nil {
		return nil, err
	}
	out, fulfilled := moves(Cash, 1), moves(PaymentPlan, 1)
	out.Add(true, account, sum)
	fulfilled.Add(true, refOf(d, "contract"), refOf(d, "request"), sum)
	return &posting.Records{
		Information: []*information.Records{record(BankReferences, account, textOf(d, "bank_reference"))},
		Movements:   []*register.Movements{settle(d, facts, SupplierSettlements, true, sum), out, fulfilled, paid(d)},
		Entries:     entriesOf(entry{settlementAccount(d, AccountSuppliers), bank, sum}),
	}, nil
}

// approved is a request that is posted, of the same deal.
func approved(d *document.Document, facts *posting.Facts) error {
	request, requests := refOf(d, "request"), facts.Documents[PaymentRequest]
	if !said[bool](requests, request, "posted") {
		return &posting.Refusal{Control: "approved", Message: "the payment request " + said[string](requests, request, "number") + " is not approved"}
	}
	for _, name := range []string{"counterparty", "contract"} {
		if said[id.ID](requests, request, name) != refOf(d, name) {
			return &document.Invalid{Field: name, Reason: "is another one than that of the payment request " + said[string](requests, request, "number")}
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

// covered refuses to pay more than the one balance asked for of a register.
func covered(d *document.Document, facts *posting.Facts, name string, of id.ID, what string) error {
	there, sum := rowset.Column[amount.Money](facts.Balances[name], "amount")[0], sumOf(d, "amount")
	if sum <= there {
		return nil
	}
	return &posting.Refusal{Control: name, Items: []Uncovered{{of, there, sum}}, Message: fmt.Sprintf("%s %s, %s required", there, what, sum)}
}
