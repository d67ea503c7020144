package erp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/worker/server"
)

// Operations leave their filters, rows and documents in the session; memory for a few sessions only, so that the rest
// is on disk.
func TestASessionRemembersItsWork(t *testing.T) {
	dir := t.TempDir()
	c := erptest.New(t, 2)
	base, drain := c.StartWorker(t, server.Config{SessionMemory: 20_000, SessionDir: dir})
	c.Stock(t, base, 1000)
	var users [20]*erptest.User
	var posted [20][]string
	for n := range users {
		users[n] = erptest.Login(t, base, c.Organisations[n%2].User)
	}
	for round := range 3 {
		for n, u := range users {
			o := c.Organisations[n%2]
			a := u.Post(t, "goods-receipt", "", erptest.Document{
				Warehouse: o.Warehouses[0], Counterparty: o.Counterparty, Comment: fmt.Sprintf("of session %d", n),
				Lines: []erptest.Line{{Item: c.Items[0], Quantity: "1"}},
			})
			posted[n] = append(posted[n], a.ID.String())
			u.Call(t, "GET", fmt.Sprintf("/v1/documents/goods-receipt?limit=%d&search=session", round+1), "", nil)
		}
	}
	for n, u := range users {
		var recent []struct{ Type, ID string }
		a := u.Call(t, "GET", "/v1/sessions/current/data/platform.recent", "", nil)
		if json.Unmarshal(a.Body, &recent) != nil || len(recent) != 3 || recent[0].ID != posted[n][2] ||
			recent[2].ID != posted[n][0] || recent[0].Type != "goods_receipt" {
			t.Errorf("session %d: recent %s, want %v", n, a.Body, posted[n])
		}
		filter := u.Call(t, "GET", "/v1/sessions/current/data/platform.filter.goods_receipt", "", nil)
		if string(filter.Body) != `"limit=3\u0026search=session"` {
			t.Errorf("filter %s", filter.Body)
		}
		list := u.Call(t, "GET", "/v1/sessions/current/data/platform.list.goods_receipt", "", nil)
		if strings.Count(string(list.Body), `"number"`) != 3 ||
			!strings.Contains(string(list.Body), fmt.Sprintf("Partner %d", n%2)) ||
			strings.Contains(string(list.Body), fmt.Sprintf("Partner %d", 1-n%2)) {
			t.Errorf("session %d: list %s", n, list.Body)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*", "*.data")); len(files) == 0 {
		t.Error("nothing went to disk")
	}
	drain()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("the worker left %v behind", left)
	}
}
