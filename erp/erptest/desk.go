package erptest

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"plimsoll/erp"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
)

// Desk is a company and one user of its first organisation, logged in to a worker.
type Desk struct {
	*Company
	*User
	Org Organisation
}

// NewDesk makes a company with so many items, and a worker for its user.
func NewDesk(t testing.TB, items int) Desk {
	t.Helper()
	c := New(t, items)
	return c.Desk(t, c.Worker(t, server.Config{}))
}

// Desk of the first organisation at a worker.
func (c *Company) Desk(t testing.TB, base string) Desk {
	t.Helper()
	return Desk{c, Login(t, base, c.Organisations[0].User), c.Organisations[0]}
}

// Draft writes a document without posting it.
func (u *User) Draft(t testing.TB, documentType string, content any) Answer {
	t.Helper()
	return u.Post(t, documentType+"?post=false", "", content)
}

// Posted posts a document, which must be accepted.
func (u *User) Posted(t testing.TB, documentType string, content any) id.ID {
	t.Helper()
	a := u.Post(t, documentType, "", content)
	if a.Status != http.StatusCreated {
		t.Fatalf("%s: %d %s", documentType, a.Status, a.Body)
	}
	return a.ID
}

// Repost posts a document that is there.
func (u *User) Repost(t testing.TB, documentType string, document id.ID) Answer {
	t.Helper()
	return u.Call(t, "POST", "/v1/documents/"+documentType+"/"+document.String()+"/post", "", nil)
}

// Unpost removes what a document has recorded.
func (u *User) Unpost(t testing.TB, documentType string, document id.ID) Answer {
	t.Helper()
	return u.Call(t, "POST", "/v1/documents/"+documentType+"/"+document.String()+"/unpost", "", nil)
}

// Version of a document as its card shows it.
func (u *User) Version(t testing.TB, path string) int64 {
	t.Helper()
	var card struct{ Version int64 }
	if err := json.Unmarshal(u.Call(t, "GET", path, "", nil).Body, &card); err != nil {
		t.Error(err)
	}
	return card.Version
}

// Want fails the test unless the answer has the status and the code of an error.
func (a Answer) Want(t testing.TB, what string, status int, code string) {
	t.Helper()
	if a.Status != status || a.Code != code {
		t.Errorf("%s: %d %s, want %d %s", what, a.Status, a.Body, status, code)
	}
}

// Refused fails the test unless a control refused.
func (a Answer) Refused(t testing.TB, what, control string) {
	t.Helper()
	var answer struct {
		Error struct{ Control struct{ ID string } }
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil || a.Status != 409 || answer.Error.Control.ID != control {
		t.Errorf("%s: %d %s, want a refusal by %s", what, a.Status, a.Body, control)
	}
}

// Recordings counts the rows of a document in all registers that its type may record in.
func (c *Company) Recordings(t testing.TB, documentType string, document id.ID) (sum int) {
	t.Helper()
	app := erp.Metadata()
	meta, _ := app.Document(strings.ReplaceAll(documentType, "-", "_"))
	for _, name := range meta.Recorded() {
		sum += c.Count(t, "SELECT count(*) FROM "+app.Table(name)+" WHERE recorder = $1", document)
	}
	return sum
}

// Entries of a document in the ledger: "debit credit amount, …".
func (c *Company) Entries(t testing.TB, document id.ID) string {
	t.Helper()
	return c.Value(t, "SELECT coalesce(string_agg(debit || ' ' || credit || ' ' || amount, ', ' ORDER BY line), "+
		"'') FROM gl_general WHERE recorder = $1", document)
}

// Live takes a document through its life: written, posted, reposted, changed to the second content, back-dated,
// unposted and posted again. The books are clean at every stage.
func (d Desk) Live(t testing.TB, documentType string, first, second Fields) id.ID {
	t.Helper()
	draft := d.Draft(t, documentType, first)
	draft.Want(t, "write", 201, "")
	path, version := "/v1/documents/"+documentType+"/"+draft.ID.String(), int64(1)
	stage := func(what string, answer Answer, recorded bool) {
		t.Helper()
		answer.Want(t, documentType+": "+what, 200, "")
		if n := d.Recordings(t, documentType, draft.ID); (n > 0) != recorded {
			t.Errorf("%s: %s: %d rows are recorded", documentType, what, n)
		}
		version++
		Clean(t, d.Database)
	}
	if n := d.Recordings(t, documentType, draft.ID); n > 0 {
		t.Errorf("%s is not posted: %d rows are recorded", documentType, n)
	}
	stage("post", d.Repost(t, documentType, draft.ID), true)
	stage("repost", d.Repost(t, documentType, draft.ID), true)
	stage("change", d.Change(t, path, version, second), true)
	stage("back-date", d.Change(t, path, version, second.With("date", "2025-02-03T10:00:00Z")), true)
	stage("unpost", d.Unpost(t, documentType, draft.ID), false)
	stage("post again", d.Repost(t, documentType, draft.ID), true)
	return draft.ID
}

// Supplier adds a counterparty with a contract for buying only, settled by order.
func (d Desk) Supplier(t testing.TB) (counterparty, contract id.ID) {
	t.Helper()
	counterparty, contract = id.New(), id.New()
	d.Exec(t, "INSERT INTO cat_counterparties (id, organisation, code, name) VALUES ($1, $2, 'C8', 'Supplier')",
		counterparty, d.Org.ID)
	d.Exec(t, "INSERT INTO cat_contracts (id, organisation, code, name, counterparty, supplier, by_order) VALUES "+
		"($1, $2, 'D8', 'Supplier', $3, true, true)", contract, d.Org.ID, counterparty)
	return counterparty, contract
}

// Shelve puts goods of a receipt into a cell.
func (d Desk) Shelve(t testing.TB, receipt Answer, cell id.ID, quantity string) {
	t.Helper()
	d.Post(t, "warehouse-receipt-order", "", d.WarehouseOrder(receipt.ID, cell, quantity)).Want(t, "shelve", 201, "")
}

// With is a copy with another value in one field.
func (f Fields) With(name string, value any) Fields {
	f = maps.Clone(f)
	f[name] = value
	return f
}
