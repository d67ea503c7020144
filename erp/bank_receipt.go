package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
)

// BankReceipt is the type of document.
const BankReceipt = "bank_receipt"

func bankReceipt() metadata.Document {
	return metadata.Document{
		Name: BankReceipt, Title: "Bank receipt", Prefix: "BR", Search: []string{"counterparty"},
		Registers:  []string{BankReferences, CustomerSettlements, Cash, Payments, General},
		Attributes: append(payment(), paper("source_order", CustomerOrder)),
	}
}

// bankReceiptRules: a customer pays what is owed, or ahead, which an invoice may be issued of; the bank's reference of it comes once for an account.
//
//	bank's reference · SC− · CA+ · payments+  ·  Dr 51 Cr 62
type bankReceiptRules struct{}

func (bankReceiptRules) Reads() map[string][]string {
	return map[string][]string{"contracts": settlementReads, "cash_accounts": {"bank"}, CustomerOrder: {"counterparty", "contract"}}
}

func (bankReceiptRules) Balances(d *document.Document) []posting.Balance {
	order := refOf(d, "source_order")
	if order.IsZero() {
		return nil
	}
	return []posting.Balance{guard(d, CustomerOrders, keys(CustomerOrders, []id.ID{order}))}
}

func (bankReceiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "customer"); err != nil {
		return nil, err
	}
	if err := byOrder(d, facts, CustomerOrder, "counterparty", "contract"); err != nil {
		return nil, err
	}
	bank, err := bankAccount(d, facts)
	if err != nil {
		return nil, err
	}
	sum := sumOf(d, "amount")
	came := moves(Cash, 1)
	came.Add(false, refOf(d, "cash_account"), sum)
	return &posting.Records{
		Information: []*information.Records{record(BankReferences, refOf(d, "cash_account"), textOf(d, "bank_reference"))},
		Movements:   []*register.Movements{settle(d, facts, CustomerSettlements, true, sum), came, paid(d)},
		Entries:     entriesOf(entry{bank, settlementAccount(d, AccountCustomers), sum}),
	}, nil
}
