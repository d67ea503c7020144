package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

func (d desk) numbered(basis id.ID, number string) erptest.Fields {
	return with(d.invoice(basis), "invoice_number", number)
}

func TestAPurchaseIsInvoicedOnce(t *testing.T) {
	d := sit(t, 2)
	goods := d.document("10")                                                        // 10.00 and 2.00
	goods.Lines = append(goods.Lines, erptest.Line{Item: d.Items[1], Quantity: "1"}) // 2.00 and 0.20
	first, second := d.Post(t, "goods-receipt", "", goods), d.Post(t, "service-purchase", "", d.bought("1"))
	unposted := d.Call(t, "POST", "/v1/documents/service-purchase?post=false", "", jsonOf(t, d.bought("1")))
	refused(t, "of what is not posted", d.Post(t, "invoice-received", "", d.numbered(unposted.ID, "F-0")), "basis")
	received := d.live(t, "invoice-received", d.numbered(second.ID, "F-0"), d.numbered(first.ID, "F-1"))
	if got := d.entries(t, received); got != "68 19 2.20" {
		t.Errorf("entries: %s", got)
	}
	const booked = "SELECT string_agg(rate || ' ' || amount || ' ' || vat, ', ' ORDER BY rate) FROM (SELECT rate, " +
		"sum(amount) AS amount, sum(vat) AS vat FROM acc_purchase_book_totals GROUP BY rate) b WHERE amount <> 0"
	if got := d.Value(t, booked); got != "10 2.00 0.20, 20 10.00 2.00" {
		t.Errorf("the purchase book has %s", got)
	}
	refused(t, "of the same again", d.Post(t, "invoice-received", "", d.numbered(first.ID, "F-2")), "invoices")
	refused(t, "of the same number", d.Post(t, "invoice-received", "", d.numbered(second.ID, "F-1")), "invoice_numbers")
	want(t, "of the other", d.Post(t, "invoice-received", "", d.numbered(second.ID, "F-2")), 201, "")
	path := "/v1/documents/goods-receipt/" + first.ID.String()
	refused(t, "take back what is invoiced", d.unpost(t, "goods-receipt", first), "input_vat")
	refused(t, "make less of it", d.Change(t, path, 1, encode(t, d.document("1"))), "input_vat")
	counterparty, contract := d.supplier(t)
	refused(t, "give it to another supplier", d.Change(t, path, 1, jsonOf(t, erptest.Fields{
		"warehouse": d.o.Warehouses[0], "counterparty": counterparty, "contract": contract, "lines": goods.Lines,
	})), "input_vat")
	goods.Lines[0].Quantity = "20"
	want(t, "make more of it", d.Change(t, path, 1, encode(t, goods)), 200, "")
	want(t, "post the invoice anew", d.Call(t, "POST", "/v1/documents/invoice-received/"+received.String()+"/post", "",
		nil), 200, "")
	if got := d.Value(t, booked); got != "10 2.00 0.20, 20 25.00 5.00" {
		t.Errorf("the purchase book has %s", got)
	}
	want(t, "without a number", d.Post(t, "invoice-received", "", d.numbered(second.ID, "")), 400, "invalid")
	want(t, "of nothing", d.Post(t, "invoice-received", "", d.numbered(id.New(), "F-9")), 400, "invalid")
	sale := d.Post(t, "goods-sale", "", d.document("1"))
	want(t, "of a sale", d.Post(t, "invoice-received", "", d.numbered(sale.ID, "F-9")), 400, "invalid")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	want(t, "of others", stranger.Post(t, "invoice-received", "", d.numbered(second.ID, "F-9")), 400, "invalid")
	erptest.Clean(t, d.Database)
}

func TestASaleIsNotGivenToAnotherCustomerOnceInvoiced(t *testing.T) {
	d := sit(t, 1)
	sale := d.Post(t, "service-sale", "", d.services("1"))
	want(t, "invoice", d.Post(t, "invoice-issued", "", d.invoice(sale.ID)), 201, "")
	counterparty, contract := d.supplier(t)
	d.Exec(t, "UPDATE cat_contracts SET customer = true WHERE id = $1", contract)
	other := with(with(d.services("1"), "counterparty", counterparty), "contract", contract)
	refused(t, "give it to another", d.Change(t, "/v1/documents/service-sale/"+sale.ID.String(), 1, jsonOf(t, other)),
		"output_vat")
	erptest.Clean(t, d.Database)
}
