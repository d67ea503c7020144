package invoices

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/model/metadata"
)

// Received is the type of document: its description and its rules.
func Received() books.DocumentType {
	return books.DocumentType{Rules: invoiceReceivedRules{}, Document: metadata.Document{
		Name: books.InvoiceReceived, Title: "Invoice received", Prefix: "IR", Search: []string{"counterparty", "basis"},
		Registers:  books.Names(books.Invoices, books.InvoiceNumbers, books.PurchaseBook, books.General),
		Optional:   books.Names(books.InputVAT, books.Payments, books.SupplierAdvances, books.SalesBook),
		Attributes: suppliers.header(books.InvoiceNumber.Required()),
	}}
}

// invoiceReceivedRules: with the supplier's invoice the VAT that a purchase was charged may be deducted, once; the
// number of the invoice comes once from a supplier. So may the VAT of what we have paid ahead; when it is received,
// the invoice of the purchase restores it by the sales book. The lines of the purchase are read under the lock of
// what it was charged, without which it is not changed.
//
//	invoice of the basis · number · VAT charged− · purchase book+ · advances− sales book+
//	  Dr 68 Cr 19 VAT · Dr 76VA Cr 68 VAT of advances set off
//	of a payment: invoice of the basis · number · payments− · advances+ · purchase book+  ·  Dr 68 Cr 76VA VAT
type invoiceReceivedRules struct{}

func (invoiceReceivedRules) Reads() map[string][]string { return suppliers.reads() }

func (invoiceReceivedRules) Needs(d *document.Document) posting.Needs {
	return suppliers.needs(d)
}

func (invoiceReceivedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	moved, off, err := suppliers.invoice(d, facts)
	if err != nil {
		return nil, err
	}
	taxes, from := ledger.At(books.AccountTaxes), ledger.At(books.AccountInputVAT, books.Counterparty.In(d))
	if advanceSum.In(d) != 0 {
		from = suppliers.advanced(d)
	}
	return &posting.Records{
		Information: []*information.Records{books.Invoices.State(books.Basis.In(d)),
			books.InvoiceNumbers.State(books.Counterparty.In(d), books.InvoiceNumber.In(d))},
		Movements: moved,
		Entries: books.General.Entries(books.DebitCredit(taxes, from, books.VAT.In(d)),
			books.DebitCredit(suppliers.advanced(d), taxes, off.vat)),
	}, nil
}

// Restate implements posting.Evident.
func (invoiceReceivedRules) Restate(d *document.Document, facts *posting.Facts, _ *posting.Records) {
	suppliers.restate(d, facts)
}
