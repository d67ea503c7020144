package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

func (d desk) payment(amount, reference string) erptest.Fields {
	return d.deal(erptest.Fields{"cash_account": d.o.Bank, "amount": amount, "bank_reference": reference})
}

func TestACustomerPays(t *testing.T) {
	d := sit(t, 1)
	d.Post(t, "service-sale", "", d.services("3"))
	paid := d.live(t, "bank-receipt", d.payment("100.00", "B-0"), d.payment("30.00", "B-1"))
	if got := d.entries(t, paid); got != "51 62 30.00" {
		t.Errorf("entries: %s", got)
	}
	const books = "SELECT s.amount || ' ' || c.amount FROM acc_customer_settlements_totals s, acc_cash_totals c " +
		"WHERE s.period = 'infinity' AND c.period = 'infinity'"
	if got := d.Value(t, books); got != "6.00 30.00" {
		t.Errorf("owed and on the account: %s", got)
	}
	refused(t, "the same reference", d.Post(t, "bank-receipt", "", d.payment("1.00", "B-1")), "bank_references")
	want(t, "the reference that was given up", d.Post(t, "bank-receipt", "", d.payment("1.00", "B-0")), 201, "")
	want(t, "without a reference", d.Post(t, "bank-receipt", "", d.payment("1.00", "")), 400, "invalid")
	want(t, "of nothing", d.Post(t, "bank-receipt", "", d.payment("0", "B-2")), 400, "invalid")
	want(t, "into a cash desk", d.Post(t, "bank-receipt", "",
		with(d.payment("1.00", "B-2"), "cash_account", d.o.CashDesk)), 400, "invalid")
	want(t, "into the account of others", d.Post(t, "bank-receipt", "",
		with(d.payment("1.00", "B-2"), "cash_account", d.Organisations[1].Bank)), 400, "invalid")
	counterparty, contract := d.supplier(t)
	want(t, "from a supplier", d.Post(t, "bank-receipt", "",
		with(with(d.payment("1.00", "B-2"), "counterparty", counterparty), "contract", contract)), 400, "invalid")
	want(t, "ahead", d.Post(t, "bank-receipt", "", d.payment("1000.00", "B-2")), 201, "")
	// as if it had been paid out
	d.Exec(t, "UPDATE acc_cash_totals SET amount = amount - 1010 WHERE period = 'infinity'")
	refused(t, "take back what has been paid out",
		d.Call(t, "POST", "/v1/documents/bank-receipt/"+paid.String()+"/unpost", "", nil), "cash")
	d.Exec(t, "UPDATE acc_cash_totals SET amount = amount + 1010 WHERE period = 'infinity'")
	erptest.Clean(t, d.Database)
}

func TestAnOrderIsPaidWhereTheContractIsSettledByOrder(t *testing.T) {
	d := sit(t, 1)
	d.Exec(t, "UPDATE cat_contracts SET by_order = true WHERE id = $1", erptest.Contract(d.o.Counterparty))
	d.Post(t, "goods-receipt", "", d.document("10"))
	order := d.Post(t, "customer-order", "", d.document("6"))
	want(t, "pay ahead", d.Post(t, "bank-receipt", "", with(d.payment("5.00", "B-1"), "source_order", order.ID)), 201,
		"")
	want(t, "sell by it", d.Post(t, "goods-sale", "", d.by(order.ID, "6")), 201, "") // 12.00 and 2.40
	if got := d.Value(t, "SELECT amount FROM acc_customer_settlements_totals WHERE period = 'infinity' AND object = $1",
		order.ID); got != "9.40" {
		t.Errorf("%s is owed by the order", got)
	}
	other := d.Post(t, "customer-order", "", d.document("1"))
	want(t, "unpost", d.unpost(t, "customer-order", other), 200, "")
	refused(t, "pay an order that is not posted",
		d.Post(t, "bank-receipt", "", with(d.payment("5.00", "B-2"), "source_order", other.ID)), "order")
	want(t, "pay no order", d.Post(t, "bank-receipt", "", with(d.payment("5.00", "B-2"), "source_order", id.New())),
		400, "invalid")
	erptest.Clean(t, d.Database)
}
