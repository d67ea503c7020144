package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
)

func (d desk) consumption(quantity string) erptest.Fields {
	return erptest.Fields{"warehouse": d.o.Warehouses[0], "department": d.o.Department, "expense_item": d.o.ExpenseItem,
		"lines": []erptest.Line{
			{Item: d.Items[0], Quantity: quantity}, {Item: d.Items[1], Quantity: quantity},
		}}
}

func TestADepartmentUsesUpMaterials(t *testing.T) {
	d := sit(t, 2)
	d.Exec(t, "UPDATE cat_items SET account = '10' WHERE id = $1", d.Items[0])
	receipt := d.document("10")
	receipt.Lines = append(receipt.Lines, erptest.Line{Item: d.Items[1], Quantity: "10"})
	came := d.Post(t, "goods-receipt", "", receipt)
	used := d.live(t, "internal-consumption", d.consumption("1"), d.consumption("4"))
	if got := d.entries(t, used); got != "26 10 4.00, 26 41 8.00" {
		t.Errorf("entries: %s", got)
	}
	if got := d.Value(t, "SELECT debit_1 = $1 AND debit_2 = $2 FROM gl_general WHERE recorder = $3 AND line = 1",
		d.o.Department, d.o.ExpenseItem, used); got != "true" {
		t.Error("overheads are not those of the department")
	}
	refused(t, "more than there is", d.Post(t, "internal-consumption", "", d.consumption("6.001")), "stock")
	order := d.document("5")
	want(t, "reserve", d.Post(t, "customer-order", "", order), 201, "")
	refused(t, "what is reserved", d.Post(t, "internal-consumption", "", d.consumption("1.001")), "stock")
	want(t, "what is free", d.Post(t, "internal-consumption", "", d.consumption("1")), 201, "")
	refused(t, "take back what has been used up", d.unpost(t, "goods-receipt", came), "stock")
	want(t, "by nobody", d.Post(t, "internal-consumption", "", with(d.consumption("1"), "department", "")), 400,
		"invalid")
	want(t, "by others", d.Post(t, "internal-consumption", "",
		with(d.consumption("1"), "department", d.Organisations[1].Department)), 400, "invalid")
	erptest.Clean(t, d.Database)
}
