package reports_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"plimsoll/erp/erptest"
)

// However few rows are shown, and whether all fit or not, count and amount are of all.
func TestStockTellsOfAllRowsWhateverItShows(t *testing.T) {
	d := erptest.NewDesk(t, 3)
	for n, date := range []string{"2025-01-10T00:00:00Z", "2025-02-10T00:00:00Z", "2025-02-20T00:00:00Z"} {
		goods := d.GoodsOn(date, fmt.Sprint(5+n))
		goods.Lines[0].Item = d.Items[n]
		d.Post(t, "goods-receipt", "", goods).Want(t, "receive", 201, "")
	}
	d.Post(t, "goods-sale", "", d.GoodsOn("2025-02-25T00:00:00Z", "5")).Want(t, "sell", 201, "")
	here, there := "&warehouse="+d.Org.Warehouses[0].String(), "&warehouse="+d.Org.Warehouses[1].String()
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
