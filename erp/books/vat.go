package books

import (
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/model/metadata"
)

// InputVAT is what suppliers have charged and no invoice has come for yet: the balance of account 19.
var InputVAT = chargedVAT("input_vat", "VAT charged by suppliers")

// OutputVAT is what has been charged to customers and no invoice has been issued for yet.
var OutputVAT = chargedVAT("output_vat", "VAT charged to customers")

// chargedVAT is by counterparty too, so that a document cannot be given to another one when its invoice has taken
// what it charged.
func chargedVAT(name, title string) Register {
	return accumulation(metadata.Accumulation{
		Name: name, Title: title, Controlled: true, LockBy: 1,
		Dimensions: Attributes(Basis, rate, Counterparty), Resources: Attributes(Amount, VAT),
	})
}

// PurchaseBook is the VAT that invoices received let us deduct: the debit of account 68.
var PurchaseBook = vatBook("purchase_book", "Purchase book")

// SalesBook is the VAT of invoices issued; with what is not invoiced yet it is the credit of account 68.
var SalesBook = vatBook("sales_book", "Sales book")

func vatBook(name, title string) Register {
	return accumulation(metadata.Accumulation{
		Name: name, Title: title, Turnovers: true,
		Dimensions: Attributes(Counterparty, rate), Resources: Attributes(Amount, VAT),
	})
}

// rate of VAT in per cent.
var rate = IntegerAttr("rate")

// Invoices: a document has one invoice, be it issued or received.
var Invoices = stated(metadata.Information{
	Name: "invoices", Title: "Invoices by basis", Dimensions: Attributes(Basis),
})

// InvoiceNumbers: the number of an invoice received comes once from a counterparty.
var InvoiceNumbers = stated(metadata.Information{
	Name: "invoice_numbers", Title: "Numbers of invoices received",
	Dimensions: Attributes(Counterparty, InvoiceNumber),
})

// Rated is what lines of one rate of VAT come to.
type Rated struct {
	Rate        int64
	Amount, VAT amount.Money
}

// ByRate sums rows of lines by their rate, in the order in which the rates come first.
func ByRate(lines *rowset.Table, rows []int) (sums []Rated) {
	net, vat, rates := Amount.Of(lines), VAT.Of(lines), VATRate.Of(lines)
	at := map[int64]int{}
	for _, row := range rows {
		i, seen := at[rates[row]]
		if !seen {
			i = len(sums)
			at[rates[row]] = i
			sums = append(sums, Rated{Rate: rates[row]})
		}
		sums[i].Amount += net[row] // their sum has been checked
		sums[i].VAT += vat[row]
	}
	return sums
}

// ChargeVAT is what a document's lines charge of VAT, by rate, in a register whose basis the document is.
func ChargeVAT(d *document.Document, charged Register) *register.Movements {
	lines := Lines(d)
	rows := make([]int, lines.Rows())
	for i := range rows {
		rows[i] = i
	}
	m := charged.Movements(2)
	for _, r := range ByRate(lines, rows) {
		m.Add(false, d.ID, r.Rate, Counterparty.In(d), r.Amount, r.VAT)
	}
	return m
}
