package erp_test

import (
	"strings"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestADocumentReferredToMustBeThereAndFit(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Post(t, "goods-receipt", "", d.Goods("10"))
	order := d.Post(t, "customer-order", "", d.Goods("6"))
	d.Post(t, "goods-sale", "", d.GoodsByOrder(id.New(), "1")).Want(t, "no document", 400, "invalid")
	d.Post(t, "goods-receipt", "", d.GoodsByOrder(order.ID, "1")).Want(t, "a document of another type", 400, "invalid")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	theirs := erptest.Document{Warehouse: d.Organisations[1].Warehouses[0],
		Counterparty: d.Organisations[1].Counterparty, Order: order.ID, Lines: d.Goods("1").Lines}
	stranger.Post(t, "goods-sale", "", theirs).Want(t, "a document of another organisation", 400, "invalid")
	elsewhere := d.GoodsByOrder(order.ID, "1")
	elsewhere.Warehouse = d.Org.Warehouses[1]
	d.Post(t, "goods-sale", "", elsewhere).Want(t, "another warehouse", 400, "invalid")
	partner, contract := id.New(), id.New()
	d.Exec(t, "INSERT INTO cat_counterparties (id, organisation, code, name) VALUES ($1, $2, 'C9', 'Other')", partner,
		d.Org.ID)
	d.Exec(t, "INSERT INTO cat_contracts (id, organisation, code, name, counterparty, supplier) VALUES ($1, $2, "+
		"'D9', 'Other', $3, true)", contract, d.Org.ID, partner)
	fields := func(counterparty id.ID) erptest.Fields {
		return erptest.Fields{"warehouse": d.Org.Warehouses[0], "counterparty": counterparty, "contract": contract,
			"lines": d.Goods("1").Lines}
	}
	d.Post(t, "goods-sale", "", fields(d.Org.Counterparty)).Want(t, "the contract of another counterparty", 400,
		"invalid")
	d.Post(t, "goods-sale", "", fields(partner)).Want(t, "a contract of the other side", 400, "invalid")
	d.Post(t, "goods-receipt", "", fields(partner)).Want(t, "the contract of a supplier", 201, "")

	sale := d.Post(t, "goods-sale", "", d.GoodsByOrder(order.ID, "1"))
	for _, path := range []string{"/v1/documents/goods-sale/" + sale.ID.String(), "/v1/documents/goods-sale?limit=1"} {
		if a := d.Call(t, "GET", path, "", nil); !strings.Contains(string(a.Body),
			`"source_order_number":"`+order.Number+`"`) {
			t.Errorf("%s does not show the number of the order: %s", path, a.Body)
		}
	}
	erptest.Clean(t, d.Database)
}
