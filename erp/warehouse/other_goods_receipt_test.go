package warehouse_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestGoodsThatAreFoundHaveACost(t *testing.T) {
	d := erptest.NewDesk(t, 3)
	d.Exec(t, "UPDATE cat_items SET account = '10' WHERE id = $1", d.Items[1])
	d.Exec(t, "UPDATE cat_items SET purchase_price = 0 WHERE id = $1", d.Items[2])
	of := func(item int, quantity, price string) erptest.Line {
		return erptest.Line{Item: d.Items[item], Quantity: quantity, Price: price}
	}
	came := d.Live(t, "other-goods-receipt", d.FoundGoods(of(0, "5", "")),
		d.FoundGoods(of(0, "10", "3.00"), of(1, "2", ""), of(2, "1", "0.50")))
	if got := d.Entries(t, came); got != "41 91 30.50, 10 91 4.00" {
		t.Errorf("entries: %s", got)
	}
	d.Post(t, "other-goods-receipt", "", d.FoundGoods(of(0, "1", ""), of(2, "1", ""))).Refused(t, "at no cost", "cost")
	d.Post(t, "other-goods-receipt", "", d.FoundGoods(of(0, "0.001", "0.01"))).Refused(t,
		"at a cost that comes to nothing", "cost")
	sale := d.Post(t, "goods-sale", "", d.Goods("4"))
	sale.Want(t, "sell what is found", 201, "")
	if got := d.Value(t, "SELECT cost FROM doc_goods_sale"); got != "12.00" {
		t.Errorf("it was sold at %s", got)
	}
	path := "/v1/documents/other-goods-receipt/" + came.String()
	d.Call(t, "POST", path+"/unpost", "", nil).Refused(t, "unpost what is sold", "stock")
	d.Change(t, path, d.Version(t, path), d.FoundGoods(of(0, "3.999", "3.00"))).Refused(t, "change it to less", "stock")
	d.Post(t, "other-goods-receipt", "", d.FoundGoods(of(0, "1", "")).With("warehouse", id.ID{})).Want(t, "nowhere",
		400, "invalid")
	d.Post(t, "other-goods-receipt", "", d.FoundGoods(of(0, "1", "")).With("warehouse",
		d.Organisations[1].Warehouses[0])).Want(t, "at the warehouse of others", 400, "invalid")
	d.Post(t, "other-goods-receipt", "", d.FoundGoods()).Want(t, "nothing", 400, "invalid")
	erptest.Clean(t, d.Database)
}
