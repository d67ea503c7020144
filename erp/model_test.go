package erp_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

// modelBooks is the model: what the ERP should hold, with arithmetic of its own. Everything is kept twice: by month,
// and for all time.
type modelBooks struct {
	stock    map[string]*holding  // "period warehouse item"
	layers   map[layer]*holding   // current ones
	boundary map[string]time.Time // "warehouse item"
	papers   []*modelDocument
	accounts map[string]*big.Int // "period organisation account analytics", debit minus credit in kopecks
	sums     map[sum]*big.Int    // of money
}

// sum is a resource in a register, of money or of goods: by contract (or what else comes first, as a warehouse), by
// the document that it is about, the item, the cell and the rate of VAT, each where the register has it.
type sum struct {
	register, resource, period string
	contract                   id.ID
	basis                      *modelDocument
	item, cell                 id.ID
	rate                       int64
}

func (b *modelBooks) sum(s sum) *big.Int {
	if b.sums[s] == nil {
		b.sums[s] = new(big.Int)
	}
	return b.sums[s]
}

func (s sum) String() string {
	var basis id.ID
	if s.basis != nil {
		basis = s.basis.id
	}
	return fmt.Sprintf("%s %s %s %s %s %s %s %d", s.register, s.resource, s.period, s.contract, basis, s.item, s.cell,
		s.rate)
}

type holding struct{ quantity, amount *big.Int }

// layer is what a line of a receipt brought.
type layer struct {
	warehouse, item id.ID
	from            *modelDocument
	line            int
}

func newModelBooks() *modelBooks {
	return &modelBooks{map[string]*holding{}, map[layer]*holding{}, map[string]time.Time{}, nil, map[string]*big.Int{},
		map[sum]*big.Int{}}
}

func (b *modelBooks) layer(l layer) *holding {
	if b.layers[l] == nil {
		b.layers[l] = &holding{new(big.Int), new(big.Int)}
	}
	return b.layers[l]
}

// oldest are the layers of an item with something left, in the order in which they are used up.
func (b *modelBooks) oldest(warehouse, item id.ID) (layers []layer) {
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

func (b *modelBooks) at(period string, warehouse, item id.ID) *holding {
	key := period + " " + warehouse.String() + " " + item.String()
	if b.stock[key] == nil {
		b.stock[key] = &holding{new(big.Int), new(big.Int)}
	}
	return b.stock[key]
}

func (b *modelBooks) account(period string, organisation id.ID, account string) *big.Int {
	key := period + " " + organisation.String() + " " + account
	if b.accounts[key] == nil {
		b.accounts[key] = new(big.Int)
	}
	return b.accounts[key]
}

// modelDocument is a document of the model, with what it did to the books when it was posted.
type modelDocument struct {
	kind      string
	o         erptest.Organisation
	id        id.ID
	warehouse id.ID
	lines     []line
	date      time.Time
	month     string
	self      *modelDocument // the one that stays, of which others are what it may become
	posted    bool
	version   int64
	moves     []move
	entries   []entry
	sums      []owed
	content   any // of a type that has more than lines of goods
}

// refusal is what controls may say to a document; the items are those the control of stock must name. Without
// controls the document contradicts what it refers to.
type refusal struct {
	controls []string
	short    []string
	stated   bool // by what another document states: that is found out last
}

func refuse(control string) *refusal { return &refusal{controls: []string{control}} }

func refuseStated(controls ...string) *refusal { return &refusal{controls: controls, stated: true} }

// owed is what a document adds to a sum.
type owed struct {
	to    sum // without the period
	month string
	value *big.Int
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
func (b *modelBooks) apply(p *modelDocument, sign int64) {
	times := func(v *big.Int) *big.Int { return new(big.Int).Mul(v, big.NewInt(sign)) }
	for _, m := range p.moves {
		for _, period := range []string{m.month, forever} {
			b.at(period, m.layer.warehouse, m.layer.item).add(times(m.quantity), times(m.amount))
		}
		b.layer(m.layer).add(times(m.quantity), times(m.amount))
	}
	for _, o := range p.sums {
		for _, period := range []string{o.month, forever} {
			if period == forever && slices.Contains(turnovers, o.to.register) {
				continue
			}
			to := o.to
			to.period = period
			b.sum(to).Add(b.sum(to), times(o.value))
		}
	}
	for _, e := range p.entries {
		for _, period := range []string{e.month, forever} {
			debit, credit := b.account(period, p.o.ID, e.debit), b.account(period, p.o.ID, e.credit)
			debit.Add(debit, times(e.sum))
			credit.Sub(credit, times(e.sum))
		}
	}
}

// turnovers are the registers without current balances.
var turnovers = []string{books.PurchaseBook.Name(), books.SalesBook.Name()}

// change replaces a document by next, or says who refuses.
func (b *modelBooks) change(p *modelDocument, next modelDocument, items []id.ID) *refusal {
	b.apply(p, -1)
	next.moves, next.entries, next.sums = nil, nil, nil
	if next.posted {
		if no := next.record(b, items); no != nil {
			if no.stated {
				b.apply(&next, 1)
				no.controls = append(no.controls, b.missing(p)...)
				b.apply(&next, -1)
			}
			b.apply(p, 1)
			return no
		}
	}
	b.apply(&next, 1)
	if controls := b.missing(p); controls != nil {
		b.apply(&next, -1)
		b.apply(p, 1)
		return &refusal{controls: controls}
	}
	b.mark(p, &next)
	*p = next
	return nil
}

// missing are the controls that see something missing of what a document had brought.
func (b *modelBooks) missing(p *modelDocument) (controls []string) {
	for _, m := range p.moves {
		if b.layer(m.layer).broken() || b.at(forever, m.layer.warehouse, m.layer.item).broken() {
			controls = append(controls, "stock", "batches")
		}
		if b.at(forever, m.layer.warehouse, m.layer.item).quantity.Cmp(
			b.balance(reservedOf(m.layer.warehouse, m.layer.item))) < 0 {
			controls = append(controls, "stock") // it covers the reserves
		}
	}
	for _, o := range p.sums {
		of := o.to
		of.period, of.resource = forever, "amount"
		vat := of
		vat.resource = "vat"
		switch o.to.register {
		case books.InputVAT.Name(), books.OutputVAT.Name(), books.CustomerAdvances.Name(),
			books.SupplierAdvances.Name():
			if (&holding{b.sum(of), b.sum(vat)}).broken() {
				controls = append(controls, o.to.register)
			}
		case books.Cash.Name(), books.Payments.Name(), books.PaymentPlan.Name(), books.Investments.Name(),
			books.AssetCosts.Name():
			if b.sum(of).Sign() < 0 {
				controls = append(controls, o.to.register)
			}
		case books.CustomerOrders.Name(), books.SupplierOrders.Name(), books.Reserves.Name(), books.ToReceive.Name(),
			books.ToShip.Name(), books.Cells.Name():
			of.resource = "quantity"
			reserved := of
			reserved.resource = "reserved"
			if (&holding{b.sum(of), b.sum(reserved)}).broken() {
				controls = append(controls, o.to.register)
			}
		}
	}
	return controls
}

// mark moves the boundary of what a change of a document moves, when another document is later.
func (b *modelBooks) mark(old, next *modelDocument) {
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
		if p == old || !p.date.After(earliest) &&
			(old.id.IsZero() || !p.date.Equal(earliest) || p.id.Compare(old.id) < 0) {
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

// charge is what a line of a deal adds to settlements and to VAT.
func (p *modelDocument) charge(settlements, vats string, l line, net *big.Int) {
	vat := l.vat(net)
	p.sums = append(p.sums, owed{sum{register: settlements, resource: "amount",
		contract: erptest.Contract(p.o.Counterparty)}, p.month, new(big.Int).Add(net, vat)})
	p.sums = append(p.sums, owed{sum{register: vats, resource: "amount", basis: p.self, rate: erptest.Rate(l.n)},
		p.month, net})
	p.sums = append(p.sums, owed{sum{register: vats, resource: "vat", basis: p.self, rate: erptest.Rate(l.n)}, p.month,
		vat})
}

// at is an account with its analytics, as the books name it.
func (p *modelDocument) at(account string) string {
	switch account {
	case "41":
		return account + " " + p.warehouse.String()
	case "19":
		return account + " " + p.o.Counterparty.String()
	case "26":
		return account + " " + p.o.Department.String() + " " + p.o.ExpenseItem.String()
	case "51":
		return account + " " + p.o.Bank.String()
	case "60", "62", "76AV", "76VA":
		return account + " " + p.o.Counterparty.String() + " " + erptest.Contract(p.o.Counterparty).String()
	}
	return account
}

// record decides what a document does to the books, unless a control refuses.
func (p *modelDocument) record(b *modelBooks, items []id.ID) *refusal {
	return modelled[p.kind].record(p, b, items)
}

func recordReceipt(p *modelDocument, b *modelBooks, items []id.ID) *refusal {
	if no := p.fulfilOrder(b, items, books.SupplierOrders.Name()); no != nil {
		return no
	}
	p.await(items, books.ToReceive.Name())
	for i, l := range p.lines {
		net := l.net(1)
		p.moves = append(p.moves, move{p.month, layer{p.warehouse, items[l.n], p.self, i + 1}, big.NewInt(l.quantity),
			net})
		p.entries = append(p.entries, entry{p.month, p.at("41"), p.at("60"), net},
			entry{p.month, p.at("19"), p.at("60"), l.vat(net)})
		p.charge(books.SupplierSettlements.Name(), books.InputVAT.Name(), l, net)
	}
	return nil
}

func recordSale(p *modelDocument, b *modelBooks, items []id.ID) *refusal {
	if no := p.fulfilOrder(b, items, books.CustomerOrders.Name()); no != nil {
		return no
	}
	p.await(items, books.ToShip.Name())
	costs, no := p.take(b, items)
	for i, cost := range costs {
		l := p.lines[i]
		net := l.net(2)
		p.entries = append(p.entries, entry{p.month, p.at("62"), "90", new(big.Int).Add(net, l.vat(net))},
			entry{p.month, "90", p.at("41"), cost}, entry{p.month, "90", "68", l.vat(net)})
		p.charge(books.CustomerSettlements.Name(), books.OutputVAT.Name(), l, net)
	}
	return no
}

// take the lines out of the oldest layers, each at its cost.
func (p *modelDocument) take(b *modelBooks, items []id.ID) (costs []*big.Int, no *refusal) {
	required, short := p.required(), []string(nil)
	left := map[layer]*holding{}
	for n, quantity := range required {
		for _, l := range b.oldest(p.warehouse, items[n]) {
			left[l] = &holding{new(big.Int).Set(b.layer(l).quantity), new(big.Int).Set(b.layer(l).amount)}
		}
		if p.free(b, items[n]).Cmp(big.NewInt(quantity)) < 0 {
			short = append(short, fmt.Sprintf("I%d", n))
		}
	}
	if slices.Sort(short); short != nil {
		return nil, &refusal{controls: []string{"stock"}, short: short}
	}
	for _, l := range p.lines {
		cost, needed := new(big.Int), big.NewInt(l.quantity)
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
		costs = append(costs, cost)
	}
	return costs, nil
}

func (b *modelBooks) String() string {
	var rows []string
	for _, key := range slices.Sorted(maps.Keys(b.stock)) {
		if h := b.stock[key]; h.quantity.Sign() != 0 || h.amount.Sign() != 0 {
			rows = append(rows, fmt.Sprintf("%s %s %s", key, h.quantity, h.amount))
		}
	}
	var layers []string
	for l, h := range b.layers {
		if h.quantity.Sign() != 0 || h.amount.Sign() != 0 {
			layers = append(layers, fmt.Sprintf("%s %s %s %d %s %s", l.warehouse, l.item, l.from.id, l.line, h.quantity,
				h.amount))
		}
	}
	for key, at := range b.boundary {
		layers = append(layers, "boundary "+key+" "+at.UTC().Format(time.RFC3339Nano))
	}
	for s, v := range b.sums {
		if v.Sign() != 0 {
			layers = append(layers, fmt.Sprintf("%s: %s", s, v))
		}
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
