package money_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestASupplierIsPaidByAnApprovedRequest(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	receipt := d.Post(t, "goods-receipt", "", d.Goods("100")) // 120.00 with VAT
	request := d.Post(t, "payment-request", "", d.PaymentRequest(receipt.ID, "100.00"))
	earned := d.Post(t, "bank-receipt", "", d.Payment("50.00", "IN-1"))
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "50.01", "B-1")).Refused(t, "more than lies on the account",
		"cash")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-1").With("cash_account",
		anotherBank(t, d))).Refused(t, "from the account where nothing lies", "cash")
	done := d.Live(t, "bank-payment", d.PaymentBy(request.ID, "50.00", "B-0"), d.PaymentBy(request.ID, "20.00", "B-1"))
	if got := d.Entries(t, done); got != "60 51 20.00" {
		t.Errorf("entries: %s", got)
	}
	const books = "SELECT s.amount || ' ' || c.amount || ' ' || p.amount FROM acc_supplier_settlements_totals s, " +
		"acc_cash_totals c, acc_payment_plan_totals p WHERE s.period = 'infinity' AND c.period = 'infinity' AND " +
		"p.period = 'infinity' AND c.amount <> 0"
	if got := d.Value(t, books); got != "100.00 30.00 80.00" {
		t.Errorf("owed, on the account and planned: %s", got)
	}
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-1")).Refused(t, "the same reference",
		"bank_references")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "IN-1")).Refused(t, "the reference of a receipt",
		"bank_references")
	d.Unpost(t, "bank-receipt", earned.ID).Refused(t, "unpost what has been paid out", "cash")
	d.Unpost(t, "payment-request", request.ID).Refused(t, "unpost a request that has been paid", "payment_plan")

	small := d.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, "5.00"))
	d.Post(t, "bank-payment", "", d.PaymentBy(small.ID, "5.01", "B-2")).Refused(t, "more than was requested",
		"payment_plan")
	d.Unpost(t, "payment-request", small.ID).Want(t, "withdraw it", 200, "")
	d.Post(t, "bank-payment", "", d.PaymentBy(small.ID, "5.00", "B-2")).Refused(t, "what is not approved", "approved")
	d.Post(t, "bank-payment", "", d.Payment("1.00", "B-2")).Want(t, "without a request", 400, "invalid")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "")).Want(t, "without a reference", 400, "invalid")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "0", "B-2")).Want(t, "nothing", 400, "invalid")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-2").With("cash_account", d.Org.CashDesk)).Want(t,
		"from a cash desk", 400, "invalid")
	counterparty, contract := d.Supplier(t)
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-2").With("counterparty",
		counterparty).With("contract", contract)).Want(t, "to another supplier", 400, "invalid")
	d.Exec(t, "UPDATE cat_contracts SET supplier = false WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-2")).Want(t, "to a customer", 400, "invalid")
	erptest.Clean(t, d.Database)
}

// anotherBank adds a bank account to the organisation.
func anotherBank(t *testing.T, d erptest.Desk) (account id.ID) {
	account = id.New()
	d.Exec(t, "INSERT INTO cat_cash_accounts (id, organisation, code, name, bank) VALUES ($1, $2, 'CA9', "+
		"'Other', true)", account, d.Org.ID)
	return account
}

func TestAnOrderIsPaidWhereTheSupplierIsSettledByOrder(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Exec(t, "UPDATE cat_contracts SET by_order = true WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	d.Post(t, "bank-receipt", "", d.Payment("50.00", "IN-1")).Want(t, "earn", 201, "")
	order := d.Post(t, "supplier-order", "", d.Goods("10"))
	request := d.Post(t, "payment-request", "", d.PaymentRequest(order.ID, "12.00"))
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "5.00", "B-1").With("source_order", order.ID)).Want(t,
		"pay ahead", 201, "")
	d.Post(t, "goods-receipt", "", d.GoodsByOrder(order.ID, "10")).Want(t, "receive it", 201, "")
	if got := d.Value(t, "SELECT amount FROM acc_supplier_settlements_totals WHERE period = 'infinity' AND object = $1",
		order.ID); got != "7.00" {
		t.Errorf("%s is owed for the order", got)
	}
	other := d.Post(t, "supplier-order", "", d.Goods("1"))
	d.Unpost(t, "supplier-order", other.ID).Want(t, "unpost", 200, "")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-2").With("source_order", other.ID)).Refused(t,
		"pay an order that is not posted", "order")
	d.Post(t, "bank-payment", "", d.PaymentBy(request.ID, "1.00", "B-2").With("source_order", id.New())).Want(t,
		"pay no order", 400, "invalid")
	erptest.Clean(t, d.Database)
}
