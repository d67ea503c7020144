package erp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/posting"
	"plimsoll/platform/server"
)

// desk is one user of a company with a worker.
type desk struct {
	*erptest.Company
	*erptest.User
	o erptest.Organisation
}

func sit(t *testing.T, items int) desk {
	c := erptest.New(t, items)
	return desk{c, erptest.Login(t, c.Worker(t, server.Config{}), c.Organisations[0].User), c.Organisations[0]}
}

func (d desk) document(quantity string) erptest.Document {
	return erptest.Document{Warehouse: d.o.Warehouses[0], Counterparty: d.o.Counterparty,
		Lines: []erptest.Line{{Item: d.Items[0], Quantity: quantity}}}
}

func encode(t *testing.T, d erptest.Document) []byte {
	body, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// want checks a status and the code of an error.
func want(t *testing.T, what string, a erptest.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || a.Code != code {
		t.Errorf("%s: %d %s, want %d %s", what, a.Status, a.Body, status, code)
	}
}

func TestTheLifeOfADocument(t *testing.T) {
	d := sit(t, 1)
	receipt := d.Call(t, "POST", "/v1/documents/goods-receipt?post=false", "", encode(t, d.document("10")))
	want(t, "write", receipt, 201, "")
	path := "/v1/documents/goods-receipt/" + receipt.ID.String()
	moved := func(what, count string) {
		t.Helper()
		if got := d.Value(t, "SELECT (SELECT count(*) FROM acc_stock WHERE recorder = $1) || ' ' || (SELECT "+
			"count(*) FROM gl_general WHERE recorder = $1)", receipt.ID); got != count {
			t.Errorf("%s: %s movements and entries, want %s", what, got, count)
		}
	}
	moved("written", "0 0")
	want(t, "sell what has not come", d.Post(t, "goods-sale", "", d.document("1")), 409, "refused")
	want(t, "post", d.Call(t, "POST", path+"/post", "", nil), 200, "")
	moved("posted", "1 2")
	sale := d.Post(t, "goods-sale", "", d.document("4"))
	want(t, "sell", sale, 201, "")
	want(t, "unpost what has been sold", d.Call(t, "POST", path+"/unpost", "", nil), 409, "refused")
	want(t, "take away what has been sold", d.Change(t, path, 2, encode(t, d.document("3.999"))), 409, "refused")
	elsewhere := d.document("10")
	elsewhere.Warehouse = d.o.Warehouses[1]
	want(t, "move elsewhere what has been sold", d.Change(t, path, 2, encode(t, elsewhere)), 409, "refused")
	want(t, "leave what has been sold", d.Change(t, path, 2, encode(t, d.document("4"))), 200, "")
	want(t, "unpost the sale", d.Call(t, "POST", "/v1/documents/goods-sale/"+sale.ID.String()+"/unpost", "", nil), 200,
		"")
	want(t, "unpost", d.Call(t, "POST", path+"/unpost", "", nil), 200, "")
	moved("unposted", "0 0")
	if got := d.Value(t, "SELECT count(*) FROM acc_stock_totals WHERE quantity <> 0 OR amount <> 0"); got != "0" {
		t.Errorf("%s totals are left", got)
	}
	card := d.Call(t, "GET", path, "", nil)
	var shown struct {
		Posted  bool
		Version int64
	}
	if json.Unmarshal(card.Body, &shown) != nil || shown.Posted || shown.Version != 4 {
		t.Errorf("card: %s", card.Body)
	}
	erptest.Clean(t, d.Database)
}

// Posting anew writes nothing of the record sets that stay the same.
func TestOnlyDifferencesAreRewritten(t *testing.T) {
	d := sit(t, 3)
	receipt := erptest.Document{Warehouse: d.o.Warehouses[0], Counterparty: d.o.Counterparty,
		Date: "2025-03-01T10:00:00Z"}
	for _, item := range d.Items {
		receipt.Lines = append(receipt.Lines, erptest.Line{Item: item, Quantity: "5"})
	}
	a := d.Post(t, "goods-receipt", "", receipt)
	path := "/v1/documents/goods-receipt/" + a.ID.String()
	const rows = "SELECT string_agg(line || ' ' || xmin, ',' ORDER BY line) FROM acc_stock"
	before := d.Value(t, rows)
	want(t, "post anew", d.Call(t, "POST", path+"/post", "", nil), 200, "")
	if after := d.Value(t, rows); after != before {
		t.Errorf("movements were rewritten: %s, then %s", before, after)
	}
	receipt.Lines[1].Quantity = "6"
	want(t, "change a line", d.Change(t, path, 2, encode(t, receipt)), 200, "")
	const others = "SELECT string_agg(line || ' ' || xmin, ',' ORDER BY line) FROM (SELECT line, xmin::text FROM " +
		"acc_stock WHERE line <> 2 UNION ALL SELECT line + 10, xmin::text FROM doc_goods_receipt_lines WHERE line " +
		"<> 2) r"
	kept := d.Value(t, others)
	receipt.Lines = receipt.Lines[:2]
	want(t, "take the last line out", d.Change(t, path, 3, encode(t, receipt)), 200, "")
	if got := d.Value(t, "SELECT count(*) || ' of ' || (SELECT count(*) FROM doc_goods_receipt_lines) "+
		"FROM acc_stock"); got != "2 of 2" || kept == d.Value(t, others) {
		t.Errorf("%s lines", got)
	}
	if got := d.Value(t, "SELECT min(line || ' ' || xmin) FROM acc_stock"); got != before[:len(got)] {
		t.Errorf("the first line was rewritten: %s, it was %s", got, before)
	}
	erptest.Clean(t, d.Database)
}

func TestADocumentIsChangedByWhoSawItAndMay(t *testing.T) {
	d := sit(t, 1)
	a := d.Post(t, "goods-receipt", "first", d.document("10"))
	path, body := "/v1/documents/goods-receipt/"+a.ID.String(), encode(t, d.document("9"))
	want(t, "without a version", d.Call(t, "PUT", path, "", body), 400, "invalid")
	for _, version := range []int64{-1, 0} {
		want(t, "with no version", d.Change(t, path, version, body), 400, "invalid")
	}
	want(t, "with a version to come", d.Change(t, path, 2, body), 412, "changed")
	want(t, "with the version", d.Change(t, path, 1, body), 200, "")
	want(t, "with the version before", d.Change(t, path, 1, body), 412, "changed")
	want(t, "with a body where none belongs", d.Call(t, "POST", path+"/post", "", body), 400, "invalid")
	want(t, "with a state that is none", d.Change(t, path+"?post=maybe", 2, body), 400, "invalid")
	want(t, "another type", d.Call(t, "POST", "/v1/documents/goods-sale/"+a.ID.String()+"/unpost", "", nil), 404,
		"not_found")
	want(t, "no id", d.Call(t, "POST", "/v1/documents/goods-sale/1/unpost", "", nil), 404, "not_found")
	want(t, "a key used", d.Call(t, "POST", path+"/unpost", "first", nil), 422, "key_reused")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	theirs := erptest.Document{Warehouse: d.Organisations[1].Warehouses[0],
		Counterparty: d.Organisations[1].Counterparty, Lines: d.document("1").Lines}
	want(t, "their change", stranger.Change(t, path, 2, encode(t, theirs)), 404, "not_found")
	want(t, "their unposting", stranger.Call(t, "POST", path+"/unpost", "", nil), 404, "not_found")
	want(t, "what is ours in theirs", d.Change(t, path, 2, encode(t, theirs)), 400, "invalid")
	if got := d.Value(t, "SELECT version || ' ' || posted FROM doc_goods_receipt"); got != "2 true" {
		t.Errorf("the document is now %s", got)
	}
	erptest.Clean(t, d.Database)
}

// Many sessions change, post anew, unpost and sell from the same few documents at once, on two workers.
func TestConcurrentEditorsLoseNothingAndDoNotDeadlock(t *testing.T) {
	c := erptest.New(t, 5)
	bases := c.Mixed(t)
	s := stock(t, bases[0], c, 30)
	users := posters(t, c, bases, 60)
	var shared []string
	for n := range 6 {
		kind := []string{"goods-receipt", "goods-sale"}[n%2]
		a := users[0].Post(t, kind, "", s.sale(rand.New(rand.NewPCG(2, uint64(n))), 3))
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		shared = append(shared, "/v1/documents/"+kind+"/"+a.ID.String())
	}
	var done, refused, stale atomic.Int64
	together(users, func(n int, u *erptest.User, rng *rand.Rand) {
		for range 4 {
			path := shared[rng.IntN(len(shared))]
			var a erptest.Answer
			switch rng.IntN(5) {
			case 0:
				a = u.Call(t, "POST", path+"/unpost", "", nil)
			case 1:
				a = u.Call(t, "POST", path+"/post", "", nil)
			case 2, 3:
				var card struct{ Version int64 }
				_ = json.Unmarshal(u.Call(t, "GET", path, "", nil).Body, &card)
				d := s.sale(rng, 4)
				d.Date = fmt.Sprintf("2025-%02d-11T00:00:00Z", 1+rng.IntN(3))
				a = u.Change(t, path, card.Version, encode(t, d))
			case 4:
				a = u.Post(t, "goods-sale", "", s.sale(rng, 3))
			}
			switch a.Status {
			case http.StatusOK, http.StatusCreated:
				done.Add(1)
			case http.StatusConflict:
				refused.Add(1)
			case http.StatusPreconditionFailed:
				stale.Add(1)
			default:
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	})
	if done.Load() == 0 || refused.Load() == 0 || stale.Load() == 0 {
		t.Errorf("%d done, %d refused, %d stale: nothing was contended", done.Load(), refused.Load(), stale.Load())
	}
	if got := c.Value(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); got != "0" {
		t.Errorf("%s deadlocks", got)
	}
	erptest.Clean(t, c.Database)
}

// Totals are made anew while everybody posts: they are right afterwards, and they were right before.
func TestTotalsAreRecalculatedBesideLivePosting(t *testing.T) {
	c := erptest.New(t, 3)
	base := c.Worker(t, server.Config{})
	s := stock(t, base, c, 100_000)
	c.Exec(t, "UPDATE acc_stock_totals SET quantity = quantity + 7")
	c.Exec(t, "DELETE FROM gl_general_totals WHERE account = '41'")
	c.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 7")
	poster := posting.New(c.Database, erp.Metadata(), erp.Rules())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, name := range []string{books.Stock.Name(), books.General.Name()} {
				if totals, err := poster.Recalculate(t.Context(), name); err != nil || totals == 0 {
					t.Errorf("%d totals of %s, %v", totals, name, err)
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	together(posters(t, c, []string{base}, 16), func(_ int, u *erptest.User, rng *rand.Rand) {
		for range 8 {
			a := u.Post(t, "goods-sale", "", s.sale(rng, 3))
			if a.Status != 201 {
				t.Errorf("%d %s", a.Status, a.Body)
				continue
			}
			if rng.IntN(2) == 0 {
				want(t, "unpost", u.Call(t, "POST", "/v1/documents/goods-sale/"+a.ID.String()+"/unpost", "", nil), 200,
					"")
			}
		}
	})
	close(stop)
	<-stopped
	erptest.Clean(t, c.Database)
	if _, err := poster.Recalculate(t.Context(), "nothing"); err == nil {
		t.Error("a register that does not exist was recalculated")
	}
}

// A sale dated before the goods came takes them all the same; from its date on, costs wait for the order of time to
// be restored.
func TestWhatIsBackDatedMovesTheBoundary(t *testing.T) {
	d := sit(t, 2)
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
		document := erptest.Document{Warehouse: d.o.Warehouses[0], Counterparty: d.o.Counterparty,
			Date: date + "T12:00:00Z", Lines: []erptest.Line{{Item: d.Items[item], Quantity: quantity}}}
		a := d.Post(t, kind, "", document)
		want(t, kind, a, 201, "")
		return "/v1/documents/" + kind + "/" + a.ID.String()
	}
	post("goods-receipt", "2025-03-10", "10", 0)
	post("goods-receipt", "2025-03-10", "10", 1)
	sale := post("goods-sale", "2025-03-20", "1", 0)
	boundary("in the order of time", "none")
	post("goods-sale", "2025-03-05", "1", 0)
	boundary("a sale before the goods came", "I0 2025-03-05")
	want(t, "post anew", d.Call(t, "POST", sale+"/post", "", nil), 200, "")
	post("goods-sale", "2025-03-15", "1", 0)
	boundary("after the boundary", "I0 2025-03-05")
	early := post("goods-receipt", "2025-03-12", "1", 1)
	want(t, "unpost the last", d.Call(t, "POST", early+"/unpost", "", nil), 200, "")
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
