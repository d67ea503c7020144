package erp_test

import (
	"maps"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

// addressed is another warehouse whose goods lie in cells, with a cell.
func (d desk) addressed(t *testing.T) (cell, warehouse id.ID) {
	cell, warehouse = id.New(), id.New()
	d.Exec(t, "INSERT INTO cat_warehouses (id, organisation, code, name, addressed) VALUES ($1, $2, 'W9', 'Other', "+
		"true)", warehouse, d.o.ID)
	d.Exec(t, "INSERT INTO cat_warehouse_cells (id, organisation, code, name, warehouse) VALUES ($1, $2, 'L9', "+
		"'Other', $3)", cell, d.o.ID, warehouse)
	return cell, warehouse
}

func (d desk) commission(asset id.ID, more erptest.Fields) erptest.Fields {
	f := erptest.Fields{"asset": asset, "department": d.o.Department}
	maps.Copy(f, more)
	return f
}

// stocked takes so much of item 0 and of item 1 at 2.00 each from stock.
func (d desk) stocked(quantity string) erptest.Fields {
	return erptest.Fields{"warehouse": d.o.Warehouses[0],
		"lines": []erptest.Line{{Item: d.Items[0], Quantity: quantity}, {Item: d.Items[1], Quantity: quantity}}}
}

func TestAnAssetIsCommissionedOnceAtItsCost(t *testing.T) {
	d := sit(t, 2)
	d.Exec(t, "UPDATE cat_items SET account = '10' WHERE id = $1", d.Items[0])
	goods := d.document("10")
	goods.Lines = append(goods.Lines, erptest.Line{Item: d.Items[1], Quantity: "10"})
	came := d.Post(t, "goods-receipt", "", goods)
	asset := d.o.Assets[0]
	refused(t, "what has cost nothing", d.Post(t, "asset-commissioning", "", d.commission(asset, nil)), "cost")
	spent := d.Post(t, "service-purchase", "", d.invested(asset, "3"))
	want(t, "invest", spent, 201, "")
	used := d.live(t, "asset-commissioning", d.commission(asset, nil), d.commission(asset, d.stocked("2")))
	if got := d.entries(t, used); got != "08 10 2.00, 08 41 4.00, 01 08 21.00" {
		t.Errorf("entries: %s", got)
	}
	const state = "SELECT s.useful_months || ' ' || c.amount || ' ' || i.amount FROM inf_asset_states s, " +
		"acc_asset_costs_totals c, acc_asset_investments_totals i WHERE c.period = 'infinity' AND i.period = 'infinity'"
	if got := d.Value(t, state); got != "36 21.00 0.00" {
		t.Errorf("cost, months, account 01 and account 08: %s", got)
	}
	refused(t, "again", d.Post(t, "asset-commissioning", "", d.commission(asset, d.stocked("1"))), "asset_states")
	refused(t, "take back what has been invested in it", d.unpost(t, "service-purchase", spent), "asset_investments")
	path := "/v1/documents/service-purchase/" + spent.ID.String()
	refused(t, "invest less", d.Change(t, path, 1, jsonOf(t, d.invested(asset, "2"))), "asset_investments")
	refused(t, "make an overhead of it", d.Change(t, path, 1, jsonOf(t, d.bought("3"))), "asset_investments")
	want(t, "invest more", d.Change(t, path, 1, jsonOf(t, d.invested(asset, "4"))), 200, "")
	want(t, "post the commissioning anew",
		d.Call(t, "POST", "/v1/documents/asset-commissioning/"+used.String()+"/post", "", nil), 200, "")
	if got := d.Value(t, state); got != "36 26.00 0.00" {
		t.Errorf("cost, months, account 01 and account 08: %s", got)
	}
	refused(t, "take back what has been used for it", d.unpost(t, "goods-receipt", came), "stock")

	second := d.o.Assets[1]
	refused(t, "more than there is", d.Post(t, "asset-commissioning", "", d.commission(second, d.stocked("8.001"))),
		"stock")
	want(t, "reserve", d.Post(t, "customer-order", "", d.document("5")), 201, "")
	refused(t, "what is reserved", d.Post(t, "asset-commissioning", "", d.commission(second, d.stocked("3.001"))),
		"stock")
	want(t, "lines of no warehouse", d.Post(t, "asset-commissioning", "",
		with(d.commission(second, d.stocked("1")), "warehouse", id.ID{})), 400, "invalid")
	want(t, "a warehouse for no lines", d.Post(t, "asset-commissioning", "",
		d.commission(second, erptest.Fields{"warehouse": d.o.Warehouses[0]})), 400, "invalid")
	want(t, "of no department", d.Post(t, "asset-commissioning", "",
		with(d.commission(second, d.stocked("1")), "department", id.ID{})), 400, "invalid")
	want(t, "for less than nothing", d.Post(t, "asset-commissioning", "",
		with(d.commission(second, d.stocked("1")), "useful_months", -1)), 400, "invalid")
	want(t, "an asset of others", d.Post(t, "asset-commissioning", "",
		d.commission(d.Organisations[1].Assets[0], d.stocked("1"))), 400, "invalid")
	d.Exec(t, "UPDATE cat_fixed_assets SET department = $1 WHERE id = $2", d.o.Department, second)
	want(t, "of its own department", d.Post(t, "asset-commissioning", "",
		with(d.commission(second, d.stocked("1")), "department", id.ID{})), 201, "")
	erptest.Clean(t, d.Database)
}

// What is taken for an asset from an addressed warehouse leaves its cells by an order.
func TestAnAssetIsTakenFromItsCell(t *testing.T) {
	d := sit(t, 1)
	goods := d.document("3")
	goods.Warehouse = d.o.Addressed
	d.shelve(t, d.Post(t, "goods-receipt", "", goods), d.o.Cells[0], "3")
	used := d.Post(t, "asset-commissioning", "",
		d.commission(d.o.Assets[0], erptest.Fields{"warehouse": d.o.Addressed, "lines": d.document("1").Lines}))
	want(t, "commission", used, 201, "")
	refused(t, "more than is used", d.Post(t, "warehouse-issue-order", "", d.issue(used.ID, d.o.Cells[0], "1.001")),
		"to_ship")
	want(t, "take it out", d.Post(t, "warehouse-issue-order", "", d.issue(used.ID, d.o.Cells[0], "1")), 201, "")
	refused(t, "take back what has been taken out", d.unpost(t, "asset-commissioning", used), "to_ship")
	erptest.Clean(t, d.Database)
}
