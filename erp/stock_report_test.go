package erp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"plimsoll/platform/id"
)

// However few rows are shown, and whether all fit or not, count and amount are of all.
func TestStockTellsOfAllRowsWhateverItShows(t *testing.T) {
	d := sit(t, 3)
	for n, date := range []string{"2025-01-10T00:00:00Z", "2025-02-10T00:00:00Z", "2025-02-20T00:00:00Z"} {
		goods := d.on(date, fmt.Sprint(5+n))
		goods.Lines[0].Item = d.Items[n]
		want(t, "receive", d.Post(t, "goods-receipt", "", goods), 201, "")
	}
	want(t, "sell", d.Post(t, "goods-sale", "", d.on("2025-02-25T00:00:00Z", "5")), 201, "")
	here, there := "&warehouse="+d.o.Warehouses[0].String(), "&warehouse="+d.o.Warehouses[1].String()
	for query, wanted := range map[string]string{
		"limit=1": "2 33.00 1", "limit=2": "2 33.00 2", "limit=3": "2 33.00 2", "": "2 33.00 2",
		"limit=1" + here: "2 33.00 1", "limit=2" + here: "2 33.00 2", "limit=10" + here: "2 33.00 2",
		"limit=1" + there:         "0 0.00 0",
		"limit=2&date=2025-02-24": "3 38.00 2", "limit=3&date=2025-02-24" + here: "3 38.00 3",
		"date=2025-02-15": "2 17.00 2", "date=2025-01-31": "1 5.00 1",
		"date=2025-01-09": "0 0.00 0", "date=2026-01-01": "2 33.00 2",
	} {
		var s struct {
			Count  int64
			Amount string
			Rows   []json.RawMessage
		}
		a := d.Call(t, "GET", "/v1/reports/stock?"+query, "", nil)
		if err := json.Unmarshal(a.Body, &s); err != nil ||
			fmt.Sprintf("%d %s %d", s.Count, s.Amount, len(s.Rows)) != wanted {
			t.Errorf("%s: want %s: %s", query, wanted, a.Body)
		}
	}
}

// A part of any text that is searched finds, whatever the case; a part of two of them does not.
func TestItemsAreFoundByAPartOfAText(t *testing.T) {
	d := sit(t, 3)
	for n, set := range []string{"name = 'Плитка серая', code = 'AB-1'",
		"name = 'Bolt 50%_x', code = 'AB-2', article = 'Zz-9'", "name = 'Gaiter', code = 'AB-3', barcode = '460001'"} {
		d.Exec(t, "UPDATE cat_items SET "+set+" WHERE id = $1", d.Items[n])
	}
	for search, wanted := range map[string][]id.ID{
		"": {d.Items[1], d.Items[2], d.Items[0]}, "ab-": {d.Items[1], d.Items[2], d.Items[0]}, "ИТК": {d.Items[0]},
		"zZ-": {d.Items[1]}, "6000": {d.Items[2]},
		"50%25_X": {d.Items[1]}, "5%25x": {}, "g_iter": {}, "серая-ab": {}, "%D1%81%D0%B5%D1%80%D0%B0%D1%8FAB": {},
	} {
		var page struct{ Items []struct{ ID id.ID } }
		a := d.Call(t, "GET", "/v1/catalogs/items?search="+search, "", nil)
		if err := json.Unmarshal(a.Body, &page); err != nil || len(page.Items) != len(wanted) {
			t.Errorf("%q: want %v: %s", search, wanted, a.Body)
			continue
		}
		for i := range wanted {
			if page.Items[i].ID != wanted[i] {
				t.Errorf("%q: want %v: %s", search, wanted, a.Body)
			}
		}
	}
}
