package purchases_test

import (
	"testing"

	"plimsoll/erp/erptest"
)

func TestAReceiptByOrderIsNotAboveIt(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	order := d.Post(t, "supplier-order", "", d.Goods("6"))
	order.Want(t, "order", 201, "")
	d.Post(t, "goods-receipt", "", d.GoodsByOrder(order.ID, "6.001")).Refused(t, "receive more", "supplier_orders")
	other := d.GoodsByOrder(order.ID, "1")
	other.Lines[0].Item = d.Items[1]
	d.Post(t, "goods-receipt", "", other).Refused(t, "receive something else", "supplier_orders")
	receipt := d.Post(t, "goods-receipt", "", d.GoodsByOrder(order.ID, "4"))
	receipt.Want(t, "receive a part", 201, "")
	d.Post(t, "goods-receipt", "", d.GoodsByOrder(order.ID, "2.001")).Refused(t, "receive more than the rest",
		"supplier_orders")
	d.Change(t, "/v1/documents/goods-receipt/"+receipt.ID.String(), 1, d.GoodsByOrder(order.ID, "6")).Want(t,
		"make it all of the order", 200, "")
	d.Unpost(t, "supplier-order", order.ID).Refused(t, "unpost the order", "supplier_orders")
	erptest.Clean(t, d.Database)
}

func TestASuppliersNumberComesOnce(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	numbered := func(number string) erptest.Document {
		doc := d.Goods("1")
		doc.SupplierNumber = number
		return doc
	}
	first := d.Post(t, "goods-receipt", "", numbered("A-1"))
	first.Want(t, "the first", 201, "")
	d.Post(t, "goods-receipt", "", numbered("A-1")).Refused(t, "the second", "supplier_numbers")
	d.Post(t, "supplier-order", "", numbered("A-1")).Refused(t, "an order of that number", "supplier_numbers")
	d.Post(t, "goods-receipt", "", numbered("")).Want(t, "without a number", 201, "")
	second := d.Post(t, "goods-receipt", "", numbered("A-2"))
	second.Want(t, "another", 201, "")
	path := "/v1/documents/goods-receipt/" + second.ID.String()
	d.Change(t, path, 1, numbered("A-1")).Refused(t, "change to a number that is taken", "supplier_numbers")
	d.Call(t, "POST", path+"/post", "", nil).Want(t, "repost", 200, "")
	d.Unpost(t, "goods-receipt", first.ID).Want(t, "unpost the first", 200, "")
	d.Change(t, path, 2, numbered("A-1")).Want(t, "change to a number that is free", 200, "")
	d.Repost(t, "goods-receipt", first.ID).Refused(t, "post the first again", "supplier_numbers")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	theirs := erptest.Document{Warehouse: d.Organisations[1].Warehouses[0],
		Counterparty: d.Organisations[1].Counterparty, SupplierNumber: "A-1", Lines: d.Goods("1").Lines}
	stranger.Post(t, "goods-receipt", "", theirs).Want(t, "in another organisation", 201, "")
	erptest.Clean(t, d.Database)
}
