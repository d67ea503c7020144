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

// PaymentRequest is the type of document.
const PaymentRequest = "payment_request"

func paymentRequest() metadata.Document {
	return metadata.Document{
		Name: PaymentRequest, Title: "Payment request", Prefix: "PR", Search: []string{"counterparty", "basis"},
		Registers: []string{PaymentPlan}, Optional: []string{Requests},
		Attributes: []metadata.Attribute{
			required(reference("counterparty", "counterparties")), required(reference("contract", "contracts")), required(typed("amount", metadata.Money)),
			paper("basis", SupplierOrder, GoodsReceipt, ServicePurchase), typed("pay_by", metadata.Moment), text("purpose", 300),
		},
	}
}

// paymentRequestRules: to post a request is to approve it. A document is requested to be paid once, and not above its total as it is at that time; of
// a contract not more than its limit is requested and not paid yet.
//
//	planned CA+ · request of the basis
type paymentRequestRules struct{}

var requestedReads = []string{"counterparty", "contract", "total"}

func (paymentRequestRules) Reads() map[string][]string {
	return map[string][]string{
		"contracts":   {"counterparty", "supplier", "payment_limit"},
		SupplierOrder: requestedReads, GoodsReceipt: requestedReads, ServicePurchase: requestedReads,
	}
}

// Balances: a basis is guarded by what it cannot be changed without: an order by what is open of it, a purchase by its VAT.
func (paymentRequestRules) Balances(d *document.Document) []posting.Balance {
	needs := []posting.Balance{need(d, PaymentPlan, keys(PaymentPlan, []id.ID{refOf(d, "contract")}))}
	if basis := refOf(d, "basis"); !basis.IsZero() {
		needs = append(needs, guard(d, SupplierOrders, keys(SupplierOrders, []id.ID{basis})), guard(d, InputVAT, keys(InputVAT, []id.ID{basis})))
	}
	return needs
}

func (paymentRequestRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "supplier"); err != nil {
		return nil, err
	}
	records := &posting.Records{}
	if basis := refOf(d, "basis"); !basis.IsZero() {
		if err := withinBasis(d, facts, basis); err != nil {
			return nil, err
		}
		records.Information = []*information.Records{record(Requests, basis)}
	}
	contract, sum := refOf(d, "contract"), sumOf(d, "amount")
	planned := rowset.Column[amount.Money](facts.Balances[PaymentPlan], "amount")[0]
	if limit := of[amount.Money](facts.Catalogs["contracts"], contract, "payment_limit"); limit != 0 && planned+sum > limit {
		return nil, beyond("of the contract", Limit{contract, limit, planned, sum})
	}
	plan := moves(PaymentPlan, 1)
	plan.Add(false, contract, d.ID, sum)
	records.Movements = []*register.Movements{plan}
	return records, nil
}

// withinBasis checks that a request is of the deal of its basis, which is posted, and not above it.
func withinBasis(d *document.Document, facts *posting.Facts, basis id.ID) error {
	if err := postedBasis(facts, basis); err != nil {
		return err
	}
	_, referred, row := facts.Document(basis)
	for _, name := range []string{"counterparty", "contract"} {
		if rowset.Column[id.ID](referred.Rows, name)[row] != refOf(d, name) {
			return &document.Invalid{Field: name, Reason: "is another one than that of the basis"}
		}
	}
	if total := rowset.Column[amount.Money](referred.Rows, "total")[row]; sumOf(d, "amount") > total {
		return beyond("of the basis", Limit{basis, total, 0, sumOf(d, "amount")})
	}
	return nil
}

// Limit is what a request exceeds: of a contract, or of the document that is to be paid.
type Limit struct {
	Of        id.ID        `json:"of"`
	Limit     amount.Money `json:"limit"`
	Requested amount.Money `json:"requested"` // before
	Required  amount.Money `json:"required"`
}

func beyond(what string, l Limit) error {
	return &posting.Refusal{
		Control: "payment_limit", Items: []Limit{l},
		Message: fmt.Sprintf("the limit %s is %s: %s requested and not paid, %s more required", what, l.Limit, l.Requested, l.Required),
	}
}
