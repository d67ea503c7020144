package erp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
)

// hostile are texts that have broken other people's programs.
var hostile = []string{
	`'; DROP TABLE cat_items; --`, `" OR 1=1`, `%`, `_`, `\`, `\'`, `$1`, `$$`, "\u202eабв", "🧨",
	strings.Repeat("я", 100), `<script>alert(1)</script>`, "{{7*7}}", "\n\r\t",
}

func TestHostileTextIsOnlyText(t *testing.T) {
	c := erptest.New(t, 2)
	o := c.Organisations[0]
	u := erptest.Login(t, c.Worker(t, server.Config{}), o.User)
	for n, text := range hostile {
		d := erptest.Document{Warehouse: o.Warehouses[0], Counterparty: o.Counterparty, Comment: text,
			Lines: []erptest.Line{{Item: c.Items[0], Quantity: "1"}}}
		a := u.Post(t, "goods-receipt", "", d)
		card := u.Call(t, "GET", "/v1/documents/goods-receipt/"+a.ID.String(), "", nil)
		var shown struct{ Comment string }
		if err := json.Unmarshal(card.Body, &shown); err != nil || shown.Comment != text {
			t.Errorf("%q came back as %q (%d %s)", text, shown.Comment, a.Status, a.Body)
		}
		for _, path := range []string{"/v1/documents/goods-receipt?search=", "/v1/catalogs/items?search=",
			"/v1/catalogs/counterparties?search="} {
			list := u.Call(t, "GET", path+url.QueryEscape(text), "", nil)
			if list.Status != 200 {
				t.Errorf("%s%q: %d %s", path, text, list.Status, list.Body)
			}
			if found := strings.Count(string(list.Body), `"number"`); strings.Contains(path, "goods-receipt") &&
				found != containing(hostile[:n+1], text) {
				t.Errorf("search for %q found %d", text, found)
			}
		}
	}
}

func containing(texts []string, part string) (count int) {
	for _, text := range texts {
		if strings.Contains(text, part) {
			count++
		}
	}
	return count
}

func TestHostileRequestsAreNeverOurFault(t *testing.T) {
	c := erptest.New(t, 2)
	o := c.Organisations[0]
	u := erptest.Login(t, c.Worker(t, server.Config{}), o.User)
	body := func(quantity, price string) string {
		return fmt.Sprintf(`{"warehouse":%q,"counterparty":%q,"contract":%q,`+
			`"lines":[{"item":%q,"quantity":%q,"price":%q}]}`,
			o.Warehouses[0], o.Counterparty, erptest.Contract(o.Counterparty), c.Items[0], quantity, price)
	}
	for name, r := range map[string]struct {
		method, path, body string
		status             int
	}{
		"NoJSON":   {"POST", "/v1/documents/goods-sale", "<xml/>", 400},
		"DeepJSON": {"POST", "/v1/documents/goods-sale", strings.Repeat(`{"lines":[`, 20000), 400},
		"HugeBody": {"POST", "/v1/documents/goods-sale", `{"comment":"` + strings.Repeat("x", 300_000) + `"}`,
			413},
		"UnknownType":       {"POST", "/v1/documents/goods-gift", "{}", 404},
		"CatalogAsDocument": {"POST", "/v1/documents/items", "{}", 404},
		"NegativeQuantity":  {"POST", "/v1/documents/goods-receipt", body("-1", "1"), 400},
		"ZeroQuantity":      {"POST", "/v1/documents/goods-receipt", body("0", "1"), 400},
		"NegativePrice":     {"POST", "/v1/documents/goods-receipt", body("1", "-1"), 400},
		"HugeQuantity":      {"POST", "/v1/documents/goods-receipt", body("1e300", "1"), 400},
		"OverflowOfALine":   {"POST", "/v1/documents/goods-receipt", body("999999999", "999999999999.99"), 422},
		"UnknownItem": {"POST", "/v1/documents/goods-sale",
			strings.Replace(body("1", "1"), c.Items[0].String(), id.New().String(), 1), 400},
		"WarehouseAsItem": {"POST", "/v1/documents/goods-sale",
			strings.Replace(body("1", "1"), c.Items[0].String(), o.Warehouses[0].String(), 1), 400},
		"NoID":             {"GET", "/v1/documents/goods-sale/1", "", 404},
		"UnknownID":        {"GET", "/v1/documents/goods-sale/" + id.New().String(), "", 404},
		"StockOfNowhere":   {"GET", "/v1/reports/stock?warehouse=x", "", 400},
		"StockNever":       {"GET", "/v1/reports/stock?date=never", "", 400},
		"StockInYearZero":  {"GET", "/v1/reports/stock?date=0000-01-01T00:00:00Z", "", 400},
		"StockLongAgo":     {"GET", "/v1/reports/stock?date=0001-01-01", "", 200},
		"StockFarAhead":    {"GET", "/v1/reports/stock?date=9999-12-31", "", 200},
		"BalanceBackwards": {"GET", "/v1/reports/trial-balance?from=2025-02-01&to=2025-01-01", "", 400},
		"BalanceOfAllTime": {"GET", "/v1/reports/trial-balance?from=0001-01-01&to=9999-12-31", "", 200},
		"CursorOfAnother":  {"GET", "/v1/documents/goods-sale?before=AaH69OPrckewvzpFwo8kcTIwMjYtMTEtMjBU", "", 400},
		"BrokenQuery":      {"GET", "/v1/catalogs/items?search=%zz&;a=%", "", 400},
		"UnknownFilter":    {"GET", "/v1/documents/goods-sale?customer=" + id.New().String(), "", 400},
		"OtherPosition":    {"GET", "/v1/documents/goods-sale?after=AaH69A", "", 400},
		"QueryOfNothing":   {"GET", "/v1/application?x=1", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			a := u.Call(t, r.method, r.path, "", []byte(r.body))
			if a.Status != r.status || !json.Valid(a.Body) || strings.Contains(string(a.Body), "SQLSTATE") {
				t.Errorf("got %d %s, want %d", a.Status, a.Body, r.status)
			}
		})
	}
	erptest.Clean(t, c.Database)
}

// What does not fit the totals is refused as a whole.
func TestBooksThatAreFullRefuse(t *testing.T) {
	c := erptest.New(t, 1)
	o := c.Organisations[0]
	u := erptest.Login(t, c.Worker(t, server.Config{}), o.User)
	d := erptest.Document{Warehouse: o.Warehouses[0], Counterparty: o.Counterparty}
	for range 5 {
		d.Lines = append(d.Lines, erptest.Line{Item: c.Items[0], Quantity: "40", Price: "999999999999.99"})
	}
	status, posted := 201, -1
	for ; status == 201 && posted < 60; posted++ { // each brings 2·10^14 of the 10^16 that fit
		status = u.Post(t, "goods-receipt", "", d).Status
	}
	if status != 422 || posted < 10 {
		t.Errorf("got %d after %d", status, posted)
	}
	erptest.Clean(t, c.Database)
}

func TestAnOrganisationNeverSeesAnother(t *testing.T) {
	c := erptest.New(t, 2)
	ours, theirs := c.Organisations[0], c.Organisations[1]
	base := c.Worker(t, server.Config{})
	u, they := erptest.Login(t, base, ours.User), erptest.Login(t, base, theirs.User)
	lines := []erptest.Line{{Item: c.Items[0], Quantity: "5"}}
	secret := they.Post(t, "goods-receipt", "",
		erptest.Document{Warehouse: theirs.Warehouses[0], Counterparty: theirs.Counterparty, Lines: lines,
			Comment: "secret"})
	if secret.Status != 201 {
		t.Fatalf("%d %s", secret.Status, secret.Body)
	}
	for name, d := range map[string]erptest.Document{
		"AtTheirWarehouse":      {Warehouse: theirs.Warehouses[0], Counterparty: ours.Counterparty, Lines: lines},
		"WithTheirCounterparty": {Warehouse: ours.Warehouses[0], Counterparty: theirs.Counterparty, Lines: lines},
	} {
		for _, kind := range []string{"goods-receipt", "goods-sale"} {
			if a := u.Post(t, kind, "", d); a.Status != 400 {
				t.Errorf("%s %s: %d %s", kind, name, a.Status, a.Body)
			}
		}
	}
	if a := u.Call(t, "GET", "/v1/documents/goods-receipt/"+secret.ID.String(), "", nil); a.Status != 404 {
		t.Errorf("their card: %d %s", a.Status, a.Body)
	}
	for _, path := range []string{
		"/v1/documents/goods-receipt", "/v1/documents/goods-receipt?search=secret", "/v1/catalogs/organisations",
		"/v1/catalogs/users", "/v1/catalogs/warehouses",
		"/v1/catalogs/counterparties", "/v1/reports/stock",
		"/v1/reports/stock?warehouse=" + theirs.Warehouses[0].String(), "/v1/reports/trial-balance",
	} {
		a := u.Call(t, "GET", path, "", nil)
		for _, foreign := range []string{"secret", theirs.ID.String(), theirs.Warehouses[0].String() + `","item`,
			theirs.Counterparty.String(), theirs.User, "Partner 1", "Warehouse 1", `"41"`} {
			if a.Status != 200 || strings.Contains(string(a.Body), foreign) {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	}
	// a cursor of theirs is only a position
	list := they.Call(t, "GET", "/v1/catalogs/warehouses?limit=1", "", nil)
	var page struct{ Next string }
	if json.Unmarshal(list.Body, &page) != nil || page.Next == "" {
		t.Fatalf("page %s, want one with a next", list.Body)
	}
	if a := u.Call(t, "GET", "/v1/catalogs/warehouses?after="+page.Next, "", nil); strings.Contains(string(a.Body),
		"Warehouse 1") {
		t.Errorf("page %s has another organisation's warehouse", a.Body)
	}
}
