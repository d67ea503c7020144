package assets_test

import (
	"maps"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func commission(d erptest.Desk, asset id.ID, more erptest.Fields) erptest.Fields {
	f := erptest.Fields{"asset": asset, "department": d.Org.Department}
	maps.Copy(f, more)
	return f
}

// fromStock takes so much of item 0 and of item 1 at 2.00 each from stock.
func fromStock(d erptest.Desk, quantity string) erptest.Fields {
	return erptest.Fields{"warehouse": d.Org.Warehouses[0],
		"lines": []erptest.Line{{Item: d.Items[0], Quantity: quantity}, {Item: d.Items[1], Quantity: quantity}}}
}

func TestAnAssetIsCommissionedOnceAtItsCost(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	d.Exec(t, "UPDATE cat_items SET account = '10' WHERE id = $1", d.Items[0])
	goods := d.Goods("10")
	goods.Lines = append(goods.Lines, erptest.Line{Item: d.Items[1], Quantity: "10"})
	came := d.Post(t, "goods-receipt", "", goods)
	asset := d.Org.Assets[0]
	d.Post(t, "asset-commissioning", "", commission(d, asset, nil)).Refused(t, "what has cost nothing", "cost")
	spent := d.Post(t, "service-purchase", "", d.Investment(asset, "3"))
	spent.Want(t, "invest", 201, "")
	used := d.Live(t, "asset-commissioning", commission(d, asset, nil), commission(d, asset, fromStock(d, "2")))
	if got := d.Entries(t, used); got != "08 10 2.00, 08 41 4.00, 01 08 21.00" {
		t.Errorf("entries: %s", got)
	}
	const state = "SELECT s.useful_months || ' ' || c.amount || ' ' || i.amount FROM inf_asset_states s, " +
		"acc_asset_costs_totals c, acc_asset_investments_totals i WHERE c.period = 'infinity' AND i.period = 'infinity'"
	if got := d.Value(t, state); got != "36 21.00 0.00" {
		t.Errorf("cost, months, account 01 and account 08: %s", got)
	}
	d.Post(t, "asset-commissioning", "", commission(d, asset, fromStock(d, "1"))).Refused(t, "again", "asset_states")
	d.Unpost(t, "service-purchase", spent.ID).Refused(t, "unpost what has been invested in it", "asset_investments")
	path := "/v1/documents/service-purchase/" + spent.ID.String()
	d.Change(t, path, 1, d.Investment(asset, "2")).Refused(t, "invest less", "asset_investments")
	d.Change(t, path, 1, d.ServicePurchase("3")).Refused(t, "make an overhead of it", "asset_investments")
	d.Change(t, path, 1, d.Investment(asset, "4")).Want(t, "invest more", 200, "")
	d.Repost(t, "asset-commissioning", used).Want(t, "repost the commissioning", 200, "")
	if got := d.Value(t, state); got != "36 26.00 0.00" {
		t.Errorf("cost, months, account 01 and account 08: %s", got)
	}
	d.Unpost(t, "goods-receipt", came.ID).Refused(t, "unpost what has been used for it", "stock")

	second := d.Org.Assets[1]
	d.Post(t, "asset-commissioning", "", commission(d, second, fromStock(d, "8.001"))).Refused(t, "more than there is",
		"stock")
	d.Post(t, "customer-order", "", d.Goods("5")).Want(t, "reserve", 201, "")
	d.Post(t, "asset-commissioning", "", commission(d, second, fromStock(d, "3.001"))).Refused(t, "what is reserved",
		"stock")
	d.Post(t, "asset-commissioning", "", commission(d, second, fromStock(d, "1")).With("warehouse", id.ID{})).Want(t,
		"lines of no warehouse", 400, "invalid")
	d.Post(t, "asset-commissioning", "", commission(d, second,
		erptest.Fields{"warehouse": d.Org.Warehouses[0]})).Want(t, "a warehouse for no lines", 400, "invalid")
	d.Post(t, "asset-commissioning", "", commission(d, second, fromStock(d, "1")).With("department", id.ID{})).Want(t,
		"of no department", 400, "invalid")
	d.Post(t, "asset-commissioning", "", commission(d, second, fromStock(d, "1")).With("useful_months", -1)).Want(t,
		"for less than nothing", 400, "invalid")
	d.Post(t, "asset-commissioning", "", commission(d, d.Organisations[1].Assets[0], fromStock(d, "1"))).Want(t,
		"an asset of others", 400, "invalid")
	d.Exec(t, "UPDATE cat_fixed_assets SET department = $1 WHERE id = $2", d.Org.Department, second)
	d.Post(t, "asset-commissioning", "", commission(d, second, fromStock(d, "1")).With("department", id.ID{})).Want(t,
		"of its own department", 201, "")
	erptest.Clean(t, d.Database)
}

// What is taken for an asset from an addressed warehouse leaves its cells by an order.
func TestAnAssetIsTakenFromItsCell(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	goods := d.Goods("3")
	goods.Warehouse = d.Org.Addressed
	d.Shelve(t, d.Post(t, "goods-receipt", "", goods), d.Org.Cells[0], "3")
	used := d.Post(t, "asset-commissioning", "",
		commission(d, d.Org.Assets[0], erptest.Fields{"warehouse": d.Org.Addressed, "lines": d.Goods("1").Lines}))
	used.Want(t, "commission", 201, "")
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(used.ID, d.Org.Cells[0], "1.001")).Refused(t,
		"more than is used", "to_ship")
	d.Post(t, "warehouse-issue-order", "", d.WarehouseOrder(used.ID, d.Org.Cells[0], "1")).Want(t, "take it out", 201,
		"")
	d.Unpost(t, "asset-commissioning", used.ID).Refused(t, "unpost what has been taken out", "to_ship")
	erptest.Clean(t, d.Database)
}
