package erp_test

import (
	"math/rand/v2"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
	"plimsoll/platform/server"
)

// ofAdvance is an invoice of a payment of which so much is ahead; all that can be when that is empty.
func (d desk) ofAdvance(payment id.ID, sum string) erptest.Fields {
	if sum == "" {
		return d.invoice(payment)
	}
	return with(d.invoice(payment), "advance", sum)
}

// An advance of a customer is charged VAT when its invoice is issued; the invoices of what is shipped for it take it
// back.
func TestAnAdvanceOfACustomerIsChargedUntilItIsShipped(t *testing.T) {
	d := sit(t, 1)
	small := d.Post(t, "bank-receipt", "", d.payment("60.00", "B-1"))
	large := d.Post(t, "bank-receipt", "", d.payment("120.00", "B-2"))
	first := d.live(t, "invoice-issued", d.ofAdvance(small.ID, ""), d.ofAdvance(large.ID, "120.00"))
	if got := d.entries(t, first); got != "76AV 68 20.00" {
		t.Errorf("entries of the advance: %s", got)
	}
	refused(t, "more than is ahead", d.Post(t, "invoice-issued", "", d.ofAdvance(small.ID, "60.01")), "advance")
	second := d.Post(t, "invoice-issued", "", d.ofAdvance(small.ID, "30.00"))
	want(t, "a part of a payment", second, 201, "")
	refused(t, "the same payment again", d.Post(t, "invoice-issued", "", d.ofAdvance(small.ID, "1.00")), "invoices")
	refused(t, "take back an invoiced payment", d.unpost(t, "bank-receipt", large), "payments")
	refused(t, "make less of it", d.Change(t, "/v1/documents/bank-receipt/"+large.ID.String(), 1,
		jsonOf(t, d.payment("119.99", "B-2"))), "payments")
	// 84.00 of 180.00 paid ahead, 30.00 of which are not invoiced
	sold := d.Post(t, "service-sale", "", d.services("7"))
	shipped := d.Post(t, "invoice-issued", "", d.invoice(sold.ID))
	if got := d.entries(t, shipped.ID); got != "68 76AV 9.00" {
		t.Errorf("entries of what 54.00 of 150.00 are set off by: %s", got)
	}
	if got := d.Value(t, "SELECT total || ' ' || set_off || ' ' || set_off_vat FROM doc_invoice_issued WHERE id = $1",
		shipped.ID); got != "84.00 54.00 9.00" {
		t.Errorf("the invoice says %s", got)
	}
	const books = "SELECT (SELECT sum(amount) || ' ' || sum(vat) FROM acc_sales_book_totals) || ', ' || (SELECT " +
		"sum(amount) || ' ' || sum(vat) FROM acc_purchase_book_totals)"
	if got := d.Value(t, books); got != "195.00 39.00, 45.00 9.00" {
		t.Errorf("the books have %s", got)
	}
	refused(t, "take back an advance that is set off", d.unpost(t, "invoice-issued", erptest.Answer{ID: first}),
		"customer_advances")
	sold = d.Post(t, "service-sale", "", d.services("10"))
	rest := d.live(t, "invoice-issued", d.invoice(sold.ID), d.invoice(sold.ID))
	if got := d.entries(t, rest); got != "68 76AV 16.00" {
		t.Errorf("entries of what the rest is set off by: %s", got)
	}
	if got := d.Value(t, "SELECT coalesce(sum(debit - credit), 0) FROM gl_general_totals WHERE account = '76AV' "+
		"AND period = 'infinity'"); got != "0.00" {
		t.Errorf("%s are left on 76AV", got)
	}
	owed := d.Post(t, "bank-receipt", "", d.payment("10.00", "B-3"))
	refused(t, "what pays a debt", d.Post(t, "invoice-issued", "", d.invoice(owed.ID)), "advance")
	want(t, "an advance of a sale", d.Post(t, "invoice-issued", "", d.ofAdvance(sold.ID, "1.00")), 400, "invalid")
	_, contract := d.supplier(t)
	want(t, "under another contract", d.Post(t, "invoice-issued", "", with(d.invoice(owed.ID), "contract", contract)),
		400, "invalid")
	want(t, "under none", d.Post(t, "invoice-issued", "", erptest.Fields{"basis": owed.ID}), 400, "invalid")
	erptest.Clean(t, d.Database)
}

// What was shipped before a payment is no business of it: its invoice, come late, sets nothing off.
func TestAnInvoiceOfWhatWasOwedSetsNothingOff(t *testing.T) {
	d := sit(t, 1)
	sold := d.Post(t, "service-sale", "", d.services("5")) // 60.00
	payment := d.Post(t, "bank-receipt", "", d.payment("90.00", "B-1"))
	advance := d.Post(t, "invoice-issued", "", d.invoice(payment.ID))
	if got := d.entries(t, advance.ID); got != "76AV 68 5.00" {
		t.Errorf("entries of the 30.00 that are ahead: %s", got)
	}
	late := d.Post(t, "invoice-issued", "", d.invoice(sold.ID))
	if got := d.entries(t, late.ID); got != "" {
		t.Errorf("entries: %s", got)
	}
	erptest.Clean(t, d.Database)
}

// The VAT of an advance to a supplier is deducted when its invoice comes; the invoices of what is received for it
// restore it.
func TestAnAdvanceToASupplierIsDeductedUntilItIsReceived(t *testing.T) {
	d := sit(t, 1)
	d.Post(t, "bank-receipt", "", d.payment("500.00", "B-1"))
	pay := func(sum, reference string) erptest.Answer {
		request := d.Post(t, "payment-request", "", d.deal(erptest.Fields{"amount": sum}))
		return d.Post(t, "bank-payment", "", with(d.payment(sum, reference), "request", request.ID))
	}
	small, large := pay("30.00", "P-1"), pay("90.00", "P-2")
	of := func(a erptest.Answer, number string) erptest.Fields { return d.numbered(a.ID, number) }
	first := d.live(t, "invoice-received", of(small, "F-1"), of(large, "F-2"))
	if got := d.entries(t, first); got != "68 76VA 15.00" {
		t.Errorf("entries of the advance: %s", got)
	}
	refused(t, "its number again", d.Post(t, "invoice-received", "", of(small, "F-2")), "invoice_numbers")
	want(t, "the other", d.Post(t, "invoice-received", "", of(small, "F-3")), 201, "")
	refused(t, "take back an invoiced payment", d.unpost(t, "bank-payment", small), "payments")
	bought := d.Post(t, "service-purchase", "", d.bought("16")) // 96.00
	came := d.Post(t, "invoice-received", "", of(bought, "F-4"))
	if got := d.entries(t, came.ID); got != "68 19 16.00, 76VA 68 16.00" {
		t.Errorf("entries of what 96.00 of 120.00 are set off by: %s", got)
	}
	if got := d.Value(t, "SELECT amount || ' ' || vat FROM acc_supplier_advances_totals "+
		"WHERE period = 'infinity'"); got != "24.00 4.00" {
		t.Errorf("%s are still ahead", got)
	}
	refused(t, "take back an advance that is set off", d.unpost(t, "invoice-received", erptest.Answer{ID: first}),
		"supplier_advances")
	receipt := d.Post(t, "bank-receipt", "", d.payment("1.00", "B-9"))
	want(t, "of a payment of ours", d.Post(t, "invoice-received", "", of(receipt, "F-5")), 400, "invalid")
	erptest.Clean(t, d.Database)
}

// While invoices of advances are issued and set off, payments and sales under the contract come and go: never is more
// set off than was invoiced, nor is an invoiced payment taken back.
func TestConcurrentAdvancesAreOfWhatIsPaid(t *testing.T) {
	c := erptest.New(t, 1)
	d := desk{c, erptest.Login(t, c.Worker(t, server.Config{}), c.Organisations[0].User), c.Organisations[0]}
	var payments []id.ID
	for n := range 6 {
		payments = append(payments, d.Post(t, "bank-receipt", "", d.payment("24.00", string(rune('A'+n)))).ID)
	}
	done := make(chan [2]int, 6)
	together(posters(t, c, []string{d.Base, c.Worker(t, server.Config{})}, 6),
		func(n int, u *erptest.User, rng *rand.Rand) {
			var made, said int
			for range 8 {
				var a erptest.Answer
				switch payment := payments[rng.IntN(len(payments))]; rng.IntN(4) {
				case 0:
					a = u.Post(t, "invoice-issued", "", d.invoice(payment))
				case 1:
					if a = u.Post(t, "service-sale", "", d.services("1")); a.Status == 201 {
						a = u.Post(t, "invoice-issued", "", d.invoice(a.ID))
					}
				case 2:
					a = u.Call(t, "POST", "/v1/documents/bank-receipt/"+payment.String()+
						[]string{"/post", "/unpost"}[rng.IntN(2)], "", nil)
				case 3:
					if a = u.Post(t, "invoice-issued", "", d.invoice(payment)); a.Status == 201 {
						a = u.Call(t, "POST", "/v1/documents/invoice-issued/"+a.ID.String()+"/unpost", "", nil)
					}
				}
				switch a.Status {
				case 200, 201:
					made++
				case 409:
					said++
				default:
					t.Errorf("%d %s", a.Status, a.Body)
				}
			}
			done <- [2]int{made, said}
		})
	close(done)
	var made, said int
	for n := range done {
		made, said = made+n[0], said+n[1]
	}
	if made == 0 || said == 0 {
		t.Errorf("%d done, %d refused: nothing was contended", made, said)
	}
	erptest.Clean(t, c.Database)
}
