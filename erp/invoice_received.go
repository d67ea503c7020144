package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/information"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
)

// InvoiceReceived is the type of document.
const InvoiceReceived = "invoice_received"

func invoiceReceived() metadata.Document {
	return metadata.Document{
		Name: InvoiceReceived, Title: "Invoice received", Prefix: "IR", Search: []string{"counterparty", "basis"},
		Registers: []string{Invoices, InvoiceNumbers, PurchaseBook, General}, Optional: []string{InputVAT, Payments, SupplierAdvances, SalesBook},
		Attributes: suppliers.header(required(text("invoice_number", 50))),
	}
}

// invoiceReceivedRules: with the supplier's invoice the VAT that a purchase was charged may be deducted, once; the number of the invoice comes once
// from a supplier. So may the VAT of what we have paid ahead; when it is received, the invoice of the purchase restores it by the sales book. The lines of the
// purchase are read under the lock of what it was charged, without which it is not changed.
//
//	invoice of the basis · number · VAT charged− · purchase book+ · advances− sales book+  ·  Dr 68 Cr 19 VAT · Dr 76VA Cr 68 VAT of advances set off
//	of a payment: invoice of the basis · number · payments− · advances+ · purchase book+  ·  Dr 68 Cr 76VA VAT
type invoiceReceivedRules struct{}

func (invoiceReceivedRules) Reads() map[string][]string { return suppliers.reads() }

func (invoiceReceivedRules) Balances(d *document.Document) []posting.Balance {
	return suppliers.balances(d)
}

func (invoiceReceivedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	moved, off, err := suppliers.invoice(d, facts)
	if err != nil {
		return nil, err
	}
	taxes, from := ledger.At(AccountTaxes), ledger.At(AccountInputVAT, refOf(d, "counterparty"))
	if sumOf(d, "advance") != 0 {
		from = suppliers.advanced(d)
	}
	return &posting.Records{
		Information: []*information.Records{record(Invoices, refOf(d, "basis")), record(InvoiceNumbers, refOf(d, "counterparty"), textOf(d, "invoice_number"))},
		Movements:   moved,
		Entries:     entriesOf(entry{taxes, from, sumOf(d, "vat")}, entry{suppliers.advanced(d), taxes, off.vat}),
	}, nil
}
