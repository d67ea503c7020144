package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

func (d desk) paid(request id.ID, amount, reference string) erptest.Fields {
	return with(d.payment(amount, reference), "request", request)
}

func TestASupplierIsPaidByAnApprovedRequest(t *testing.T) {
	d := sit(t, 1)
	receipt := d.Post(t, "goods-receipt", "", d.document("100")) // 120.00 with VAT
	request := d.Post(t, "payment-request", "", d.request(receipt.ID, "100.00"))
	earned := d.Post(t, "bank-receipt", "", d.payment("50.00", "IN-1"))
	refused(t, "more than lies on the account", d.Post(t, "bank-payment", "", d.paid(request.ID, "50.01", "B-1")),
		"cash")
	refused(t, "from the account where nothing lies",
		d.Post(t, "bank-payment", "", with(d.paid(request.ID, "1.00", "B-1"), "cash_account", d.otherBank(t))), "cash")
	done := d.live(t, "bank-payment", d.paid(request.ID, "50.00", "B-0"), d.paid(request.ID, "20.00", "B-1"))
	if got := d.entries(t, done); got != "60 51 20.00" {
		t.Errorf("entries: %s", got)
	}
	const books = "SELECT s.amount || ' ' || c.amount || ' ' || p.amount FROM acc_supplier_settlements_totals s, " +
		"acc_cash_totals c, acc_payment_plan_totals p WHERE s.period = 'infinity' AND c.period = 'infinity' AND " +
		"p.period = 'infinity' AND c.amount <> 0"
	if got := d.Value(t, books); got != "100.00 30.00 80.00" {
		t.Errorf("owed, on the account and planned: %s", got)
	}
	refused(t, "the same reference", d.Post(t, "bank-payment", "", d.paid(request.ID, "1.00", "B-1")),
		"bank_references")
	refused(t, "the reference of a receipt", d.Post(t, "bank-payment", "", d.paid(request.ID, "1.00", "IN-1")),
		"bank_references")
	refused(t, "take back what has been paid out", d.unpost(t, "bank-receipt", earned), "cash")
	refused(t, "take back a request that has been paid", d.unpost(t, "payment-request", request), "payment_plan")

	small := d.Post(t, "payment-request", "", d.request(id.ID{}, "5.00"))
	refused(t, "more than was requested", d.Post(t, "bank-payment", "", d.paid(small.ID, "5.01", "B-2")),
		"payment_plan")
	want(t, "withdraw it", d.unpost(t, "payment-request", small), 200, "")
	refused(t, "what is not approved", d.Post(t, "bank-payment", "", d.paid(small.ID, "5.00", "B-2")), "approved")
	want(t, "without a request", d.Post(t, "bank-payment", "", d.payment("1.00", "B-2")), 400, "invalid")
	want(t, "without a reference", d.Post(t, "bank-payment", "", d.paid(request.ID, "1.00", "")), 400, "invalid")
	want(t, "nothing", d.Post(t, "bank-payment", "", d.paid(request.ID, "0", "B-2")), 400, "invalid")
	want(t, "from a cash desk", d.Post(t, "bank-payment", "",
		with(d.paid(request.ID, "1.00", "B-2"), "cash_account", d.o.CashDesk)), 400, "invalid")
	counterparty, contract := d.supplier(t)
	want(t, "to another supplier", d.Post(t, "bank-payment", "",
		with(with(d.paid(request.ID, "1.00", "B-2"), "counterparty", counterparty), "contract", contract)), 400,
		"invalid")
	d.Exec(t, "UPDATE cat_contracts SET supplier = false WHERE id = $1", erptest.Contract(d.o.Counterparty))
	want(t, "to a customer", d.Post(t, "bank-payment", "", d.paid(request.ID, "1.00", "B-2")), 400, "invalid")
	erptest.Clean(t, d.Database)
}

// otherBank account of the organisation.
func (d desk) otherBank(t *testing.T) (account id.ID) {
	account = id.New()
	d.Exec(t, "INSERT INTO cat_cash_accounts (id, organisation, code, name, bank) VALUES ($1, $2, 'CA9', "+
		"'Other', true)", account, d.o.ID)
	return account
}

func TestAnOrderIsPaidWhereTheSupplierIsSettledByOrder(t *testing.T) {
	d := sit(t, 1)
	d.Exec(t, "UPDATE cat_contracts SET by_order = true WHERE id = $1", erptest.Contract(d.o.Counterparty))
	want(t, "earn", d.Post(t, "bank-receipt", "", d.payment("50.00", "IN-1")), 201, "")
	order := d.Post(t, "supplier-order", "", d.document("10"))
	request := d.Post(t, "payment-request", "", d.request(order.ID, "12.00"))
	want(t, "pay ahead", d.Post(t, "bank-payment", "",
		with(d.paid(request.ID, "5.00", "B-1"), "source_order", order.ID)), 201, "")
	want(t, "receive it", d.Post(t, "goods-receipt", "", d.by(order.ID, "10")), 201, "")
	if got := d.Value(t, "SELECT amount FROM acc_supplier_settlements_totals WHERE period = 'infinity' AND object = $1",
		order.ID); got != "7.00" {
		t.Errorf("%s is owed for the order", got)
	}
	other := d.Post(t, "supplier-order", "", d.document("1"))
	want(t, "unpost", d.unpost(t, "supplier-order", other), 200, "")
	refused(t, "pay an order that is not posted",
		d.Post(t, "bank-payment", "", with(d.paid(request.ID, "1.00", "B-2"), "source_order", other.ID)), "order")
	want(t, "pay no order", d.Post(t, "bank-payment", "",
		with(d.paid(request.ID, "1.00", "B-2"), "source_order", id.New())), 400, "invalid")
	erptest.Clean(t, d.Database)
}
