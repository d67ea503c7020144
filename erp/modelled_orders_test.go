package erp_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"pgregory.net/rapid"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// balance is the current balance of a sum.
func (b *modelBooks) balance(s sum) *big.Int {
	s.period = forever
	return b.sum(s)
}

// add to a sum in the month of the document.
func (p *modelDocument) add(to sum, value *big.Int) {
	p.sums = append(p.sums, owed{to, p.month, value})
}

// required of each item in all lines.
func (p *modelDocument) required() map[int]int64 {
	required := map[int]int64{}
	for _, l := range p.lines {
		required[l.n] += l.quantity
	}
	return required
}

func inOrder(order *modelDocument, register, resource string, item id.ID) sum {
	return sum{register: register, resource: resource, basis: order, item: item}
}

func reservedOf(warehouse, item id.ID) sum {
	return sum{register: books.Reserves.Name(), resource: "quantity", contract: warehouse, item: item}
}

// free is what there is of an item that is not reserved for others than the document's order.
func (p *modelDocument) free(b *modelBooks, item id.ID) *big.Int {
	free := new(big.Int).Sub(b.at(forever, p.warehouse, item).quantity, b.balance(reservedOf(p.warehouse, item)))
	if order, ordered := p.content.(*modelDocument); ordered {
		free.Add(free, b.balance(inOrder(order, books.CustomerOrders.Name(), "reserved", item)))
	}
	return free
}

func recordCustomerOrder(p *modelDocument, b *modelBooks, items []id.ID) *refusal {
	var short []string
	for n, quantity := range p.required() {
		v := big.NewInt(quantity)
		if p.free(b, items[n]).Cmp(v) < 0 {
			short = append(short, fmt.Sprintf("I%d", n))
		}
		p.add(inOrder(p.self, books.CustomerOrders.Name(), "quantity", items[n]), v)
		p.add(inOrder(p.self, books.CustomerOrders.Name(), "reserved", items[n]), v)
		p.add(reservedOf(p.warehouse, items[n]), v)
	}
	if slices.Sort(short); short != nil {
		return &refusal{controls: []string{"stock"}, short: short}
	}
	p.plan(books.CustomerPlan.Name(), 2)
	return nil
}

func recordSupplierOrder(p *modelDocument, _ *modelBooks, items []id.ID) *refusal {
	for n, quantity := range p.required() {
		p.add(inOrder(p.self, books.SupplierOrders.Name(), "quantity", items[n]), big.NewInt(quantity))
	}
	p.plan(books.SupplierPlan.Name(), 1)
	return nil
}

// plan the payment of an order.
func (p *modelDocument) plan(register string, standard int64) {
	total := new(big.Int)
	for _, l := range p.lines {
		net := l.net(standard)
		total.Add(total, net).Add(total, l.vat(net))
	}
	p.add(sum{register: register, resource: "amount", contract: erptest.Contract(p.o.Counterparty), basis: p.self},
		total)
}

// drawOrdered draws an order of goods that have come, or there would hardly ever be enough.
func drawOrdered(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	f := p.drawGoods(t, h, 2000)
	if came := p.drawPaper(t, h, "goods-receipt", "other-goods-receipt"); came != nil {
		p.warehouse = came.warehouse
		f["warehouse"], f["lines"] = p.warehouse, p.drawLinesOf(t, h, came, p.freeOf(h))
	}
	return f
}

// drawLinesOf draws lines of what another document has, mostly not more of it; of some all that is left, and of some
// the least more than that: what a control just lets pass, and what it just refuses.
func (p *modelDocument) drawLinesOf(t *rapid.T, h *history, other *modelDocument,
	left func(n int) *big.Int) (lines []erptest.Fields) {
	p.lines = nil
	for range 1 + evenly(t, 3, "lines") {
		of := other.lines[evenly(t, len(other.lines), "line")]
		l := line{n: of.n, quantity: rapid.Int64Range(1, of.quantity).Draw(t, "quantity")}
		l.quantity = h.drawAbout(t, l.quantity, left(of.n).Int64()-p.required()[of.n])
		p.lines, lines = append(p.lines, l), append(lines,
			erptest.Fields{"item": h.Items[l.n], "quantity": amount.Quantity(l.quantity)})
	}
	return lines
}

// drawAbout draws all that is left of something, or the least more, instead of some of it.
func (h *history) drawAbout(t *rapid.T, some, left int64) int64 {
	if left <= 0 || h.beginning {
		return some
	}
	switch evenly(t, 4, "how much of it") {
	case 0:
		return left
	case 1:
		return left + 1
	}
	return some
}

// freeOf tells what is free of an item where the document is.
func (p *modelDocument) freeOf(h *history) func(n int) *big.Int {
	return func(n int) *big.Int { return p.free(h.model, h.Items[n]) }
}

// drawByOrder draws a document of goods, every second one by an order, when there is one: mostly of the order's
// warehouse.
func (p *modelDocument) drawByOrder(t *rapid.T, h *history, most int64, kind, register string) erptest.Fields {
	f := p.drawGoods(t, h, most)
	p.content = nil
	if p.drawShelved(t, h, f) || !rapid.Bool().Draw(t, "by order") && h.after == nil {
		return f
	}
	if order := p.drawPaper(t, h, kind); order != nil {
		if evenly(t, 8, "elsewhere") > 0 {
			p.warehouse = order.warehouse
		}
		p.content = order
		f["source_order"], f["warehouse"], f["lines"] = order.id, p.warehouse,
			p.drawLinesOf(t, h, order, func(n int) *big.Int {
				return h.model.balance(inOrder(order, register, "quantity", h.Items[n]))
			})
	}
	return f
}

// drawShelved draws goods that lie in cells, for a document that comes after they were put there.
func (p *modelDocument) drawShelved(t *rapid.T, h *history, f erptest.Fields) bool {
	if h.after == nil || h.after.kind != "warehouse-receipt-order" {
		return false
	}
	p.warehouse = h.after.warehouse
	f["warehouse"], f["lines"] = p.warehouse, p.drawLinesOf(t, h, h.after, p.freeOf(h))
	return true
}

// fulfilOrder takes the lines off the order, if there is one.
func (p *modelDocument) fulfilOrder(b *modelBooks, items []id.ID, register string) *refusal {
	order, ordered := p.content.(*modelDocument)
	switch {
	case !ordered:
		return nil
	case !order.posted:
		return refuse("order")
	case register == books.CustomerOrders.Name() && order.warehouse != p.warehouse:
		return &refusal{}
	}
	for n, quantity := range p.required() {
		v, open := big.NewInt(quantity), inOrder(order, register, "quantity", items[n])
		if b.balance(open).Cmp(v) < 0 {
			return refuse(register)
		}
		p.add(open, new(big.Int).Neg(v))
		reserved := inOrder(order, register, "reserved", items[n])
		if mine := b.balance(reserved); mine.Cmp(v) < 0 {
			v = mine
		}
		p.add(reserved, new(big.Int).Neg(v))
		p.add(reservedOf(p.warehouse, items[n]), new(big.Int).Neg(v))
	}
	return nil
}

func waiting(register string, basis *modelDocument, warehouse, item id.ID) sum {
	return sum{register: register, resource: "quantity", contract: warehouse, basis: basis, item: item}
}

// await what comes to an addressed warehouse, or leaves it.
func (p *modelDocument) await(items []id.ID, register string) {
	if p.warehouse == p.o.Addressed {
		for n, quantity := range p.required() {
			p.add(waiting(register, p.self, p.warehouse, items[n]), big.NewInt(quantity))
		}
	}
}

// carried goods between the floor of an addressed warehouse and its cells, for a document that brought or sold them.
type carried struct {
	basis *modelDocument
	cells []id.ID // of the lines
}

func drawPutAway(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	return p.drawCarried(t, h, books.ToReceive.Name(), "goods-receipt", "other-goods-receipt")
}

func drawPicked(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	return p.drawCarried(t, h, books.ToShip.Name(), "goods-sale", "internal-consumption")
}

func (p *modelDocument) drawCarried(t *rapid.T, h *history, register string, kinds ...string) erptest.Fields {
	addressed := &history{Company: h.Company, after: h.after}
	for _, other := range h.papers {
		if other.warehouse == p.o.Addressed {
			addressed.papers = append(addressed.papers, other)
		}
	}
	basis := p.drawPaper(t, addressed, kinds...)
	if basis == nil {
		return nil
	}
	p.warehouse = p.o.Addressed
	c := carried{basis: basis}
	lines := p.drawLinesOf(t, h, basis, func(n int) *big.Int { // the line's cell is drawn with what limits it
		cell := p.o.Cells[0]
		if !h.beginning {
			cell = p.o.Cells[evenly(t, 4, "cell")/3]
		}
		c.cells = append(c.cells, cell)
		if register == books.ToShip.Name() && rapid.Bool().Draw(t, "of what lies there") {
			return h.model.balance(inCell(p.warehouse, h.Items[n], cell))
		}
		return h.model.balance(waiting(register, basis, p.warehouse, h.Items[n]))
	})
	for i, cell := range c.cells {
		lines[i]["cell"] = cell
	}
	p.content = c
	return erptest.Fields{"basis": basis.id, "warehouse": p.warehouse, "lines": lines}
}

// carry takes the lines off what waits for them.
func (p *modelDocument) carry(b *modelBooks, items []id.ID, register string) *refusal {
	c := p.content.(carried)
	switch {
	case !c.basis.posted:
		return refuse("basis")
	case c.basis.warehouse != p.warehouse:
		return &refusal{}
	}
	for n, quantity := range p.required() {
		v, waits := big.NewInt(quantity), waiting(register, c.basis, p.warehouse, items[n])
		if b.balance(waits).Cmp(v) < 0 {
			return refuse(register)
		}
		p.add(waits, new(big.Int).Neg(v))
	}
	return nil
}

func inCell(warehouse, item, cell id.ID) sum {
	return sum{register: books.Cells.Name(), resource: "quantity", contract: warehouse, item: item, cell: cell}
}

// at the cell of a line.
func (c carried) at(p *modelDocument, line int, items []id.ID) sum {
	return inCell(p.warehouse, items[p.lines[line].n], c.cells[line])
}

func recordPutAway(p *modelDocument, b *modelBooks, items []id.ID) *refusal {
	if no := p.carry(b, items, books.ToReceive.Name()); no != nil {
		return no
	}
	for i, l := range p.lines {
		p.add(p.content.(carried).at(p, i, items), big.NewInt(l.quantity))
	}
	return nil
}

func recordPicked(p *modelDocument, b *modelBooks, items []id.ID) *refusal {
	if no := p.carry(b, items, books.ToShip.Name()); no != nil {
		return no
	}
	taken := map[sum]*big.Int{}
	for i, l := range p.lines {
		from := p.content.(carried).at(p, i, items)
		if taken[from] == nil {
			taken[from] = new(big.Int)
		}
		taken[from].Add(taken[from], big.NewInt(l.quantity))
	}
	for _, from := range slices.Collect(maps.Keys(taken)) {
		if b.balance(from).Cmp(taken[from]) < 0 {
			return refuse("cells")
		}
		p.add(from, new(big.Int).Neg(taken[from]))
	}
	return nil
}
