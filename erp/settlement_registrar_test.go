package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

// claim is a line of a registrar.
func claim(contract id.ID, supplier bool, side, amount string) erptest.Fields {
	return erptest.Fields{"contract": contract, "supplier": supplier, side: amount}
}

func registrar(lines ...erptest.Fields) erptest.Fields { return erptest.Fields{"lines": lines} }

func TestDebtsAreSetOffAndMoved(t *testing.T) {
	d := sit(t, 1)
	contract := erptest.Contract(d.o.Counterparty)
	d.Post(t, "goods-receipt", "", d.document("10")) // we owe 12.00
	d.Post(t, "service-sale", "", d.services("3"))   // they owe 36.00
	_, other := d.supplier(t)
	off := registrar(claim(contract, true, "debit", "10.00"), claim(contract, false, "credit", "10.00"))
	moved := registrar(claim(contract, true, "debit", "12.00"), claim(other, true, "credit", "5.00"),
		claim(contract, false, "credit", "7.00"))
	document := d.live(t, "settlement-registrar", off, moved)
	if got := d.entries(t, document); got != "60 60 5.00, 60 62 7.00" {
		t.Errorf("entries: %s", got)
	}
	const owed = "SELECT string_agg(amount::text, ' ' ORDER BY amount) FROM (SELECT amount FROM " +
		"acc_customer_settlements_totals WHERE period = 'infinity' UNION ALL SELECT amount + 1000 FROM " +
		"acc_supplier_settlements_totals WHERE period = 'infinity') s"
	if got := d.Value(t, owed); got != "29.00 1000.00 1005.00" {
		t.Errorf("owed by the customer, to the suppliers: %s", got)
	}
	refused(t, "more in debit", d.Post(t, "settlement-registrar", "",
		registrar(claim(contract, true, "debit", "10.00"), claim(contract, false, "credit", "9.99"))), "total")
	refused(t, "nothing in credit", d.Post(t, "settlement-registrar", "",
		registrar(claim(contract, true, "debit", "1.00"), claim(contract, false, "debit", "1.00"))), "total")
	for what, f := range map[string]erptest.Fields{
		"one line": registrar(claim(contract, true, "debit", "10.00")),
		"neither debit nor credit": registrar(claim(contract, true, "debit", "0"),
			claim(contract, false, "credit", "0")),
		"both debit and credit": registrar(with(claim(contract, true, "debit", "1.00"), "credit", "1.00"),
			with(claim(contract, false, "credit", "1.00"), "debit", "1.00")),
		"a supplier as a customer": registrar(claim(other, false, "debit", "1.00"),
			claim(contract, false, "credit", "1.00")),
		"a contract of others": registrar(
			claim(erptest.Contract(d.Organisations[1].Counterparty), true, "debit", "1.00"),
			claim(contract, false, "credit", "1.00")),
		"an order that is none": registrar(
			with(claim(contract, true, "debit", "1.00"), "source_order", id.New()),
			claim(contract, false, "credit", "1.00")),
		"an amount that is below zero": registrar(claim(contract, true, "debit", "-1.00"),
			claim(contract, false, "credit", "-1.00")),
	} {
		want(t, what, d.Post(t, "settlement-registrar", "", f), 400, "invalid")
	}
	erptest.Clean(t, d.Database)
}

func TestADebtMovesBetweenObjectsOfAContract(t *testing.T) {
	d := sit(t, 1)
	counterparty, contract := d.supplier(t)
	order := func(lines []erptest.Line) erptest.Fields {
		return erptest.Fields{"warehouse": d.o.Warehouses[0], "counterparty": counterparty, "contract": contract,
			"lines": lines}
	}
	first := d.Post(t, "supplier-order", "", order(d.document("1").Lines))
	second := d.Post(t, "supplier-order", "", order(d.document("2").Lines))
	of := func(order id.ID, side, amount string) erptest.Fields {
		return with(claim(contract, true, side, amount), "source_order", order)
	}
	document := d.live(t, "settlement-registrar",
		registrar(of(first.ID, "debit", "3.00"), claim(contract, true, "credit", "3.00")),
		registrar(of(first.ID, "debit", "2.00"), of(second.ID, "credit", "2.00")))
	if got := d.entries(t, document); got != "" {
		t.Errorf("the ledger knows no objects, but has %s", got)
	}
	if got := d.Value(t, "SELECT string_agg(amount::text, ' ' ORDER BY amount) FROM "+
		"acc_supplier_settlements_totals WHERE period = 'infinity' AND amount <> 0"); got != "-2.00 2.00" {
		t.Errorf("owed by object: %s", got)
	}
	ours := erptest.Contract(d.o.Counterparty)
	for what, f := range map[string]erptest.Fields{
		"the order of another contract": registrar(
			with(claim(ours, true, "debit", "1.00"), "source_order", first.ID), claim(ours, false, "credit", "1.00")),
		"the order of a supplier, as customer": registrar(
			with(claim(ours, false, "debit", "1.00"), "source_order", first.ID), claim(ours, true, "credit", "1.00")),
	} {
		want(t, what, d.Post(t, "settlement-registrar", "", f), 400, "invalid")
	}
	d.Exec(t, "UPDATE cat_contracts SET by_order = false WHERE id = $1", contract)
	want(t, "by order where the contract is not",
		d.Post(t, "settlement-registrar", "",
			registrar(of(first.ID, "debit", "1.00"), of(second.ID, "credit", "1.00"))), 400, "invalid")
	d.Exec(t, "UPDATE cat_contracts SET by_order = true WHERE id = $1", contract)
	erptest.Clean(t, d.Database)
}
