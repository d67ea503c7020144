package erp_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
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
	"plimsoll/platform/shape"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// books is the model: what the ERP should hold, with arithmetic of its own. Everything is kept twice: by month, and
// for all time.
type books struct {
	stock    map[string]*holding  // "period warehouse item"
	layers   map[layer]*holding   // current ones
	boundary map[string]time.Time // "warehouse item"
	papers   []*paper
	accounts map[string]*big.Int // "period organisation account", debit minus credit in kopecks
}

type holding struct{ quantity, amount *big.Int }

// layer is what a line of a receipt brought.
type layer struct {
	warehouse, item id.ID
	from            *paper
	line            int
}

func newBooks() *books {
	return &books{map[string]*holding{}, map[layer]*holding{}, map[string]time.Time{}, nil, map[string]*big.Int{}}
}

func (b *books) layer(l layer) *holding {
	if b.layers[l] == nil {
		b.layers[l] = &holding{new(big.Int), new(big.Int)}
	}
	return b.layers[l]
}

// oldest are the layers of an item with something left, in the order in which they are used up.
func (b *books) oldest(warehouse, item id.ID) (layers []layer) {
	for l, h := range b.layers {
		if l.warehouse == warehouse && l.item == item && h.quantity.Sign() > 0 {
			layers = append(layers, l)
		}
	}
	slices.SortFunc(layers, func(a, b layer) int {
		return cmp.Or(a.from.date.Compare(b.from.date), a.from.id.Compare(b.from.id), cmp.Compare(a.line, b.line))
	})
	return layers
}

const forever = "infinity"

func (b *books) at(period string, warehouse, item id.ID) *holding {
	key := period + " " + warehouse.String() + " " + item.String()
	if b.stock[key] == nil {
		b.stock[key] = &holding{new(big.Int), new(big.Int)}
	}
	return b.stock[key]
}

func (b *books) account(period string, organisation id.ID, account string) *big.Int {
	key := period + " " + organisation.String() + " " + account
	if b.accounts[key] == nil {
		b.accounts[key] = new(big.Int)
	}
	return b.accounts[key]
}

// paper is a document of the model, with what it did to the books when it was posted.
type paper struct {
	kind      string
	o         erptest.Organisation
	id        id.ID
	warehouse id.ID
	lines     []line
	date      time.Time
	month     string
	self      *paper // the one that stays, of which others are what it may become
	posted    bool
	version   int64
	moves     []move
	entries   []entry
}

type move struct {
	month            string
	layer            layer
	quantity, amount *big.Int // negative when it takes
}

type entry struct {
	month, debit, credit string
	sum                  *big.Int
}

func (h *holding) add(quantity, amount *big.Int) {
	h.quantity.Add(h.quantity, quantity)
	h.amount.Add(h.amount, amount)
}

// broken tells what no holding may be.
func (h *holding) broken() bool {
	return h.quantity.Sign() < 0 || h.amount.Sign() < 0 || h.quantity.Sign() == 0 && h.amount.Sign() != 0
}

// apply does to the books what a document did, or undoes it.
func (b *books) apply(p *paper, sign int64) {
	times := func(v *big.Int) *big.Int { return new(big.Int).Mul(v, big.NewInt(sign)) }
	for _, m := range p.moves {
		for _, period := range []string{m.month, forever} {
			b.at(period, m.layer.warehouse, m.layer.item).add(times(m.quantity), times(m.amount))
		}
		b.layer(m.layer).add(times(m.quantity), times(m.amount))
	}
	for _, e := range p.entries {
		for _, period := range []string{e.month, forever} {
			debit, credit := b.account(period, p.o.ID, e.debit), b.account(period, p.o.ID, e.credit)
			debit.Add(debit, times(e.sum))
			credit.Sub(credit, times(e.sum))
		}
	}
}

// become makes next of a document, or tells why not: the items there is not enough of, or that what it brought has been used.
func (b *books) become(p *paper, next paper, items []id.ID) (short []string, used bool) {
	b.apply(p, -1)
	next.moves, next.entries = nil, nil
	if next.posted {
		if short = next.record(b, items); short != nil {
			b.apply(p, 1)
			return short, false
		}
	}
	b.apply(&next, 1)
	for _, m := range p.moves {
		used = used || b.layer(m.layer).broken() || b.at(forever, m.layer.warehouse, m.layer.item).broken()
	}
	if used {
		b.apply(&next, -1)
		b.apply(p, 1)
		return nil, true
	}
	b.mark(p, &next)
	*p = next
	return nil, false
}

// mark moves the boundary of what a change of a document moves, when another document is later.
func (b *books) mark(old, next *paper) {
	earliest := next.date
	if len(old.moves) > 0 && (old.date.Before(earliest) || len(next.moves) == 0) {
		earliest = old.date
	}
	differ := map[string]bool{}
	for i := range max(len(old.moves), len(next.moves)) {
		had, has := i < len(old.moves), i < len(next.moves)
		if had && has && old.date.Equal(next.date) && old.moves[i].same(next.moves[i]) {
			continue
		}
		if had {
			differ[old.moves[i].layer.place()] = true
		}
		if has {
			differ[next.moves[i].layer.place()] = true
		}
	}
	for _, p := range b.papers {
		// the id of a new document is higher than those there are
		if p == old || !p.date.After(earliest) && (old.id.IsZero() || !p.date.Equal(earliest) || p.id.Compare(old.id) < 0) {
			continue
		}
		for _, m := range p.moves {
			at, ok := b.boundary[m.layer.place()]
			if differ[m.layer.place()] && (!ok || earliest.Before(at)) {
				b.boundary[m.layer.place()] = earliest
			}
		}
	}
}

func (l layer) place() string { return l.warehouse.String() + " " + l.item.String() }

func (m move) same(other move) bool {
	return m.layer == other.layer && m.quantity.Cmp(other.quantity) == 0 && m.amount.Cmp(other.amount) == 0
}

// line of the model, with the item's place in the catalog, which its prices and rate depend on.
type line struct {
	n               int
	quantity, price int64 // thousandths, kopecks
}

// divide rounds half away from zero; nothing here is negative.
func divide(a, b *big.Int) *big.Int {
	twice := new(big.Int).Mul(a, big.NewInt(2))
	return twice.Add(twice, b).Quo(twice, new(big.Int).Mul(b, big.NewInt(2)))
}

func (l line) net(standard int64) *big.Int {
	price := l.price
	if price == 0 {
		price = standard * int64(l.n+1) * 100
	}
	return divide(new(big.Int).Mul(big.NewInt(price), big.NewInt(l.quantity)), big.NewInt(1000))
}

func (l line) vat(net *big.Int) *big.Int {
	return divide(new(big.Int).Mul(net, big.NewInt(erptest.Rate(l.n))), big.NewInt(100))
}

// record decides what a document does to the books, unless there is not enough of something.
func (p *paper) record(b *books, items []id.ID) (short []string) {
	if p.kind == "goods-receipt" {
		for i, l := range p.lines {
			net := l.net(1)
			p.moves = append(p.moves, move{p.month, layer{p.warehouse, items[l.n], p.self, i + 1}, big.NewInt(l.quantity), net})
			p.entries = append(p.entries, entry{p.month, "41", "60", net}, entry{p.month, "19", "60", l.vat(net)})
		}
		return nil
	}
	required := map[int]int64{}
	for _, l := range p.lines {
		required[l.n] += l.quantity
	}
	left := map[layer]*holding{}
	for n, quantity := range required {
		h := b.at(forever, p.warehouse, items[n])
		for _, l := range b.oldest(p.warehouse, items[n]) {
			left[l] = &holding{new(big.Int).Set(b.layer(l).quantity), new(big.Int).Set(b.layer(l).amount)}
		}
		if h.quantity.Cmp(big.NewInt(quantity)) < 0 {
			short = append(short, fmt.Sprintf("I%d", n))
		}
	}
	if slices.Sort(short); short != nil {
		return short
	}
	for _, l := range p.lines {
		net, cost, needed := l.net(2), new(big.Int), big.NewInt(l.quantity)
		for _, from := range b.oldest(p.warehouse, items[l.n]) {
			h := left[from]
			if needed.Sign() == 0 || h.quantity.Sign() == 0 {
				continue
			}
			part := needed
			if h.quantity.Cmp(needed) < 0 {
				part = h.quantity
			}
			part = new(big.Int).Set(part)
			value := divide(new(big.Int).Mul(h.amount, part), h.quantity)
			h.add(new(big.Int).Neg(part), new(big.Int).Neg(value))
			needed.Sub(needed, part)
			cost.Add(cost, value)
			p.moves = append(p.moves, move{p.month, from, new(big.Int).Neg(part), new(big.Int).Neg(value)})
		}
		p.entries = append(p.entries, entry{p.month, "62", "90", new(big.Int).Add(net, l.vat(net))}, entry{p.month, "90", "41", cost}, entry{p.month, "90", "68", l.vat(net)})
	}
	return nil
}

func (b *books) String() string {
	var rows []string
	for _, key := range slices.Sorted(maps.Keys(b.stock)) {
		if h := b.stock[key]; h.quantity.Sign() != 0 || h.amount.Sign() != 0 {
			rows = append(rows, fmt.Sprintf("%s %s %s", key, h.quantity, h.amount))
		}
	}
	var layers []string
	for l, h := range b.layers {
		if h.quantity.Sign() != 0 || h.amount.Sign() != 0 {
			layers = append(layers, fmt.Sprintf("%s %s %s %d %s %s", l.warehouse, l.item, l.from.id, l.line, h.quantity, h.amount))
		}
	}
	for key, at := range b.boundary {
		layers = append(layers, "boundary "+key+" "+at.UTC().Format(time.RFC3339Nano))
	}
	slices.Sort(layers)
	rows = append(rows, layers...)
	for _, key := range slices.Sorted(maps.Keys(b.accounts)) {
		if sum := b.accounts[key]; sum.Sign() != 0 {
			rows = append(rows, fmt.Sprintf("%s %s", key, sum))
		}
	}
	return strings.Join(rows, "\n")
}

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
		w.Queue("ledger", "SELECT period::text, organisation, account, ((sum(debit) - sum(credit)) * 100)::bigint FROM gl_general_totals GROUP BY 1, 2, 3").Rows(func(r pgx.Rows) error {
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
// of the model, in every shape; and so does the recalculation of totals.
func TestAnyHistoryMakesTheBooksOfTheModel(t *testing.T) {
	for _, pair := range [][2]shape.Name{{shape.Lean, shape.Classic}, {shape.Tuned, shape.Tuned}} {
		t.Run(fmt.Sprintf("%s and %s", pair[0], pair[1]), func(t *testing.T) { anyHistory(t, pair) })
	}
}

func anyHistory(t *testing.T, shapes [2]shape.Name) {
	c := erptest.New(t, 4)
	var workers []string
	for _, name := range shapes {
		workers = append(workers, c.Worker(t, erptest.Shaped(t, name, shape.Tweaks{})))
	}
	users := map[string]*erptest.User{}
	for w, base := range workers {
		for o := range c.Organisations {
			users[fmt.Sprint(w, o)] = erptest.Login(t, base, c.Organisations[o].User)
		}
	}
	recalculated := posting.New(c.Database, erp.Metadata(), erp.Rules())
	rapid.Check(t, func(rt *rapid.T) {
		c.Exec(t, "TRUNCATE acc_stock, acc_stock_totals, acc_batches, acc_batches_totals, acc_batches_boundary, gl_general, gl_general_totals, doc_goods_receipt, doc_goods_receipt_lines, doc_goods_sale, doc_goods_sale_lines, plimsoll_operation")
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
		for _, name := range []string{erp.Stock, erp.Batches, erp.General} {
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
		w.Queue("documents", query+"goods_receipt UNION ALL "+query+"goods_sale").Rows(func(r pgx.Rows) error {
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
	p := &paper{o: h.Organisations[which], kind: rapid.SampledFrom([]string{"goods-receipt", "goods-sale"}).Draw(rt, "kind")}
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
	d := erptest.Document{Warehouse: p.o.Warehouses[rapid.IntRange(0, 4).Draw(t, "warehouse")/4], Counterparty: p.o.Counterparty}
	p.warehouse, p.lines = d.Warehouse, nil
	date := otherwise
	if rapid.Bool().Draw(t, "dated") {
		date = time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -rapid.IntRange(0, 100).Draw(t, "days ago"))
	}
	if !date.IsZero() {
		d.Date = date.Format(time.RFC3339Nano)
		p.date, p.month = date, date.Format("2006-01")+"-01"
	}
	most := int64(5000)
	if p.kind == "goods-sale" {
		most = 1500
	}
	for range rapid.IntRange(1, 4).Draw(t, "lines") {
		l := line{rapid.IntRange(0, 7).Draw(t, "item") % 5 % 4, rapid.Int64Range(1, most).Draw(t, "quantity"), rapid.Int64Range(0, 1000).Draw(t, "price")}
		p.lines = append(p.lines, l)
		d.Lines = append(d.Lines, erptest.Line{Item: c.Items[l.n], Quantity: amount.Quantity(l.quantity).String(), Price: amount.Money(l.price).String()})
	}
	body, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return body
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
