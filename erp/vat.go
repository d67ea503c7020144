package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/metadata"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Registers of VAT and invoices.
const (
	InputVAT       = "input_vat"
	OutputVAT      = "output_vat"
	PurchaseBook   = "purchase_book"
	SalesBook      = "sales_book"
	Invoices       = "invoices"
	InvoiceNumbers = "invoice_numbers"
)

// inputVAT is what suppliers have charged and no invoice has come for yet: the balance of account 19.
func inputVAT() metadata.Accumulation { return chargedVAT(InputVAT, "VAT charged by suppliers") }

// outputVAT is what has been charged to customers and no invoice has been issued for yet.
func outputVAT() metadata.Accumulation { return chargedVAT(OutputVAT, "VAT charged to customers") }

// chargedVAT is by counterparty too, so that a document cannot be given to another one when its invoice has taken what it charged.
func chargedVAT(name, title string) metadata.Accumulation {
	return metadata.Accumulation{
		Name: name, Title: title, Controlled: true, LockBy: 1,
		Dimensions: []metadata.Attribute{anyPaper("basis"), typed("rate", metadata.Integer), reference("counterparty", "counterparties")},
		Resources:  vatResources(),
	}
}

// purchaseBook is the VAT that invoices received let us deduct: the debit of account 68.
func purchaseBook() metadata.Accumulation { return book(PurchaseBook, "Purchase book") }

// salesBook is the VAT of invoices issued; with what is not invoiced yet it is the credit of account 68.
func salesBook() metadata.Accumulation { return book(SalesBook, "Sales book") }

func book(name, title string) metadata.Accumulation {
	return metadata.Accumulation{
		Name: name, Title: title, Turnovers: true, Dimensions: []metadata.Attribute{reference("counterparty", "counterparties"), typed("rate", metadata.Integer)},
		Resources: vatResources(),
	}
}

func vatResources() []metadata.Attribute {
	return []metadata.Attribute{typed("amount", metadata.Money), typed("vat", metadata.Money)}
}

// invoicesByBasis: a document has one invoice, be it issued or received.
func invoicesByBasis() metadata.Information {
	return metadata.Information{Name: Invoices, Title: "Invoices by basis", Dimensions: []metadata.Attribute{anyPaper("basis")}}
}

// invoiceNumbers: the number of an invoice received comes once from a counterparty.
func invoiceNumbers() metadata.Information {
	return metadata.Information{
		Name: InvoiceNumbers, Title: "Numbers of invoices received",
		Dimensions: []metadata.Attribute{reference("counterparty", "counterparties"), text("invoice_number", 50)},
	}
}

// rated is what lines of one rate of VAT come to.
type rated struct {
	rate        int64
	amount, vat amount.Money
}

// byRate sums rows of lines by their rate, in the order in which the rates come first.
func byRate(lines *rowset.Table, rows []int) (sums []rated) {
	net, vat, rates := rowset.Column[amount.Money](lines, "amount"), rowset.Column[amount.Money](lines, "vat"), rowset.Column[int64](lines, "vat_rate")
	at := map[int64]int{}
	for _, row := range rows {
		i, seen := at[rates[row]]
		if !seen {
			i = len(sums)
			at[rates[row]], sums = i, append(sums, rated{rate: rates[row]})
		}
		sums[i].amount += net[row] // their sum has been checked
		sums[i].vat += vat[row]
	}
	return sums
}

// charge is what a document's lines charge of VAT, by rate, in a register whose basis the document is.
func charge(d *document.Document, name string) *register.Movements {
	lines := d.Section("lines")
	rows := make([]int, lines.Rows())
	for i := range rows {
		rows[i] = i
	}
	m := moves(name, 2)
	for _, r := range byRate(lines, rows) {
		m.Add(false, d.ID, r.rate, refOf(d, "counterparty"), r.amount, r.vat)
	}
	return m
}
