package reports_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

type settlementsOf struct {
	Count       int
	Owed, Ahead amount.Money
	Rows        []struct {
		Counterparty, Contract id.ID
		Contract_Name          string
		Owed, Ahead            amount.Money
	}
}

func (s settlementsOf) String() string {
	text := fmt.Sprintf("%d: %s %s", s.Count, s.Owed, s.Ahead)
	for _, r := range s.Rows {
		text += fmt.Sprintf(", %s %s %s", r.Contract_Name, r.Owed, r.Ahead)
	}
	return text
}

func TestSettlementsOnADate(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	counterparty, contract := d.Supplier(t)
	d.Exec(t, "UPDATE cat_contracts SET customer = true, by_order = false WHERE id = $1", contract)
	other := func(f erptest.Fields) erptest.Fields {
		return f.With("counterparty", counterparty).With("contract", contract)
	}
	// at 12.00
	for date, sale := range map[string]erptest.Fields{"2025-01-10": d.ServiceSale("1"),
		"2025-02-10": d.ServiceSale("3"), "2025-02-11": other(d.ServiceSale("2"))} {
		d.Post(t, "service-sale", "", sale.With("date", date+"T10:00:00Z")).Want(t, "sell", 201, "")
	}
	d.Post(t, "bank-receipt", "", d.Payment("20.00", "B-1").With("date", "2025-01-20T10:00:00Z")).Want(t, "pay", 201,
		"")
	d.Post(t, "bank-receipt", "", other(d.Payment("30.00", "B-2")).With("date", "2025-03-01T10:00:00Z")).Want(t, "pay",
		201, "")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	for query, wanted := range map[string]string{
		"date=2025-01-09":                       "0: 0.00 0.00",
		"date=2025-01-10":                       "1: 12.00 0.00, Contract 0 12.00 0.00",
		"date=2025-01-31":                       "1: 0.00 8.00, Contract 0 0.00 8.00",
		"date=2025-02-28":                       "2: 52.00 0.00, Contract 0 28.00 0.00, Supplier 24.00 0.00",
		"":                                      "2: 28.00 6.00, Contract 0 28.00 0.00, Supplier 0.00 6.00",
		"limit=1":                               "2: 28.00 6.00, Contract 0 28.00 0.00",
		"counterparty=" + counterparty.String(): "1: 0.00 6.00, Supplier 0.00 6.00",
		"contract=" + contract.String():         "1: 0.00 6.00, Supplier 0.00 6.00",
		"contract=" + id.New().String():         "0: 0.00 0.00",
		"side=suppliers":                        "0: 0.00 0.00",
		"side=customers&date=2025-02-11T09:59:59Z": "1: 28.00 0.00, Contract 0 28.00 0.00",
	} {
		var s settlementsOf
		a := d.Call(t, "GET", "/v1/reports/settlements?"+query, "", nil)
		if err := json.Unmarshal(a.Body, &s); err != nil || s.String() != wanted {
			t.Errorf("%s: %s, want %s: %s", query, s, wanted, a.Body)
		}
	}
	var theirs settlementsOf
	if a := stranger.Call(t, "GET", "/v1/reports/settlements?contract="+contract.String(), "",
		nil); json.Unmarshal(a.Body, &theirs) != nil || theirs.Count != 0 {
		t.Errorf("of others: %s", a.Body)
	}
	for _, wrong := range []string{"side=both", "date=never", "limit=0", "contract=x", "counterparty=1"} {
		if a := d.Call(t, "GET", "/v1/reports/settlements?"+wrong, "", nil); a.Status != 400 {
			t.Errorf("%s: %d %s", wrong, a.Status, a.Body)
		}
	}
}
