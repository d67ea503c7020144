package restoration_test

import (
	"testing"

	"plimsoll/erp/audit"
	"plimsoll/erp/erptest"
)

// A sale dated before the goods came takes them all the same; from its date on, costs wait for the order of time to
// be restored.
func TestWhatIsBackDatedMovesTheBoundary(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	boundary := func(what, want string) {
		t.Helper()
		got := d.Value(t, "SELECT coalesce(string_agg(i.code || ' ' || to_char(b.moment, 'YYYY-MM-DD'), ', ' ORDER "+
			"BY i.code), 'none') FROM acc_batches_boundary b JOIN cat_items i ON i.id = b.item")
		if got != want {
			t.Errorf("%s: the boundary is %s, want %s", what, got, want)
		}
	}
	post := func(kind, date, quantity string, item int) string {
		t.Helper()
		document := erptest.Document{Warehouse: d.Org.Warehouses[0], Counterparty: d.Org.Counterparty,
			Date: date + "T12:00:00Z", Lines: []erptest.Line{{Item: d.Items[item], Quantity: quantity}}}
		a := d.Post(t, kind, "", document)
		a.Want(t, kind, 201, "")
		return "/v1/documents/" + kind + "/" + a.ID.String()
	}
	post("goods-receipt", "2025-03-10", "10", 0)
	post("goods-receipt", "2025-03-10", "10", 1)
	sale := post("goods-sale", "2025-03-20", "1", 0)
	boundary("in the order of time", "none")
	post("goods-sale", "2025-03-05", "1", 0)
	boundary("a sale before the goods came", "I0 2025-03-05")
	d.Call(t, "POST", sale+"/post", "", nil).Want(t, "repost", 200, "")
	post("goods-sale", "2025-03-15", "1", 0)
	boundary("after the boundary", "I0 2025-03-05")
	early := post("goods-receipt", "2025-03-12", "1", 1)
	d.Call(t, "POST", early+"/unpost", "", nil).Want(t, "unpost the last", 200, "")
	boundary("the last of its item", "I0 2025-03-05")
	post("goods-receipt", "2025-03-01", "1", 1)
	boundary("a receipt before another", "I0 2025-03-05, I1 2025-03-01")
	erptest.Clean(t, d.Database)

	d.Exec(t, "UPDATE acc_batches_boundary SET moment = moment + interval '1 day'")
	report, err := audit.Run(t.Context(), d.Database)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		moved := c.Invariant == "batches.boundary" || c.Invariant == "batches.order" // the first sale is before it now
		if moved != (c.Violations == 1) {
			t.Errorf("%s: %d violations, %+v", c.Invariant, c.Violations, c.Examples)
		}
	}
}
