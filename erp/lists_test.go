package erp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestListsAreFilteredByAReference(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	counterparty, contract := d.Supplier(t)
	d.Exec(t, "UPDATE cat_contracts SET customer = true WHERE id = $1", contract)
	first := d.Post(t, "service-sale", "", d.ServiceSale("1"))
	second := d.Post(t, "service-sale", "",
		d.ServiceSale("2").With("counterparty", counterparty).With("contract", contract).With("comment", "urgent"))
	invoiced := d.Post(t, "invoice-issued", "", d.Invoice(second.ID).With("contract", contract))
	for query, wanted := range map[string][]id.ID{
		"service-sale": {second.ID, first.ID},
		"service-sale?counterparty=" + counterparty.String():                                    {second.ID},
		"service-sale?counterparty=" + d.Org.Counterparty.String():                              {first.ID},
		"service-sale?search=urg":                                                               {second.ID},
		"service-sale?search=Suppl":                                                             {second.ID},
		"service-sale?search=urg&counterparty=" + d.Org.Counterparty.String():                   {},
		"service-sale?counterparty=" + counterparty.String() + "&contract=" + contract.String(): {second.ID},
		"invoice-issued?basis=" + second.ID.String():                                            {invoiced.ID},
		"invoice-issued?basis=" + first.ID.String():                                             {},
		"invoice-issued?search=" + second.Number:                                                {invoiced.ID},
		"invoice-issued?search=upplie":                                                          {invoiced.ID},
	} {
		var page struct{ Items []struct{ ID id.ID } }
		a := d.Call(t, "GET", "/v1/documents/"+query, "", nil)
		got := []id.ID{}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			t.Errorf("%s: %s", query, a.Body)
		}
		for _, i := range page.Items {
			got = append(got, i.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%s: %v, want %v", query, got, wanted)
		}
	}
	d.Call(t, "GET", "/v1/documents/service-sale?counterparty=x", "", nil).Want(t, "no id", 400, "invalid")
}

// A part of any text that is searched finds, whatever the case; a part of two of them does not.
func TestItemsAreFoundByAPartOfAText(t *testing.T) {
	d := erptest.NewDesk(t, 3)
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
