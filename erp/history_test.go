package erp_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
	"plimsoll/platform/server"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// found are the books in the database, in the same form.
func found(t *rapid.T, c *erptest.Company) string {
	b := newBooks()
	err := c.Read(t.Context(), func(w *database.Work) error {
		w.Queue("stock", "SELECT period::text, warehouse, item, (quantity * 1000)::bigint, (amount * 100)::bigint FROM acc_stock_totals").Rows(func(r pgx.Rows) error {
			var period string
			var warehouse, item id.ID
			var quantity, sum int64
			err := r.Scan(&period, &warehouse, &item, &quantity, &sum)
			*b.at(period, warehouse, item) = holding{big.NewInt(quantity), big.NewInt(sum)}
			return err
		})
		receipts := map[id.ID]*paper{}
		w.Queue("batches", "SELECT warehouse, item, receipt, receipt_line, (quantity * 1000)::bigint, (amount * 100)::bigint FROM acc_batches_totals WHERE period = 'infinity'").Rows(func(r pgx.Rows) error {
			l, from, line, quantity, sum := layer{}, id.ID{}, int64(0), int64(0), int64(0)
			err := r.Scan(&l.warehouse, &l.item, &from, &line, &quantity, &sum)
			if receipts[from] == nil {
				receipts[from] = &paper{id: from}
			}
			l.from, l.line = receipts[from], int(line)
			*b.layer(l) = holding{big.NewInt(quantity), big.NewInt(sum)}
			return err
		})
		w.Queue("boundary", "SELECT warehouse || ' ' || item, moment FROM acc_batches_boundary").Rows(func(r pgx.Rows) error {
			var key string
			var at time.Time
			err := r.Scan(&key, &at)
			b.boundary[key] = at
			return err
		})
		for _, register := range []string{erp.CustomerSettlements, erp.SupplierSettlements} {
			w.Queue(register, "SELECT period::text, contract, (amount * 100)::bigint FROM acc_"+register+"_totals").Rows(func(r pgx.Rows) error {
				s, v := sum{register: register, resource: "amount"}, int64(0)
				err := r.Scan(&s.period, &s.contract, &v)
				b.sum(s).SetInt64(v)
				return err
			})
		}
		for _, register := range []string{erp.InputVAT, erp.OutputVAT} {
			w.Queue(register, "SELECT period::text, basis, rate, (amount * 100)::bigint, (vat * 100)::bigint FROM acc_"+register+"_totals").Rows(func(r pgx.Rows) error {
				s, net, vat := sum{register: register, basis: &paper{}}, int64(0), int64(0)
				err := r.Scan(&s.period, &s.basis.id, &s.rate, &net, &vat)
				s.resource = "amount"
				b.sum(s).SetInt64(net)
				s.resource = "vat"
				b.sum(s).SetInt64(vat)
				return err
			})
		}
		w.Queue("ledger", "SELECT period::text, organisation, concat_ws(' ', account, nullif(analytic_1, $1), nullif(analytic_2, $1), nullif(analytic_3, $1)), ((sum(debit) - sum(credit)) * 100)::bigint FROM gl_general_totals GROUP BY 1, 2, 3", id.ID{}).Rows(func(r pgx.Rows) error {
			var organisation id.ID
			var period, account string
			var sum int64
			err := r.Scan(&period, &organisation, &account, &sum)
			b.account(period, organisation, account).SetInt64(sum)
			return err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// history is a company and the papers it has written so far.
type history struct {
	*erptest.Company
	users  map[string]*erptest.User
	model  *books
	papers []*paper
}

// Random histories, also refused and back-dated ones, with documents changed, posted anew and unposted, by several workers, make the books
// of the model; and so does the recalculation of totals.
func TestAnyHistoryMakesTheBooksOfTheModel(t *testing.T) {
	c := erptest.New(t, 4)
	workers := []string{c.Worker(t, server.Config{}), c.Worker(t, server.Config{})}
	users := map[string]*erptest.User{}
	for w, base := range workers {
		for o := range c.Organisations {
			users[fmt.Sprint(w, o)] = erptest.Login(t, base, c.Organisations[o].User)
		}
	}
	recalculated := posting.New(c.Database, erp.Metadata(), erp.Rules())
	rapid.Check(t, func(rt *rapid.T) {
		c.Clear(t)
		h := &history{c, users, newBooks(), nil}
		for range rapid.IntRange(1, 24).Draw(rt, "operations") {
			switch rapid.IntRange(0, 5).Draw(rt, "operation") {
			case 0, 1, 2:
				h.create(t, rt)
			case 3:
				h.change(t, rt)
			case 4:
				h.state(t, rt, "post", true)
			case 5:
				h.state(t, rt, "unpost", false)
			}
		}
		h.check(rt)
		for _, name := range []string{erp.Stock, erp.Batches, erp.CustomerSettlements, erp.SupplierSettlements, erp.InputVAT, erp.OutputVAT, erp.General} {
			if _, err := recalculated.Recalculate(t.Context(), name); err != nil {
				rt.Fatal(err)
			}
		}
		h.check(rt)
	})
}

func (h *history) check(t *rapid.T) {
	if got, want := found(t, h.Company), h.model.String(); got != want {
		t.Fatalf("books:\n%s\nwant:\n%s", got, want)
	}
	var got, want []string
	for _, p := range h.papers {
		want = append(want, fmt.Sprintf("%s %t %d %s", p.id, p.posted, p.version, p.month))
	}
	err := h.Read(t.Context(), func(w *database.Work) error {
		const query = "SELECT id || ' ' || posted || ' ' || version || ' ' || date_trunc('month', date)::date FROM doc_"
		w.Queue("documents", query+"goods_receipt UNION ALL "+query+"goods_sale UNION ALL "+query+"other_goods_receipt UNION ALL "+query+"service_purchase").Rows(func(r pgx.Rows) error {
			var row string
			err := r.Scan(&row)
			got = append(got, row)
			return err
		})
		return nil
	})
	slices.Sort(got)
	if slices.Sort(want); err != nil || !slices.Equal(got, want) {
		t.Fatalf("documents:\n%v\nwant:\n%v, %v", got, want, err)
	}
	erptest.Clean(t, h.Database)
}

func (h *history) user(t *rapid.T, organisation int) *erptest.User {
	return h.users[fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "worker"), organisation)]
}

func (h *history) create(t *testing.T, rt *rapid.T) {
	which := rapid.IntRange(0, 3).Draw(rt, "organisation") / 3 // mostly one, so that documents meet
	p := &paper{o: h.Organisations[which], kind: rapid.SampledFrom([]string{"goods-receipt", "goods-sale", "goods-receipt", "goods-sale", "other-goods-receipt", "service-purchase"}).Draw(rt, "kind")}
	p.self = p
	next := *p
	body := next.draw(rt, h.Company, time.Now().UTC().Truncate(time.Microsecond))
	next.posted, next.version = rapid.IntRange(0, 3).Draw(rt, "unposted") > 0, 1
	short, used := h.model.become(p, next, h.Items)
	p.date = next.date
	a := h.user(rt, which).Call(t, "POST", fmt.Sprintf("/v1/documents/%s?post=%t", p.kind, next.posted), "", body)
	if !expect(rt, a, 201, short, used) {
		p.id = a.ID
		h.papers, h.model.papers = append(h.papers, p), append(h.model.papers, p)
	}
}

func (h *history) change(t *testing.T, rt *rapid.T) {
	p, u := h.pick(rt)
	if p == nil {
		return
	}
	next := *p
	body := next.draw(rt, h.Company, time.Time{})
	query := rapid.SampledFrom([]string{"", "?post=true", "?post=false"}).Draw(rt, "wanted")
	if query != "" {
		next.posted = query == "?post=true"
	}
	path, seen := fmt.Sprintf("/v1/documents/%s/%s", p.kind, p.id), p.version
	if rapid.IntRange(0, 4).Draw(rt, "stale") == 0 {
		if a := u.Change(t, path+query, seen+1, body); a.Status != 412 || a.Code != "changed" {
			rt.Fatalf("got %d %s for a version that is not the document's", a.Status, a.Body)
		}
	}
	next.version++
	short, used := h.model.become(p, next, h.Items)
	expect(rt, u.Change(t, path+query, seen, body), 200, short, used)
}

func (h *history) state(t *testing.T, rt *rapid.T, verb string, posted bool) {
	p, u := h.pick(rt)
	if p == nil {
		return
	}
	next := *p
	next.posted = posted
	if p.posted || posted {
		next.version++
	}
	short, used := h.model.become(p, next, h.Items)
	key := id.New().String()
	path := fmt.Sprintf("/v1/documents/%s/%s/%s", p.kind, p.id, verb)
	if !expect(rt, u.Call(t, "POST", path, key, nil), 200, short, used) {
		if a := u.Call(t, "POST", path, key, nil); a.Status != 200 || !a.Replayed {
			rt.Fatalf("sent again: %d %s", a.Status, a.Body)
		}
	}
}

func (h *history) pick(t *rapid.T) (*paper, *erptest.User) {
	if len(h.papers) == 0 {
		return nil, nil
	}
	p := rapid.SampledFrom(h.papers).Draw(t, "document")
	which := 0
	if p.o.ID != h.Organisations[0].ID {
		which = 1
	}
	return p, h.user(t, which)
}

// draw gives a document its content, and tells the request for it. A document not dated is of the moment otherwise, or stays what it was when that is zero.
func (p *paper) draw(t *rapid.T, c *erptest.Company, otherwise time.Time) []byte {
	p.warehouse, p.lines = p.o.Warehouses[rapid.IntRange(0, 4).Draw(t, "warehouse")/4], nil
	f, things := erptest.Fields{}, c.Items
	if p.kind != "other-goods-receipt" {
		f["counterparty"], f["contract"] = p.o.Counterparty, erptest.Contract(p.o.Counterparty)
	}
	if p.kind == "service-purchase" {
		f["department"], f["expense_item"], things = p.o.Department, p.o.ExpenseItem, c.Services[:]
	} else {
		f["warehouse"] = p.warehouse
	}
	date := otherwise
	if rapid.Bool().Draw(t, "dated") {
		date = time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -rapid.IntRange(0, 100).Draw(t, "days ago"))
	}
	if !date.IsZero() {
		f["date"] = date.Format(time.RFC3339Nano)
		p.date, p.month = date, date.Format("2006-01")+"-01"
	}
	f["lines"] = p.drawLines(t, things)
	body, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// drawLines of items or services. Goods that turn up come to something, or they would be refused.
func (p *paper) drawLines(t *rapid.T, things []id.ID) (lines []erptest.Fields) {
	least, most, thing := int64(1), int64(5000), "item"
	switch p.kind {
	case "goods-sale":
		most = 1500
	case "other-goods-receipt":
		least = 1000
	case "service-purchase":
		thing = "service"
	}
	for range rapid.IntRange(1, 4).Draw(t, "lines") {
		l := line{rapid.IntRange(0, 7).Draw(t, "thing") % 5 % len(things), rapid.Int64Range(least, most).Draw(t, "quantity"), rapid.Int64Range(0, 1000).Draw(t, "price")}
		p.lines = append(p.lines, l)
		lines = append(lines, erptest.Fields{thing: things[l.n], "quantity": amount.Quantity(l.quantity).String(), "price": amount.Money(l.price).String()})
	}
	return lines
}

// expect checks that an operation was done, or refused for exactly these items, or because something has been used.
func expect(t *rapid.T, a erptest.Answer, done int, short []string, used bool) (refused bool) {
	if short == nil && !used {
		if a.Status != done {
			t.Fatalf("got %d %s, want it done", a.Status, a.Body)
		}
		return false
	}
	var said struct {
		Error struct {
			Control struct {
				ID    string
				Items []struct{ Code, Item string }
			}
		}
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || a.Status != 409 || said.Error.Control.ID != "stock" && (!used || said.Error.Control.ID != "batches") || len(said.Error.Control.Items) == 0 {
		t.Fatalf("got %d %s, want a refusal of %v, used: %t", a.Status, a.Body, short, used)
	}
	var named []string
	for _, i := range said.Error.Control.Items {
		if i.Code != "" {
			named = append(named, i.Code)
		}
	}
	if slices.Sort(named); !slices.Equal(named, short) {
		t.Fatalf("refused %v, want %v: %s", named, short, a.Body)
	}
	return true
}
