package audit_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

// paidAhead is a company with invoices of advances of both sides, set off in part.
func paidAhead(t *testing.T) *erptest.Company {
	d := erptest.NewDesk(t, 1)
	receipt := d.Posted(t, "bank-receipt", d.Payment("60.00", "B-1"))
	d.Posted(t, "invoice-issued", d.Invoice(receipt))
	d.Posted(t, "invoice-issued", d.Invoice(d.Posted(t, "service-sale", d.ServiceSale("2"))))
	request := d.Posted(t, "payment-request", d.PaymentRequest(id.ID{}, "30.00"))
	payment := d.Posted(t, "bank-payment", d.PaymentBy(request, "30.00", "B-2"))
	d.Posted(t, "invoice-received", d.InvoiceReceived(payment, "F-1"))
	bought := d.Posted(t, "service-purchase", d.ServicePurchase("2"))
	d.Posted(t, "invoice-received", d.InvoiceReceived(bought, "F-2"))
	return d.Company
}

func TestEveryCorruptionOfAdvancesIsNamed(t *testing.T) {
	corrupted(t, paidAhead(t), map[string]corruption{
		"AnAdvance": {"UPDATE acc_customer_advances_totals SET vat = vat + 1 WHERE period = 'infinity'",
			"76AV=6.00", []string{"customer_advances.current", "customer_advances.ledger"}},
		"AnAdvanceToASupplier": {"UPDATE acc_supplier_advances_totals SET vat = vat + 1 WHERE period = 'infinity'",
			"76VA=3.00", []string{"supplier_advances.current", "supplier_advances.ledger"}},
		"AnAdvanceOfNothing": {"UPDATE acc_customer_advances_totals SET amount = 0 WHERE period = 'infinity'",
			"contract=", []string{"customer_advances.controlled", "customer_advances.current"}},
		"AHeader": {"UPDATE doc_invoice_issued SET advance = advance + 1 WHERE advance > 0",
			"payment=60.00", []string{"invoice_issued.books"}},
		"ASetOff": {"UPDATE doc_invoice_issued SET set_off = set_off + 1 WHERE set_off > 0",
			"advances: amount=-24.00 vat=-4.00", []string{"invoice_issued.books"}},
		"ASetOffReceived": {"UPDATE doc_invoice_received SET set_off_vat = set_off_vat + 1 WHERE set_off > 0",
			"invoice_received IR-", []string{"invoice_received.books"}},
		"AnEntry": {"UPDATE gl_general SET credit = '90', credit_1 = " +
			"'00000000-0000-0000-0000-000000000000', credit_2 = '00000000-0000-0000-0000-000000000000' WHERE " +
			"credit = '76AV'", "ledger: charged=0 set off=0",
			[]string{"general.current", "general.monthly", "invoice_issued.books"}},
		"ABookThatTakesBack": {"UPDATE acc_purchase_book SET vat = vat + 1 WHERE recorder_type = " +
			"'invoice_issued'; UPDATE acc_purchase_book_totals SET vat = vat + 1", "reversed: amount=20.00 vat=5.00",
			[]string{"invoice_issued.books", "output_vat.ledger"}},
		"APaymentThatIsBack": {"UPDATE doc_bank_receipt SET posted = false", "a posted sale or receipt of",
			[]string{"bank_receipt.posted", "invoice_issued.basis"}},
		"APaymentOut": {"UPDATE doc_bank_payment SET posted = false", "a posted purchase or payment of",
			[]string{"bank_payment.posted", "invoice_received.basis"}},
		"APaymentTwice": {"UPDATE acc_payments SET amount = amount + 1 WHERE NOT expense AND recorder_type " +
			"= 'bank_receipt'", "payments=61.00",
			[]string{"bank_receipt.ledger", "payments.current", "payments.monthly"}},
		"APaymentOfAnother": {"UPDATE acc_payments SET payment = gen_random_uuid() WHERE expense AND " +
			"recorder_type = 'invoice_received'", "others 1",
			[]string{"invoice_received.books", "payments.current", "payments.monthly"}},
		"APaymentOfTheSupplier": {"UPDATE acc_payments SET contract = gen_random_uuid() WHERE recorder_type = " +
			"'bank_payment'", "others 1", []string{"bank_payment.ledger", "payments.current", "payments.monthly"}},
	})
}
