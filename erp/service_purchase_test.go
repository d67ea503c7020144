package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

// bought are services for a department, at 5.00 and 20 %.
func (d desk) bought(quantity string) erptest.Fields {
	return d.deal(erptest.Fields{
		"department": d.o.Department, "expense_item": d.o.ExpenseItem,
		"lines": []erptest.Fields{{"service": d.Services[0], "quantity": quantity}},
	})
}

// invested are services for an asset.
func (d desk) invested(asset id.ID, quantity string) erptest.Fields {
	return d.deal(erptest.Fields{"asset": asset,
		"lines": []erptest.Fields{{"service": d.Services[0], "quantity": quantity}}})
}

func TestServicesAreBought(t *testing.T) {
	d := sit(t, 1)
	spent := d.live(t, "service-purchase", d.invested(d.o.Assets[0], "1"),
		with(d.bought("4"), "supplier_number", "N-1"))
	if got := d.entries(t, spent); got != "26 60 20.00, 19 60 4.00" {
		t.Errorf("entries: %s", got)
	}
	if got := d.Value(t, "SELECT debit_1 = $1 AND debit_2 = $2 FROM gl_general WHERE line = 1", d.o.Department,
		d.o.ExpenseItem); got != "true" {
		t.Error("overheads are not those of the department")
	}
	const books = "SELECT s.amount || ' ' || v.amount || ' ' || v.vat FROM acc_supplier_settlements_totals s, " +
		"acc_input_vat_totals v WHERE s.period = 'infinity' AND v.period = 'infinity' AND v.amount <> 0"
	if got := d.Value(t, books); got != "24.00 20.00 4.00" {
		t.Errorf("owed, net and VAT: %s", got)
	}
	refused(t, "the same number again", d.Post(t, "service-purchase", "",
		with(d.bought("1"), "supplier_number", "N-1")), "supplier_numbers")
	numbered := d.document("1")
	numbered.SupplierNumber = "N-1"
	refused(t, "goods of the same number", d.Post(t, "goods-receipt", "", numbered), "supplier_numbers")
	want(t, "without a number", d.Post(t, "service-purchase", "", d.bought("1")), 201, "")
	want(t, "for nobody", d.Post(t, "service-purchase", "", with(d.bought("1"), "department", id.ID{})), 400, "invalid")
	want(t, "for nothing", d.Post(t, "service-purchase", "", with(d.bought("1"), "expense_item", id.ID{})), 400,
		"invalid")
	want(t, "for a department and an asset",
		d.Post(t, "service-purchase", "", with(d.bought("1"), "asset", d.o.Assets[0])), 400, "invalid")
	want(t, "for the asset of others", d.Post(t, "service-purchase", "", d.invested(d.Organisations[1].Assets[0], "1")),
		400, "invalid")
	counterparty, _ := d.supplier(t)
	want(t, "under the contract of another",
		d.Post(t, "service-purchase", "", with(d.bought("1"), "counterparty", counterparty)), 400, "invalid")
	d.Exec(t, "UPDATE cat_contracts SET supplier = false WHERE id = $1", erptest.Contract(d.o.Counterparty))
	want(t, "from a customer", d.Post(t, "service-purchase", "", d.bought("1")), 400, "invalid")
	erptest.Clean(t, d.Database)
}
