package erp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/test/thorough"
)

// Random histories have a seed that can be told, also when no single one of them fails.
func TestMain(m *testing.M) {
	flag.Parse()
	thorough.Checks(fewHistories)
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		_ = seed.Value.Set(strconv.FormatUint(rand.Uint64(), 10))
	}
	databasetest.Main(m)
}

// sumsOf the registers of the model, by the columns that the model has.
var sumsOf = map[string]struct{ keys, resources string }{
	books.CustomerSettlements.Name(): {"contract", "amount"}, books.SupplierSettlements.Name(): {"contract", "amount"},
	books.CustomerPlan.Name(): {"contract object", "amount"}, books.SupplierPlan.Name(): {"contract object", "amount"},
	books.Cash.Name(): {"cash_account", "amount"}, books.Investments.Name(): {"asset", "amount"},
	books.AssetCosts.Name():  {"asset", "amount"},
	books.PaymentPlan.Name(): {"contract request", "amount"},
	books.Payments.Name():    {"contract payment", "amount"}, books.CustomerAdvances.Name(): {"contract", "amount vat"},
	books.SupplierAdvances.Name(): {"contract", "amount vat"},
	books.PurchaseBook.Name():     {"counterparty rate", "amount vat"},
	books.SalesBook.Name():        {"counterparty rate", "amount vat"},
	books.InputVAT.Name():         {"basis rate", "amount vat"}, books.OutputVAT.Name(): {"basis rate", "amount vat"},
	books.CustomerOrders.Name(): {"source_order item", "quantity reserved"},
	books.SupplierOrders.Name(): {"source_order item", "quantity"},
	books.Reserves.Name():       {"warehouse item", "quantity"},
	books.ToReceive.Name():      {"warehouse basis item", "quantity"},
	books.ToShip.Name():         {"warehouse basis item", "quantity"},
	books.Cells.Name():          {"warehouse item cell", "quantity"},
}

// key of a sum that a column goes to.
func (s *sum) key(column string) any {
	switch column {
	case "object", "request", "basis", "source_order", "payment":
		return &s.basis.id
	case "item":
		return &s.item
	case "cell":
		return &s.cell
	case "rate":
		return &s.rate
	}
	return &s.contract
}

// found are the books in the database, in the same form.
func found(t *rapid.T, c *erptest.Company) string {
	b := newModelBooks()
	err := c.Read(t.Context(), func(w *database.Work) error {
		w.Queue("stock", "SELECT period::text, warehouse, item, (quantity * 1000)::bigint, (amount * 100)::bigint "+
			"FROM acc_stock_totals").Rows(func(r pgx.Rows) error {
			var period string
			var warehouse, item id.ID
			var quantity, sum int64
			err := r.Scan(&period, &warehouse, &item, &quantity, &sum)
			*b.at(period, warehouse, item) = holding{big.NewInt(quantity), big.NewInt(sum)}
			return err
		})
		receipts := map[id.ID]*modelDocument{}
		w.Queue("batches", "SELECT warehouse, item, receipt, receipt_line, (quantity * 1000)::bigint, (amount * "+
			"100)::bigint FROM acc_batches_totals WHERE period = 'infinity'").Rows(func(r pgx.Rows) error {
			l := layer{}
			from := id.ID{}
			line := int64(0)
			quantity := int64(0)
			sum := int64(0)
			err := r.Scan(&l.warehouse, &l.item, &from, &line, &quantity, &sum)
			if receipts[from] == nil {
				receipts[from] = &modelDocument{id: from}
			}
			l.from, l.line = receipts[from], int(line)
			*b.layer(l) = holding{big.NewInt(quantity), big.NewInt(sum)}
			return err
		})
		w.Queue("boundary", "SELECT warehouse || ' ' || item, moment FROM acc_batches_boundary").Rows(
			func(r pgx.Rows) error {
				var key string
				var at time.Time
				err := r.Scan(&key, &at)
				b.boundary[key] = at
				return err
			})
		for register, of := range sumsOf {
			resources := strings.Fields(of.resources)
			w.Queue(register, "SELECT period::text, "+strings.Join(append(strings.Fields(of.keys), resources...), ", ")+
				" FROM acc_"+register+"_totals").Rows(func(r pgx.Rows) error {
				s := sum{register: register, basis: &modelDocument{}}
				into := []any{&s.period}
				goods := make([]amount.Quantity, len(resources))
				sums := make([]amount.Money, len(resources))
				for _, key := range strings.Fields(of.keys) {
					into = append(into, s.key(key))
				}
				for i, name := range resources {
					into = append(into, map[bool]any{true: &sums[i],
						false: &goods[i]}[name == "amount" || name == "vat"])
				}
				err := r.Scan(into...)
				for i, name := range resources {
					s.resource = name
					b.sum(s).SetInt64(int64(sums[i]) + int64(goods[i]))
				}
				return err
			})
		}
		w.Queue("ledger", "SELECT period::text, organisation, concat_ws(' ', account, nullif(analytic_1, $1), "+
			"nullif(analytic_2, $1), nullif(analytic_3, $1)), ((sum(debit) - sum(credit)) * 100)::bigint FROM "+
			"gl_general_totals GROUP BY 1, 2, 3", id.ID{}).Rows(func(r pgx.Rows) error {
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
	users     map[string]*erptest.User
	model     *modelBooks
	papers    []*modelDocument
	after     *modelDocument // what the next one is made of, if it can be
	seen      map[string]int
	beginning bool // of the history
}

// enough histories to have seen every type of document posted, and every control refuse. Tests that are not thorough
// try a few, each time others.
const (
	enough       = 100
	fewHistories = 20
)

// refusals are the controls that say no to what a type of document asks for, of those that most hundreds of histories
// come to more than a few times.
var refusals = map[string][]string{
	"goods-receipt":           {"order", books.SupplierOrders.Name()},
	"goods-sale":              {"order", books.CustomerOrders.Name(), "stock"},
	"customer-order":          {"stock"},
	"warehouse-receipt-order": {"basis", books.ToReceive.Name()},
	"warehouse-issue-order":   {"basis", books.ToShip.Name(), books.Cells.Name()},
	"invoice-issued":          {"basis", "invoices", "advance"},
	"invoice-received":        {"basis", "invoices", "invoice_numbers", "advance"},
	"payment-request":         {"basis", "payment_limit", "payment_requests"},
	"bank-payment":            {books.PaymentPlan.Name()},
	"bank-receipt":            {"bank_references"},
	"asset-commissioning":     {"cost", "asset_states"},
	"internal-consumption":    {"stock"},
	"settlement-registrar":    {"total"},
}

// kept are the registers that do not let go what a type of document has moved; those that few histories come to are
// told in the log alone.
var kept = map[string][]string{
	"goods-receipt": {"stock", books.ToReceive.Name(), books.InputVAT.Name()}, "other-goods-receipt": {"stock"},
	"supplier-order": {books.SupplierOrders.Name()}, "warehouse-receipt-order": {books.Cells.Name()},
	"bank-receipt": {books.Payments.Name()},
}

// evenly draws one of n, each as likely. The ranges of rapid prefer what is near their start: good for quantities,
// but most of a history would be one type of document, not posted.
func evenly(t *rapid.T, n int, label string) (v int) {
	for _, bit := range rapid.SliceOfN(rapid.Bool(), 10, 10).Draw(t, label) {
		if v *= 2; bit {
			v++
		}
	}
	return v % n
}

// Random histories, also refused and back-dated ones, with documents changed, reposted and unposted, by workers of
// every shape, make the books of the model; and so does the recalculation of totals.
func TestAnyHistoryMakesTheBooksOfTheModel(t *testing.T) {
	t.Parallel()
	c := erptest.New(t, 4)
	workers := c.Mixed(t)
	users := map[string]*erptest.User{}
	for w, base := range workers {
		for o := range c.Organisations {
			users[fmt.Sprint(w, o)] = erptest.Login(t, base, c.Organisations[o].User)
		}
	}
	recalculated := posting.New(c.Database, erp.Metadata(), erp.Rules())
	seen, histories := map[string]int{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		c.Clear(t)
		histories++
		h := &history{Company: c, users: users, model: newModelBooks(), seen: seen}
		h.begin(t, rt)
		for range 8 + evenly(rt, 25, "operations") {
			switch evenly(rt, 6, "operation") {
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
		for _, name := range append(slices.Sorted(maps.Keys(sumsOf)), books.Stock.Name(), books.Batches.Name(),
			books.General.Name()) {
			if _, err := recalculated.Recalculate(t.Context(), name); err != nil {
				rt.Fatal(err)
			}
		}
		if got, want := found(rt, h.Company), h.model.String(); got != want {
			rt.Fatalf("recalculated:\n%s\nwant:\n%s", got, want)
		}
	})
	t.Logf("%d histories, -rapid.seed=%s: %v", histories, flag.Lookup("rapid.seed").Value, seen)
	if histories >= enough && !t.Failed() {
		unseen(t, seen)
	}
}

// unseen tells what the histories have never come to.
func unseen(t *testing.T, seen map[string]int) {
	t.Helper()
	for kind := range modelled {
		wanted := []string{kind + " posted"}
		for _, control := range refusals[kind] {
			wanted = append(wanted, kind+" refused by "+control)
		}
		for _, register := range kept[kind] {
			wanted = append(wanted, kind+" kept by "+register)
		}
		for _, what := range wanted {
			if seen[what] == 0 {
				t.Errorf("no history has seen %s", what)
			}
		}
	}
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
		var each []string
		for kind := range modelled {
			each = append(each, "SELECT id || ' ' || posted || ' ' || version || ' ' || date_trunc('month', "+
				"date)::date FROM doc_"+strings.ReplaceAll(kind, "-", "_"))
		}
		w.Queue("documents", strings.Join(each, " UNION ALL ")).Rows(func(r pgx.Rows) error {
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
	return h.users[fmt.Sprint(evenly(t, 3, "worker"), organisation)]
}

func (h *history) create(t *testing.T, rt *rapid.T) {
	which := evenly(rt, 4, "organisation") / 3 // mostly one, so that documents meet
	h.write(t, rt, which, h.drawKind(rt, h.Organisations[which]), evenly(rt, 4, "unposted") > 0)
}

// write a document of an organisation, if there can be one of the type yet.
func (h *history) write(t *testing.T, rt *rapid.T, which int, kind string, posted bool) {
	p := &modelDocument{kind: kind, o: h.Organisations[which]}
	p.self = p
	next := *p
	body := next.draw(rt, h, time.Now().UTC().Truncate(time.Microsecond))
	if body == nil {
		return
	}
	next.posted, next.version = posted, 1
	no := h.model.change(p, next, h.Items)
	p.date = next.date
	a := h.user(rt, which).Call(t, "POST", fmt.Sprintf("/v1/documents/%s?post=%t", p.kind, next.posted), "", body)
	if !h.expect(rt, p, next.posted, a, 201, no) {
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
	h.after = nil
	body := next.draw(rt, h, time.Time{})
	if body == nil { // what it was made of is elsewhere now
		return
	}
	query := []string{"", "?post=true", "?post=false"}[evenly(rt, 3, "wanted")]
	if query != "" {
		next.posted = query == "?post=true"
	}
	path, seen := fmt.Sprintf("/v1/documents/%s/%s", p.kind, p.id), p.version
	if evenly(rt, 5, "stale") == 0 {
		if a := u.Change(t, path+query, seen+1, body); a.Status != 412 || a.Code != "changed" {
			rt.Fatalf("got %d %s for a version that is not the document's", a.Status, a.Body)
		}
	}
	next.version++
	no := h.model.change(p, next, h.Items)
	h.expect(rt, p, next.posted, u.Change(t, path+query, seen, body), 200, no)
}

func (h *history) state(t *testing.T, rt *rapid.T, verb string, posted bool) {
	if p, u := h.pick(rt); p != nil {
		h.bring(t, rt, p, u, verb, posted)
	}
}

// bring a document into a state.
func (h *history) bring(t *testing.T, rt *rapid.T, p *modelDocument, u *erptest.User, verb string, posted bool) {
	next := *p
	next.posted = posted
	if p.posted || posted {
		next.version++
	}
	no := h.model.change(p, next, h.Items)
	key := id.New().String()
	path := fmt.Sprintf("/v1/documents/%s/%s/%s", p.kind, p.id, verb)
	if !h.expect(rt, p, posted, u.Call(t, "POST", path, key, nil), 200, no) {
		if a := u.Call(t, "POST", path, key, nil); a.Status != 200 || !a.Replayed {
			rt.Fatalf("sent again: %d %s", a.Status, a.Body)
		}
	}
}

func (h *history) pick(t *rapid.T) (*modelDocument, *erptest.User) {
	if len(h.papers) == 0 {
		return nil, nil
	}
	p := h.papers[evenly(t, len(h.papers), "document")]
	if of := p.made(); of != nil && rapid.Bool().Draw(t, "what it was made of") { // which it keeps
		p = of
	}
	which := 0
	if p.o.ID != h.Organisations[0].ID {
		which = 1
	}
	return p, h.user(t, which)
}

// draw gives a document its content, and tells the request for it; nil when there can be none yet. A document not
// dated is of the moment otherwise, or stays what it was when that is zero.
func (p *modelDocument) draw(t *rapid.T, h *history, otherwise time.Time) []byte {
	fields := modelled[p.kind].draw(p, t, h)
	if fields == nil {
		return nil
	}
	date := otherwise
	if rapid.Bool().Draw(t, "dated") {
		date = time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -evenly(t, 101, "days ago"))
	}
	if !date.IsZero() {
		fields["date"] = date.Format(time.RFC3339Nano)
		p.date, p.month = date, date.Format("2006-01")+"-01"
	}
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// expect checks that an operation on a document was done, or refused by one of these controls, that of stock for
// exactly these items; and notes which.
func (h *history) expect(t *rapid.T, p *modelDocument, posted bool, a erptest.Answer, done int,
	no *refusal) (refused bool) {
	switch {
	case no == nil && a.Status != done, no != nil && no.controls == nil && a.Status != 400:
		t.Fatalf("got %d %s, want it done, or invalid: %v", a.Status, a.Body, no)
	case no == nil && posted:
		h.seen[p.kind+" posted"]++
	}
	if no == nil || no.controls == nil {
		return no != nil
	}
	control := refusedBy(t, a, no)
	if posted {
		h.seen[p.kind+" refused by "+control]++
	} else {
		h.seen[p.kind+" kept by "+control]++
	}
	return true
}

func refusedBy(t *rapid.T, a erptest.Answer, no *refusal) string {
	var said struct {
		Error struct {
			Control struct {
				ID    string
				Items []struct{ Code, Item string }
			}
		}
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || a.Status != 409 ||
		!slices.Contains(no.controls, said.Error.Control.ID) {
		t.Fatalf("got %d %s, want a refusal by %v", a.Status, a.Body, no.controls)
	}
	var named []string
	for _, i := range said.Error.Control.Items {
		if i.Code != "" {
			named = append(named, i.Code)
		}
	}
	if slices.Sort(named); !slices.Equal(named, no.short) {
		t.Fatalf("refused %v, want %v: %s", named, no.short, a.Body)
	}
	return said.Error.Control.ID
}
