package invoices_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestAPurchaseIsInvoicedOnce(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	goods := d.Goods("10")                                                           // 10.00 and 2.00
	goods.Lines = append(goods.Lines, erptest.Line{Item: d.Items[1], Quantity: "1"}) // 2.00 and 0.20
	first, second := d.Post(t, "goods-receipt", "", goods), d.Post(t, "service-purchase", "", d.ServicePurchase("1"))
	unposted := d.Draft(t, "service-purchase", d.ServicePurchase("1"))
	d.Post(t, "invoice-received", "", d.InvoiceReceived(unposted.ID, "F-0")).Refused(t, "of what is not posted",
		"basis")
	received := d.Live(t, "invoice-received", d.InvoiceReceived(second.ID, "F-0"), d.InvoiceReceived(first.ID, "F-1"))
	if got := d.Entries(t, received); got != "68 19 2.20" {
		t.Errorf("entries: %s", got)
	}
	const booked = "SELECT string_agg(rate || ' ' || amount || ' ' || vat, ', ' ORDER BY rate) FROM (SELECT rate, " +
		"sum(amount) AS amount, sum(vat) AS vat FROM acc_purchase_book_totals GROUP BY rate) b WHERE amount <> 0"
	if got := d.Value(t, booked); got != "10 2.00 0.20, 20 10.00 2.00" {
		t.Errorf("the purchase book has %s", got)
	}
	d.Post(t, "invoice-received", "", d.InvoiceReceived(first.ID, "F-2")).Refused(t, "of the same again", "invoices")
	d.Post(t, "invoice-received", "", d.InvoiceReceived(second.ID, "F-1")).Refused(t, "of the same number",
		"invoice_numbers")
	d.Post(t, "invoice-received", "", d.InvoiceReceived(second.ID, "F-2")).Want(t, "of the other", 201, "")
	path := "/v1/documents/goods-receipt/" + first.ID.String()
	d.Unpost(t, "goods-receipt", first.ID).Refused(t, "unpost what is invoiced", "input_vat")
	d.Change(t, path, 1, d.Goods("1")).Refused(t, "make less of it", "input_vat")
	counterparty, contract := d.Supplier(t)
	d.Change(t, path, 1, erptest.Fields{
		"warehouse": d.Org.Warehouses[0], "counterparty": counterparty, "contract": contract, "lines": goods.Lines,
	}).Refused(t, "give it to another supplier", "input_vat")
	goods.Lines[0].Quantity = "20"
	d.Change(t, path, 1, goods).Want(t, "make more of it", 200, "")
	d.Repost(t, "invoice-received", received).Want(t, "repost the invoice", 200, "")
	if got := d.Value(t, booked); got != "10 2.00 0.20, 20 25.00 5.00" {
		t.Errorf("the purchase book has %s", got)
	}
	d.Post(t, "invoice-received", "", d.InvoiceReceived(second.ID, "")).Want(t, "without a number", 400, "invalid")
	d.Post(t, "invoice-received", "", d.InvoiceReceived(id.New(), "F-9")).Want(t, "of nothing", 400, "invalid")
	sale := d.Post(t, "goods-sale", "", d.Goods("1"))
	d.Post(t, "invoice-received", "", d.InvoiceReceived(sale.ID, "F-9")).Want(t, "of a sale", 400, "invalid")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	stranger.Post(t, "invoice-received", "", d.InvoiceReceived(second.ID, "F-9")).Want(t, "of others", 400, "invalid")
	erptest.Clean(t, d.Database)
}

func TestASaleIsNotGivenToAnotherCustomerOnceInvoiced(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	sale := d.Post(t, "service-sale", "", d.ServiceSale("1"))
	d.Post(t, "invoice-issued", "", d.Invoice(sale.ID)).Want(t, "invoice", 201, "")
	counterparty, contract := d.Supplier(t)
	d.Exec(t, "UPDATE cat_contracts SET customer = true WHERE id = $1", contract)
	other := d.ServiceSale("1").With("counterparty", counterparty).With("contract", contract)
	d.Change(t, "/v1/documents/service-sale/"+sale.ID.String(), 1, other).Refused(t, "give it to another", "output_vat")
	erptest.Clean(t, d.Database)
}
