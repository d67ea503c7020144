package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
)

// InvoiceReceived is the type of document.
const InvoiceReceived = "invoice_received"

func invoiceReceived() metadata.Document {
	counterparty := reference("counterparty", "counterparties")
	counterparty.Computed = true
	return metadata.Document{
		Name: InvoiceReceived, Title: "Invoice received", Prefix: "IR", Search: []string{"counterparty", "basis"},
		Registers: []string{Invoices, InvoiceNumbers, InputVAT, PurchaseBook, General},
		Attributes: []metadata.Attribute{
			required(paper("basis", GoodsReceipt, ServicePurchase)), required(text("invoice_number", 50)), counterparty,
			computed("amount", metadata.Money), computed("vat", metadata.Money), computed("total", metadata.Money),
		},
	}
}

// invoiceReceivedRules: with the supplier's invoice the VAT that a purchase was charged may be deducted, once; the number of the invoice comes once
// from a supplier. The lines of the purchase are read under the lock of what it was charged, without which it is not changed.
//
//	invoice of the basis · number · VAT charged− · purchase book+  ·  Dr 68 Cr 19 VAT
type invoiceReceivedRules struct{}

func (invoiceReceivedRules) Reads() map[string][]string {
	return map[string][]string{GoodsReceipt: invoicedReads, ServicePurchase: invoicedReads}
}

func (invoiceReceivedRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{guard(d, InputVAT, keys(InputVAT, []id.ID{refOf(d, "basis")}))}
}

func (invoiceReceivedRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	charged, booked, err := invoiced(d, facts, InputVAT, PurchaseBook)
	if err != nil {
		return nil, err
	}
	basis, counterparty := refOf(d, "basis"), refOf(d, "counterparty")
	return &posting.Records{
		Information: []*information.Records{record(Invoices, basis), record(InvoiceNumbers, counterparty, textOf(d, "invoice_number"))},
		Movements:   []*register.Movements{charged, booked},
		Entries:     entriesOf(entry{ledger.At(AccountTaxes), ledger.At(AccountInputVAT, counterparty), sumOf(d, "vat")}),
	}, nil
}
