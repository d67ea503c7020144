package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/information"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
)

// InvoiceIssued is the type of document.
const InvoiceIssued = "invoice_issued"

func invoiceIssued() metadata.Document {
	return metadata.Document{
		Name: InvoiceIssued, Title: "Invoice issued", Prefix: "II", Search: []string{"counterparty", "basis"},
		Registers: []string{Invoices, SalesBook}, Optional: []string{OutputVAT, Payments, CustomerAdvances, PurchaseBook, General},
		Attributes: customers.header(),
	}
}

// invoiceIssuedRules: the VAT that a sale has charged goes into the sales book, once. So does the VAT of what a customer has paid ahead; when it is shipped, the
// invoice of the sale takes it back by the purchase book. The lines of the sale are read under the lock of what it has charged, without which a sale
// is not changed.
//
//	invoice of the basis · VAT charged− · sales book+ · advances− purchase book+  ·  Dr 68 Cr 76AV VAT of advances set off
//	of a payment: invoice of the basis · payments− · advances+ · sales book+  ·  Dr 76AV Cr 68 VAT
type invoiceIssuedRules struct{}

func (invoiceIssuedRules) Reads() map[string][]string { return customers.reads() }

func (invoiceIssuedRules) Balances(d *document.Document) []posting.Balance {
	return customers.balances(d)
}

func (invoiceIssuedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	moved, off, err := customers.invoice(d, facts)
	if err != nil {
		return nil, err
	}
	records := &posting.Records{Information: []*information.Records{record(Invoices, refOf(d, "basis"))}, Movements: moved}
	switch taxes := ledger.At(AccountTaxes); {
	case sumOf(d, "advance") != 0:
		records.Entries = entriesOf(entry{customers.advanced(d), taxes, sumOf(d, "vat")})
	case off.amount != 0:
		records.Entries = entriesOf(entry{taxes, customers.advanced(d), off.vat})
	}
	return records, nil
}
