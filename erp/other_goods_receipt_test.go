package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

func (d desk) found(lines ...erptest.Line) erptest.Fields {
	return erptest.Fields{"warehouse": d.o.Warehouses[0], "reason": "Inventory", "lines": lines}
}

func TestGoodsThatAreFoundHaveACost(t *testing.T) {
	d := sit(t, 3)
	d.Exec(t, "UPDATE cat_items SET account = '10' WHERE id = $1", d.Items[1])
	d.Exec(t, "UPDATE cat_items SET purchase_price = 0 WHERE id = $1", d.Items[2])
	of := func(item int, quantity, price string) erptest.Line {
		return erptest.Line{Item: d.Items[item], Quantity: quantity, Price: price}
	}
	came := d.live(t, "other-goods-receipt", d.found(of(0, "5", "")),
		d.found(of(0, "10", "3.00"), of(1, "2", ""), of(2, "1", "0.50")))
	if got := d.entries(t, came); got != "41 91 30.50, 10 91 4.00" {
		t.Errorf("entries: %s", got)
	}
	refused(t, "at no cost", d.Post(t, "other-goods-receipt", "", d.found(of(0, "1", ""), of(2, "1", ""))), "cost")
	refused(t, "at a cost that comes to nothing", d.Post(t, "other-goods-receipt", "", d.found(of(0, "0.001", "0.01"))),
		"cost")
	sale := d.Post(t, "goods-sale", "", d.document("4"))
	want(t, "sell what is found", sale, 201, "")
	if got := d.Value(t, "SELECT cost FROM doc_goods_sale"); got != "12.00" {
		t.Errorf("it was sold at %s", got)
	}
	path := "/v1/documents/other-goods-receipt/" + came.String()
	refused(t, "take back what is sold", d.Call(t, "POST", path+"/unpost", "", nil), "stock")
	refused(t, "change it to less", d.Change(t, path, version(t, d.User, path),
		jsonOf(t, d.found(of(0, "3.999", "3.00")))), "stock")
	want(t, "nowhere", d.Post(t, "other-goods-receipt", "", with(d.found(of(0, "1", "")), "warehouse", id.ID{})), 400,
		"invalid")
	want(t, "at the warehouse of others", d.Post(t, "other-goods-receipt", "",
		with(d.found(of(0, "1", "")), "warehouse", d.Organisations[1].Warehouses[0])), 400, "invalid")
	want(t, "nothing", d.Post(t, "other-goods-receipt", "", d.found()), 400, "invalid")
	erptest.Clean(t, d.Database)
}
