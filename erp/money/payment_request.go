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

// PaymentRequest is the type of document: its description and its rules.
func PaymentRequest() books.DocumentType {
	return books.DocumentType{Rules: paymentRequestRules{}, Document: metadata.Document{
		Name: books.PaymentRequest, Title: "Payment request", Prefix: "PR", Search: []string{"counterparty", "basis"},
		Registers: books.Names(books.PaymentPlan), Optional: books.Names(books.Requests),
		Attributes: books.Attributes(books.Counterparty.Required(), books.Contract.Required(), books.Amount.Required(),
			books.DocumentRef(books.Basis, books.SupplierOrder, books.GoodsReceipt, books.ServicePurchase),
			books.MomentAttr("pay_by"),
			books.TextAttr("purpose", 300)),
	}}
}

// paymentRequestRules: to post a request is to approve it. A document is requested to be paid once, and not above its
// total as it is at that time; of a contract not more than its limit is requested and not paid yet.
//
//	planned CA+ · request of the basis
type paymentRequestRules struct{}

var requestedReads = []string{"counterparty", "contract", "total"}

func (paymentRequestRules) Reads() map[string][]string {
	return map[string][]string{
		books.Contracts:     books.Names(books.Counterparty, books.Supplier, books.PaymentLimit),
		books.SupplierOrder: requestedReads, books.GoodsReceipt: requestedReads, books.ServicePurchase: requestedReads,
	}
}

// Balances: a basis is guarded by what it cannot be changed without: an order by what is open of it, a purchase by
// its VAT.
func (paymentRequestRules) Needs(d *document.Document) posting.Needs {
	needs := posting.Needs{Read: []posting.Need{
		books.PaymentPlan.Need(d, books.PaymentPlan.Key(books.Contract.In(d))),
	}}
	if basis := books.Basis.In(d); !basis.IsZero() {
		needs.Lock = append(needs.Lock, books.SupplierOrders.Lock(d, books.SupplierOrders.Key(basis)),
			books.InputVAT.Lock(d, books.InputVAT.Key(basis)))
	}
	return needs
}

func (paymentRequestRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Supplier); err != nil {
		return nil, err
	}
	records := &posting.Records{}
	if basis := books.Basis.In(d); !basis.IsZero() {
		if err := withinBasis(d, facts, basis); err != nil {
			return nil, err
		}
		records.Information = []*information.Records{books.Requests.State(basis)}
	}
	contract, sum := books.Contract.In(d), books.Amount.In(d)
	planned := books.Amount.Of(books.PaymentPlan.Balances(facts))[0]
	if limit := books.Attr(facts.Catalogs[books.Contracts], contract, books.PaymentLimit); limit != 0 &&
		planned+sum > limit {
		return nil, limitRefusal("of the contract", Limit{contract, limit, planned, sum})
	}
	plan := books.PaymentPlan.Movements(1)
	plan.Add(false, contract, d.ID, sum)
	records.Movements = []*register.Movements{plan}
	return records, nil
}

// withinBasis checks that a request is of the deal of its basis, which is posted, and not above it.
func withinBasis(d *document.Document, facts *posting.Facts, basis id.ID) error {
	if err := books.CheckPosted(facts, basis); err != nil {
		return err
	}
	_, referred, row := facts.Document(basis)
	for _, a := range []books.Attribute[id.ID]{books.Counterparty, books.Contract} {
		if a.Of(referred.Rows)[row] != a.In(d) {
			return &document.Invalid{Field: a.Name(), Reason: "differs from that of the basis"}
		}
	}
	if total := books.Total.Of(referred.Rows)[row]; books.Amount.In(d) > total {
		return limitRefusal("of the basis", Limit{basis, total, 0, books.Amount.In(d)})
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

func limitRefusal(what string, l Limit) error {
	return &posting.Refusal{
		Control: "payment_limit", Items: []Limit{l},
		Message: fmt.Sprintf("the limit %s is %s: %s requested and not yet paid, %s more requested", what, l.Limit,
			l.Requested, l.Required),
	}
}

// Restate implements posting.Evident: what was requested was within the total of the basis, as that was then.
func (paymentRequestRules) Restate(_ *document.Document, facts *posting.Facts, _ *posting.Records) {
	books.NoLimits(facts)
	for _, referred := range facts.Documents {
		totals := books.Total.Of(referred.Rows)
		for i := range totals {
			totals[i] = posting.Unlimited
		}
	}
}
