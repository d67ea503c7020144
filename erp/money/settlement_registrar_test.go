package money_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

// claim is a line of a registrar.
func claim(contract id.ID, supplier bool, side, amount string) erptest.Fields {
	return erptest.Fields{"contract": contract, "supplier": supplier, side: amount}
}

func registrar(lines ...erptest.Fields) erptest.Fields { return erptest.Fields{"lines": lines} }

func TestDebtsAreSetOffAndMoved(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	contract := erptest.Contract(d.Org.Counterparty)
	d.Post(t, "goods-receipt", "", d.Goods("10"))     // we owe 12.00
	d.Post(t, "service-sale", "", d.ServiceSale("3")) // they owe 36.00
	_, other := d.Supplier(t)
	off := registrar(claim(contract, true, "debit", "10.00"), claim(contract, false, "credit", "10.00"))
	moved := registrar(claim(contract, true, "debit", "12.00"), claim(other, true, "credit", "5.00"),
		claim(contract, false, "credit", "7.00"))
	document := d.Live(t, "settlement-registrar", off, moved)
	if got := d.Entries(t, document); got != "60 60 5.00, 60 62 7.00" {
		t.Errorf("entries: %s", got)
	}
	const owed = "SELECT string_agg(amount::text, ' ' ORDER BY amount) FROM (SELECT amount FROM " +
		"acc_customer_settlements_totals WHERE period = 'infinity' UNION ALL SELECT amount + 1000 FROM " +
		"acc_supplier_settlements_totals WHERE period = 'infinity') s"
	if got := d.Value(t, owed); got != "29.00 1000.00 1005.00" {
		t.Errorf("owed by the customer, to the suppliers: %s", got)
	}
	d.Post(t, "settlement-registrar", "", registrar(claim(contract, true, "debit", "10.00"),
		claim(contract, false, "credit", "9.99"))).Refused(t, "more in debit", "total")
	d.Post(t, "settlement-registrar", "", registrar(claim(contract, true, "debit", "1.00"),
		claim(contract, false, "debit", "1.00"))).Refused(t, "nothing in credit", "total")
	for what, f := range map[string]erptest.Fields{
		"one line": registrar(claim(contract, true, "debit", "10.00")),
		"neither debit nor credit": registrar(claim(contract, true, "debit", "0"),
			claim(contract, false, "credit", "0")),
		"both debit and credit": registrar(claim(contract, true, "debit", "1.00").With("credit", "1.00"),
			claim(contract, false, "credit", "1.00").With("debit", "1.00")),
		"a supplier as a customer": registrar(claim(other, false, "debit", "1.00"),
			claim(contract, false, "credit", "1.00")),
		"a contract of others": registrar(
			claim(erptest.Contract(d.Organisations[1].Counterparty), true, "debit", "1.00"),
			claim(contract, false, "credit", "1.00")),
		"an order that is none": registrar(
			claim(contract, true, "debit", "1.00").With("source_order", id.New()),
			claim(contract, false, "credit", "1.00")),
		"an amount that is below zero": registrar(claim(contract, true, "debit", "-1.00"),
			claim(contract, false, "credit", "-1.00")),
	} {
		d.Post(t, "settlement-registrar", "", f).Want(t, what, 400, "invalid")
	}
	erptest.Clean(t, d.Database)
}

func TestADebtMovesBetweenObjectsOfAContract(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	counterparty, contract := d.Supplier(t)
	order := func(lines []erptest.Line) erptest.Fields {
		return erptest.Fields{"warehouse": d.Org.Warehouses[0], "counterparty": counterparty, "contract": contract,
			"lines": lines}
	}
	first := d.Post(t, "supplier-order", "", order(d.Goods("1").Lines))
	second := d.Post(t, "supplier-order", "", order(d.Goods("2").Lines))
	of := func(order id.ID, side, amount string) erptest.Fields {
		return claim(contract, true, side, amount).With("source_order", order)
	}
	document := d.Live(t, "settlement-registrar",
		registrar(of(first.ID, "debit", "3.00"), claim(contract, true, "credit", "3.00")),
		registrar(of(first.ID, "debit", "2.00"), of(second.ID, "credit", "2.00")))
	if got := d.Entries(t, document); got != "" {
		t.Errorf("the ledger knows no objects, but has %s", got)
	}
	if got := d.Value(t, "SELECT string_agg(amount::text, ' ' ORDER BY amount) FROM "+
		"acc_supplier_settlements_totals WHERE period = 'infinity' AND amount <> 0"); got != "-2.00 2.00" {
		t.Errorf("owed by object: %s", got)
	}
	ours := erptest.Contract(d.Org.Counterparty)
	for what, f := range map[string]erptest.Fields{
		"the order of another contract": registrar(
			claim(ours, true, "debit", "1.00").With("source_order", first.ID), claim(ours, false, "credit", "1.00")),
		"the order of a supplier, as customer": registrar(
			claim(ours, false, "debit", "1.00").With("source_order", first.ID), claim(ours, true, "credit", "1.00")),
	} {
		d.Post(t, "settlement-registrar", "", f).Want(t, what, 400, "invalid")
	}
	d.Exec(t, "UPDATE cat_contracts SET by_order = false WHERE id = $1", contract)
	d.Post(t, "settlement-registrar", "", registrar(of(first.ID, "debit", "1.00"),
		of(second.ID, "credit", "1.00"))).Want(t, "by order where the contract is not", 400, "invalid")
	d.Exec(t, "UPDATE cat_contracts SET by_order = true WHERE id = $1", contract)
	erptest.Clean(t, d.Database)
}
