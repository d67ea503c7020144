package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
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

func (invoiceIssuedRules) Reads() map[string][]string {
	return map[string][]string{GoodsSale: invoicedReads, ServiceSale: invoicedReads}
}

func (invoiceIssuedRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{guard(d, OutputVAT, keys(OutputVAT, []id.ID{refOf(d, "basis")}))}
}

func (invoiceIssuedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	charged, booked, err := invoiced(d, facts, OutputVAT, SalesBook)
	if err != nil {
		return nil, err
	}
	return &posting.Records{
		Information: []*information.Records{record(Invoices, refOf(d, "basis"))},
		Movements:   []*register.Movements{charged, booked},
	}, nil
}
