package invoices

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/model/metadata"
)

// Issued is the type of document: its description and its rules.
func Issued() books.DocumentType {
	return books.DocumentType{Rules: invoiceIssuedRules{}, Document: metadata.Document{
		Name: books.InvoiceIssued, Title: "Invoice issued", Prefix: "II", Search: []string{"counterparty", "basis"},
		Registers: books.Names(books.Invoices, books.SalesBook),
		Optional: books.Names(books.OutputVAT, books.Payments, books.CustomerAdvances, books.PurchaseBook,
			books.General),
		Attributes: customers.header(),
	}}
}

// invoiceIssuedRules: the VAT that a sale has charged goes into the sales book, once. So does the VAT of what a
// customer has paid ahead; when it is shipped, the invoice of the sale reverses it in the purchase book. The lines of
// the sale are read under the lock of what it has charged, without which a sale is not changed.
//
//	invoice of the basis · VAT charged− · sales book+ · advances− purchase book+
//	  Dr 68 Cr 76AV VAT of advances set off
//	of a payment: invoice of the basis · payments− · advances+ · sales book+  ·  Dr 76AV Cr 68 VAT
type invoiceIssuedRules struct{}

func (invoiceIssuedRules) Reads() map[string][]string { return customers.reads() }

func (invoiceIssuedRules) Needs(d *document.Document) posting.Needs {
	return customers.needs(d)
}

func (invoiceIssuedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	moved, off, err := customers.invoice(d, facts)
	if err != nil {
		return nil, err
	}
	records := &posting.Records{Information: []*information.Records{books.Invoices.State(books.Basis.In(d))},
		Movements: moved}
	switch taxes := ledger.At(books.AccountTaxes); {
	case advanceSum.In(d) != 0:
		records.Entries = books.General.Entries(books.DebitCredit(customers.advanced(d), taxes, books.VAT.In(d)))
	case off.amount != 0:
		records.Entries = books.General.Entries(books.DebitCredit(taxes, customers.advanced(d), off.vat))
	}
	return records, nil
}

// Restate implements posting.Evident.
func (invoiceIssuedRules) Restate(d *document.Document, facts *posting.Facts, _ *posting.Records) {
	customers.restate(d, facts)
}
