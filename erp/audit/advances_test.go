package audit_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
	"plimsoll/platform/server"
)

// paidAhead is a company with invoices of advances of both sides, set off in part.
func paidAhead(t *testing.T) *erptest.Company {
	c := erptest.New(t, 1)
	o := c.Organisations[0]
	u := erptest.Login(t, c.Worker(t, server.Config{}), o.User)
	post := func(kind string, f erptest.Fields) id.ID {
		t.Helper()
		f["contract"] = erptest.Contract(o.Counterparty)
		if f["basis"] == nil {
			f["counterparty"] = o.Counterparty
		}
		a := u.Post(t, kind, "", f)
		if a.Status != 201 {
			t.Fatalf("%s: %d %s", kind, a.Status, a.Body)
		}
		return a.ID
	}
	services := []erptest.Fields{{"service": c.Services[0], "quantity": "2"}}
	receipt := post("bank-receipt", erptest.Fields{"cash_account": o.Bank, "bank_reference": "B-1", "amount": "60.00"})
	post("invoice-issued", erptest.Fields{"basis": receipt})
	post("invoice-issued", erptest.Fields{"basis": post("service-sale", erptest.Fields{"lines": services})})
	request := post("payment-request", erptest.Fields{"amount": "30.00"})
	payment := post("bank-payment", erptest.Fields{"cash_account": o.Bank, "bank_reference": "B-2", "amount": "30.00",
		"request": request})
	post("invoice-received", erptest.Fields{"basis": payment, "invoice_number": "F-1"})
	bought := post("service-purchase", erptest.Fields{"department": o.Department, "expense_item": o.ExpenseItem,
		"lines": services})
	post("invoice-received", erptest.Fields{"basis": bought, "invoice_number": "F-2"})
	return c
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
			"'invoice_issued'; UPDATE acc_purchase_book_totals SET vat = vat + 1", "taken back: amount=20.00 vat=5.00",
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
