package invoices_test

import (
	"math/rand/v2"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
)

// advanceInvoice is an invoice for a payment of which so much is ahead; for all that is ahead when that is empty.
func advanceInvoice(d erptest.Desk, payment id.ID, sum string) erptest.Fields {
	if sum == "" {
		return d.Invoice(payment)
	}
	return d.Invoice(payment).With("advance", sum)
}

// An advance of a customer is charged VAT when its invoice is issued; the invoices of what is shipped for it reverse
// that.
func TestAnAdvanceOfACustomerIsChargedUntilItIsShipped(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	small := d.Post(t, "bank-receipt", "", d.Payment("60.00", "B-1"))
	large := d.Post(t, "bank-receipt", "", d.Payment("120.00", "B-2"))
	first := d.Live(t, "invoice-issued", advanceInvoice(d, small.ID, ""), advanceInvoice(d, large.ID, "120.00"))
	if got := d.Entries(t, first); got != "76AV 68 20.00" {
		t.Errorf("entries of the advance: %s", got)
	}
	d.Post(t, "invoice-issued", "", advanceInvoice(d, small.ID, "60.01")).Refused(t, "more than is ahead", "advance")
	second := d.Post(t, "invoice-issued", "", advanceInvoice(d, small.ID, "30.00"))
	second.Want(t, "a part of a payment", 201, "")
	d.Post(t, "invoice-issued", "", advanceInvoice(d, small.ID, "1.00")).Refused(t, "the same payment again",
		"invoices")
	d.Unpost(t, "bank-receipt", large.ID).Refused(t, "unpost an invoiced payment", "payments")
	d.Change(t, "/v1/documents/bank-receipt/"+large.ID.String(), 1, d.Payment("119.99", "B-2")).Refused(t,
		"make less of it", "payments")
	// 84.00 of 180.00 paid ahead, 30.00 of which are not invoiced
	sold := d.Post(t, "service-sale", "", d.ServiceSale("7"))
	shipped := d.Post(t, "invoice-issued", "", d.Invoice(sold.ID))
	if got := d.Entries(t, shipped.ID); got != "68 76AV 9.00" {
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
	d.Unpost(t, "invoice-issued", first).Refused(t, "unpost an advance that is set off", "customer_advances")
	sold = d.Post(t, "service-sale", "", d.ServiceSale("10"))
	rest := d.Live(t, "invoice-issued", d.Invoice(sold.ID), d.Invoice(sold.ID))
	if got := d.Entries(t, rest); got != "68 76AV 16.00" {
		t.Errorf("entries of what the rest is set off by: %s", got)
	}
	if got := d.Value(t, "SELECT coalesce(sum(debit - credit), 0) FROM gl_general_totals WHERE account = '76AV' "+
		"AND period = 'infinity'"); got != "0.00" {
		t.Errorf("%s are left on 76AV", got)
	}
	owed := d.Post(t, "bank-receipt", "", d.Payment("10.00", "B-3"))
	d.Post(t, "invoice-issued", "", d.Invoice(owed.ID)).Refused(t, "what pays a debt", "advance")
	d.Post(t, "invoice-issued", "", advanceInvoice(d, sold.ID, "1.00")).Want(t, "an advance of a sale", 400, "invalid")
	_, contract := d.Supplier(t)
	d.Post(t, "invoice-issued", "", d.Invoice(owed.ID).With("contract", contract)).Want(t, "under another contract",
		400, "invalid")
	d.Post(t, "invoice-issued", "", erptest.Fields{"basis": owed.ID}).Want(t, "under none", 400, "invalid")
	erptest.Clean(t, d.Database)
}

// A sale before a payment does not use it: the late invoice of that sale sets nothing off.
func TestAnInvoiceOfWhatWasOwedSetsNothingOff(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	sold := d.Post(t, "service-sale", "", d.ServiceSale("5")) // 60.00
	payment := d.Post(t, "bank-receipt", "", d.Payment("90.00", "B-1"))
	advance := d.Post(t, "invoice-issued", "", d.Invoice(payment.ID))
	if got := d.Entries(t, advance.ID); got != "76AV 68 5.00" {
		t.Errorf("entries of the 30.00 that are ahead: %s", got)
	}
	late := d.Post(t, "invoice-issued", "", d.Invoice(sold.ID))
	if got := d.Entries(t, late.ID); got != "" {
		t.Errorf("entries: %s", got)
	}
	erptest.Clean(t, d.Database)
}

// The VAT of an advance to a supplier is deducted when its invoice comes; the invoices of what is received for it
// reverse that.
func TestAnAdvanceToASupplierIsDeductedUntilItIsReceived(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Post(t, "bank-receipt", "", d.Payment("500.00", "B-1"))
	pay := func(sum, reference string) erptest.Answer {
		request := d.Post(t, "payment-request", "", d.Deal(erptest.Fields{"amount": sum}))
		return d.Post(t, "bank-payment", "", d.Payment(sum, reference).With("request", request.ID))
	}
	small, large := pay("30.00", "P-1"), pay("90.00", "P-2")
	of := func(a erptest.Answer, number string) erptest.Fields { return d.InvoiceReceived(a.ID, number) }
	first := d.Live(t, "invoice-received", of(small, "F-1"), of(large, "F-2"))
	if got := d.Entries(t, first); got != "68 76VA 15.00" {
		t.Errorf("entries of the advance: %s", got)
	}
	d.Post(t, "invoice-received", "", of(small, "F-2")).Refused(t, "its number again", "invoice_numbers")
	d.Post(t, "invoice-received", "", of(small, "F-3")).Want(t, "the other", 201, "")
	d.Unpost(t, "bank-payment", small.ID).Refused(t, "unpost an invoiced payment", "payments")
	bought := d.Post(t, "service-purchase", "", d.ServicePurchase("16")) // 96.00
	came := d.Post(t, "invoice-received", "", of(bought, "F-4"))
	if got := d.Entries(t, came.ID); got != "68 19 16.00, 76VA 68 16.00" {
		t.Errorf("entries of what 96.00 of 120.00 are set off by: %s", got)
	}
	if got := d.Value(t, "SELECT amount || ' ' || vat FROM acc_supplier_advances_totals "+
		"WHERE period = 'infinity'"); got != "24.00 4.00" {
		t.Errorf("%s are still ahead", got)
	}
	d.Unpost(t, "invoice-received", first).Refused(t, "unpost an advance that is set off", "supplier_advances")
	receipt := d.Post(t, "bank-receipt", "", d.Payment("1.00", "B-9"))
	d.Post(t, "invoice-received", "", of(receipt, "F-5")).Want(t, "of a payment of ours", 400, "invalid")
	erptest.Clean(t, d.Database)
}

// Invoices of advances are issued and set off while payments and sales under the contract come and go: no more is set
// off than was invoiced, and no invoiced payment is unposted.
func TestConcurrentAdvancesAreOfWhatIsPaid(t *testing.T) {
	c := erptest.New(t, 1)
	d := c.Desk(t, c.Worker(t, server.Config{}))
	var payments []id.ID
	for n := range 6 {
		payments = append(payments, d.Post(t, "bank-receipt", "", d.Payment("24.00", string(rune('A'+n)))).ID)
	}
	var outcomes erptest.Outcomes
	erptest.Together(c.Posters(t, []string{d.Base, c.Worker(t, server.Config{})}, 6),
		func(n int, u *erptest.User, rng *rand.Rand) {
			for range 8 {
				var a erptest.Answer
				switch payment := payments[rng.IntN(len(payments))]; rng.IntN(4) {
				case 0:
					a = u.Post(t, "invoice-issued", "", d.Invoice(payment))
				case 1:
					if a = u.Post(t, "service-sale", "", d.ServiceSale("1")); a.Status == 201 {
						a = u.Post(t, "invoice-issued", "", d.Invoice(a.ID))
					}
				case 2:
					a = u.Call(t, "POST", "/v1/documents/bank-receipt/"+payment.String()+
						[]string{"/post", "/unpost"}[rng.IntN(2)], "", nil)
				case 3:
					if a = u.Post(t, "invoice-issued", "", d.Invoice(payment)); a.Status == 201 {
						a = u.Unpost(t, "invoice-issued", a.ID)
					}
				}
				outcomes.Count(t, a)
			}
		})
	outcomes.WantContended(t, 1)
	outcomes.WantNoneStale(t)
	erptest.Clean(t, c.Database)
}
