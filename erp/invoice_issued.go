package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// InvoiceIssued is the type of document.
const InvoiceIssued = "invoice_issued"

func invoiceIssued() metadata.Document {
	counterparty := reference("counterparty", "counterparties")
	counterparty.Computed = true
	return metadata.Document{
		Name: InvoiceIssued, Title: "Invoice issued", Prefix: "II", Search: []string{"counterparty", "basis"},
		Registers: []string{Invoices, OutputVAT, SalesBook},
		Attributes: []metadata.Attribute{
			required(paper("basis", GoodsSale, ServiceSale)), counterparty,
			computed("amount", metadata.Money), computed("vat", metadata.Money), computed("total", metadata.Money),
		},
	}
}

// invoiceIssuedRules: the VAT that a sale has charged goes into the sales book, once. The lines of the sale are read under the lock of what it has
// charged, without which a sale is not changed.
//
//	invoice of the basis · VAT charged− · sales book+
type invoiceIssuedRules struct{}

var invoicedReads = []string{"counterparty", "amount", "vat", "total", "lines.vat_rate", "lines.amount", "lines.vat"}

func (invoiceIssuedRules) Reads() map[string][]string {
	return map[string][]string{GoodsSale: invoicedReads, ServiceSale: invoicedReads}
}

func (invoiceIssuedRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{guard(d, OutputVAT, keys(OutputVAT, []any{refOf(d, "basis")}))}
}

func (invoiceIssuedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	basis := refOf(d, "basis")
	if err := postedBasis(facts, basis); err != nil {
		return nil, err
	}
	_, sale, row := facts.Document(basis)
	rowset.Column[id.ID](d.Header, "counterparty")[0] = rowset.Column[id.ID](sale.Rows, "counterparty")[row]
	for _, name := range []string{"amount", "vat", "total"} {
		rowset.Column[amount.Money](d.Header, name)[0] = rowset.Column[amount.Money](sale.Rows, name)[row]
	}
	charged, booked := moves(OutputVAT, 2), moves(SalesBook, 2)
	for _, r := range byRate(sale.Sections["lines"], sale.Lines("lines", basis)) {
		charged.Add(true, basis, r.rate, r.amount, r.vat)
		booked.Add(false, refOf(d, "counterparty"), r.rate, r.amount, r.vat)
	}
	return &posting.Records{
		Information: []*information.Records{record(Invoices, basis)},
		Movements:   []*register.Movements{charged, booked},
	}, nil
}
