package reports_test

import (
	"encoding/json"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

func TestTheCardOfAnAccountEqualsItsBalance(t *testing.T) {
	d := erptest.NewDesk(t, 3)
	dated := func(quantity, date string) erptest.Document {
		doc := d.Goods(quantity)
		doc.Lines[0].Item, doc.Date = d.Items[2], date // costs 3.00, sells for 6.00, no VAT
		return doc
	}
	d.Post(t, "goods-receipt", "", dated("100", "2025-01-10T00:00:00Z"))
	other := dated("5", "2025-01-20T00:00:00Z")
	other.Warehouse = d.Org.Warehouses[1]
	d.Post(t, "goods-receipt", "", other)
	sale := d.Post(t, "goods-sale", "", dated("10", "2025-02-05T10:00:00Z"))
	d.Post(t, "goods-receipt", "", dated("1", "2025-02-28T23:59:59Z"))
	d.Post(t, "goods-receipt", "", dated("1", "2025-03-01T00:00:00Z"))
	type card struct {
		Opening, Closing, Turnover_Debit, Turnover_Credit amount.Money
		More                                              bool
		Rows                                              []struct {
			Document      id.ID
			Number        string
			Other_Account string
			Analytics     []id.ID
			Credit        amount.Money
		}
	}
	ask := func(query string) (c card) {
		t.Helper()
		a := d.Call(t, "GET", "/v1/reports/account-card?"+query, "", nil)
		if err := json.Unmarshal(a.Body, &c); err != nil || a.Status != 200 {
			t.Fatalf("%s: %d %s", query, a.Status, a.Body)
		}
		return c
	}
	const february = "account=41&from=2025-02-01&to=2025-02-28"
	all := ask(february)
	if all.Opening != 315_00 || all.Turnover_Debit != 3_00 || all.Turnover_Credit != 30_00 || all.Closing != 288_00 ||
		all.More || len(all.Rows) != 2 {
		t.Errorf("February: %+v", all)
	}
	if r := all.Rows[0]; r.Document != sale.ID || r.Number != sale.Number || r.Other_Account != "90" ||
		r.Credit != 30_00 || len(r.Analytics) != 1 || r.Analytics[0] != d.Org.Warehouses[0] {
		t.Errorf("the first entry: %+v", r)
	}
	if c := ask(february + "&element=" + d.Org.Warehouses[1].String()); c.Opening != 15_00 || c.Closing != 15_00 ||
		c.More || len(c.Rows) != 0 {
		t.Errorf("the other warehouse: %+v", c)
	}
	if c := ask(february + "&limit=1"); len(c.Rows) != 1 || !c.More || c.Closing != 288_00 ||
		c.Turnover_Debit != 3_00 {
		t.Errorf("a page: %+v", c)
	}
	if c := ask(february + "&limit=2"); len(c.Rows) != 2 || c.More {
		t.Errorf("a page with all: %+v", c)
	}
	if c := ask("account=41&from=2025-02-06&to=2025-02-27"); c.Opening != 285_00 || c.Turnover_Debit != 0 ||
		c.Turnover_Credit != 0 || c.Closing != 285_00 || len(c.Rows) != 0 {
		t.Errorf("within a month: %+v", c)
	}
	for _, wrong := range []string{"", "account=77", "account=41&limit=0", "account=41&element=x",
		"account=41&from=2025-02-01&to=2025-01-01"} {
		if a := d.Call(t, "GET", "/v1/reports/account-card?"+wrong, "", nil); a.Status != 400 {
			t.Errorf("%q: %d %s", wrong, a.Status, a.Body)
		}
	}
}
