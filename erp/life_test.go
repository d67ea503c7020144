package erp_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

// recordings of a document in all registers that its type may record in.
func (d desk) recordings(t *testing.T, kind string, document id.ID) (sum int) {
	t.Helper()
	app := erp.Metadata()
	meta, _ := app.Document(strings.ReplaceAll(kind, "-", "_"))
	for _, name := range meta.Recorded() {
		sum += d.Count(t, "SELECT count(*) FROM "+app.Table(name)+" WHERE recorder = $1", document)
	}
	return sum
}

// entries of a document.
func (d desk) entries(t *testing.T, document id.ID) string {
	t.Helper()
	return d.Value(t, "SELECT coalesce(string_agg(debit || ' ' || credit || ' ' || amount, ', ' ORDER BY line), "+
		"'') FROM gl_general WHERE recorder = $1", document)
}

// live takes a document through its life: written, posted, posted anew, changed into the second content, back-dated,
// unposted and posted again. The books are clean at every stage.
func (d desk) live(t *testing.T, kind string, first, second erptest.Fields) id.ID {
	t.Helper()
	a := d.Call(t, "POST", "/v1/documents/"+kind+"?post=false", "", jsonOf(t, first))
	want(t, "write", a, 201, "")
	path, at := "/v1/documents/"+kind+"/"+a.ID.String(), 1
	stage := func(what string, answer erptest.Answer, recorded bool) {
		t.Helper()
		want(t, kind+": "+what, answer, 200, "")
		if n := d.recordings(t, kind, a.ID); (n > 0) != recorded {
			t.Errorf("%s: %s: %d rows are recorded", kind, what, n)
		}
		at++
		erptest.Clean(t, d.Database)
	}
	if n := d.recordings(t, kind, a.ID); n > 0 {
		t.Errorf("%s is not posted: %d rows are recorded", kind, n)
	}
	stage("post", d.Call(t, "POST", path+"/post", "", nil), true)
	stage("post anew", d.Call(t, "POST", path+"/post", "", nil), true)
	stage("change", d.Change(t, path, int64(at), jsonOf(t, second)), true)
	dated := maps.Clone(second)
	dated["date"] = "2025-02-03T10:00:00Z"
	stage("back-date", d.Change(t, path, int64(at), jsonOf(t, dated)), true)
	stage("unpost", d.Call(t, "POST", path+"/unpost", "", nil), false)
	stage("post again", d.Call(t, "POST", path+"/post", "", nil), true)
	return a.ID
}

// deal is the header of a document under the contract with the counterparty.
func (d desk) deal(more erptest.Fields) erptest.Fields {
	f := erptest.Fields{"counterparty": d.o.Counterparty, "contract": erptest.Contract(d.o.Counterparty)}
	maps.Copy(f, more)
	return f
}

// with another value in one field.
func with(f erptest.Fields, name string, value any) erptest.Fields {
	f = maps.Clone(f)
	f[name] = value
	return f
}

// supplier is another counterparty, with a contract for buying only, settled by order.
func (d desk) supplier(t *testing.T) (counterparty, contract id.ID) {
	counterparty, contract = id.New(), id.New()
	d.Exec(t, "INSERT INTO cat_counterparties (id, organisation, code, name) VALUES ($1, $2, 'C8', 'Supplier')",
		counterparty, d.o.ID)
	d.Exec(t, "INSERT INTO cat_contracts (id, organisation, code, name, counterparty, supplier, by_order) VALUES "+
		"($1, $2, 'D8', 'Supplier', $3, true, true)", contract, d.o.ID, counterparty)
	return counterparty, contract
}

func jsonOf(t *testing.T, f erptest.Fields) []byte {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// version of a document as its card says.
func version(t *testing.T, u *erptest.User, path string) int64 {
	t.Helper()
	var card struct{ Version int64 }
	if err := json.Unmarshal(u.Call(t, "GET", path, "", nil).Body, &card); err != nil {
		t.Error(err)
	}
	return card.Version
}
