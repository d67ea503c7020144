package warehouse_test

import (
	"testing"

	"plimsoll/erp/erptest"
)

func TestADepartmentUsesUpMaterials(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	d.Exec(t, "UPDATE cat_items SET account = '10' WHERE id = $1", d.Items[0])
	receipt := d.Goods("10")
	receipt.Lines = append(receipt.Lines, erptest.Line{Item: d.Items[1], Quantity: "10"})
	came := d.Post(t, "goods-receipt", "", receipt)
	used := d.Live(t, "internal-consumption", d.Consumption("1"), d.Consumption("4"))
	if got := d.Entries(t, used); got != "26 10 4.00, 26 41 8.00" {
		t.Errorf("entries: %s", got)
	}
	if got := d.Value(t, "SELECT debit_1 = $1 AND debit_2 = $2 FROM gl_general WHERE recorder = $3 AND line = 1",
		d.Org.Department, d.Org.ExpenseItem, used); got != "true" {
		t.Error("overheads are not those of the department")
	}
	d.Post(t, "internal-consumption", "", d.Consumption("6.001")).Refused(t, "more than there is", "stock")
	order := d.Goods("5")
	d.Post(t, "customer-order", "", order).Want(t, "reserve", 201, "")
	d.Post(t, "internal-consumption", "", d.Consumption("1.001")).Refused(t, "what is reserved", "stock")
	d.Post(t, "internal-consumption", "", d.Consumption("1")).Want(t, "what is free", 201, "")
	d.Unpost(t, "goods-receipt", came.ID).Refused(t, "unpost what has been used up", "stock")
	d.Post(t, "internal-consumption", "", d.Consumption("1").With("department", "")).Want(t, "by nobody", 400,
		"invalid")
	d.Post(t, "internal-consumption", "", d.Consumption("1").With("department", d.Organisations[1].Department)).Want(t,
		"by others", 400, "invalid")
	erptest.Clean(t, d.Database)
}
