package money_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestACustomerPays(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Post(t, "service-sale", "", d.ServiceSale("3"))
	paid := d.Live(t, "bank-receipt", d.Payment("100.00", "B-0"), d.Payment("30.00", "B-1"))
	if got := d.Entries(t, paid); got != "51 62 30.00" {
		t.Errorf("entries: %s", got)
	}
	const books = "SELECT s.amount || ' ' || c.amount FROM acc_customer_settlements_totals s, acc_cash_totals c " +
		"WHERE s.period = 'infinity' AND c.period = 'infinity'"
	if got := d.Value(t, books); got != "6.00 30.00" {
		t.Errorf("owed and on the account: %s", got)
	}
	d.Post(t, "bank-receipt", "", d.Payment("1.00", "B-1")).Refused(t, "the same reference", "bank_references")
	d.Post(t, "bank-receipt", "", d.Payment("1.00", "B-0")).Want(t, "the reference that was given up", 201, "")
	d.Post(t, "bank-receipt", "", d.Payment("1.00", "")).Want(t, "without a reference", 400, "invalid")
	d.Post(t, "bank-receipt", "", d.Payment("0", "B-2")).Want(t, "of nothing", 400, "invalid")
	d.Post(t, "bank-receipt", "", d.Payment("1.00", "B-2").With("cash_account", d.Org.CashDesk)).Want(t,
		"into a cash desk", 400, "invalid")
	d.Post(t, "bank-receipt", "", d.Payment("1.00", "B-2").With("cash_account", d.Organisations[1].Bank)).Want(t,
		"into the account of others", 400, "invalid")
	counterparty, contract := d.Supplier(t)
	d.Post(t, "bank-receipt", "", d.Payment("1.00", "B-2").With("counterparty", counterparty).With("contract",
		contract)).Want(t, "from a supplier", 400, "invalid")
	d.Post(t, "bank-receipt", "", d.Payment("1000.00", "B-2")).Want(t, "ahead", 201, "")
	// as if it had been paid out
	d.Exec(t, "UPDATE acc_cash_totals SET amount = amount - 1010 WHERE period = 'infinity'")
	d.Unpost(t, "bank-receipt", paid).Refused(t, "unpost what has been paid out", "cash")
	d.Exec(t, "UPDATE acc_cash_totals SET amount = amount + 1010 WHERE period = 'infinity'")
	erptest.Clean(t, d.Database)
}

func TestAnOrderIsPaidWhereTheContractIsSettledByOrder(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Exec(t, "UPDATE cat_contracts SET by_order = true WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	d.Post(t, "goods-receipt", "", d.Goods("10"))
	order := d.Post(t, "customer-order", "", d.Goods("6"))
	d.Post(t, "bank-receipt", "", d.Payment("5.00", "B-1").With("source_order", order.ID)).Want(t, "pay ahead", 201, "")
	d.Post(t, "goods-sale", "", d.GoodsByOrder(order.ID, "6")).Want(t, "sell by it", 201, "") // 12.00 and 2.40
	if got := d.Value(t, "SELECT amount FROM acc_customer_settlements_totals WHERE period = 'infinity' AND object = $1",
		order.ID); got != "9.40" {
		t.Errorf("%s is owed by the order", got)
	}
	other := d.Post(t, "customer-order", "", d.Goods("1"))
	d.Unpost(t, "customer-order", other.ID).Want(t, "unpost", 200, "")
	d.Post(t, "bank-receipt", "", d.Payment("5.00", "B-2").With("source_order", other.ID)).Refused(t,
		"pay an order that is not posted", "order")
	d.Post(t, "bank-receipt", "", d.Payment("5.00", "B-2").With("source_order", id.New())).Want(t, "pay no order", 400,
		"invalid")
	erptest.Clean(t, d.Database)
}
