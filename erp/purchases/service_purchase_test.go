package purchases_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestServicesAreBought(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	spent := d.Live(t, "service-purchase", d.Investment(d.Org.Assets[0], "1"),
		d.ServicePurchase("4").With("supplier_number", "N-1"))
	if got := d.Entries(t, spent); got != "26 60 20.00, 19 60 4.00" {
		t.Errorf("entries: %s", got)
	}
	if got := d.Value(t, "SELECT debit_1 = $1 AND debit_2 = $2 FROM gl_general WHERE line = 1", d.Org.Department,
		d.Org.ExpenseItem); got != "true" {
		t.Error("overheads are not those of the department")
	}
	const books = "SELECT s.amount || ' ' || v.amount || ' ' || v.vat FROM acc_supplier_settlements_totals s, " +
		"acc_input_vat_totals v WHERE s.period = 'infinity' AND v.period = 'infinity' AND v.amount <> 0"
	if got := d.Value(t, books); got != "24.00 20.00 4.00" {
		t.Errorf("owed, net and VAT: %s", got)
	}
	d.Post(t, "service-purchase", "", d.ServicePurchase("1").With("supplier_number", "N-1")).Refused(t,
		"the same number again", "supplier_numbers")
	numbered := d.Goods("1")
	numbered.SupplierNumber = "N-1"
	d.Post(t, "goods-receipt", "", numbered).Refused(t, "goods of the same number", "supplier_numbers")
	d.Post(t, "service-purchase", "", d.ServicePurchase("1")).Want(t, "without a number", 201, "")
	d.Post(t, "service-purchase", "", d.ServicePurchase("1").With("department", id.ID{})).Want(t, "for nobody", 400,
		"invalid")
	d.Post(t, "service-purchase", "", d.ServicePurchase("1").With("expense_item", id.ID{})).Want(t, "for nothing", 400,
		"invalid")
	d.Post(t, "service-purchase", "", d.ServicePurchase("1").With("asset", d.Org.Assets[0])).Want(t,
		"for a department and an asset", 400, "invalid")
	d.Post(t, "service-purchase", "", d.Investment(d.Organisations[1].Assets[0], "1")).Want(t,
		"for the asset of others", 400, "invalid")
	counterparty, _ := d.Supplier(t)
	d.Post(t, "service-purchase", "", d.ServicePurchase("1").With("counterparty", counterparty)).Want(t,
		"under the contract of another", 400, "invalid")
	d.Exec(t, "UPDATE cat_contracts SET supplier = false WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	d.Post(t, "service-purchase", "", d.ServicePurchase("1")).Want(t, "from a customer", 400, "invalid")
	erptest.Clean(t, d.Database)
}
