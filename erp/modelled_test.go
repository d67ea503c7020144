package erp_test

import (
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// modelled is a type of document of the model: how its content is drawn (nil when there can be none yet), and what it
// does to the books.
var modelled = map[string]struct {
	draw   func(p *modelDocument, t *rapid.T, h *history) erptest.Fields
	record func(p *modelDocument, b *modelBooks, items []id.ID) *refusal
}{
	"goods-receipt": {func(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
		return p.drawByOrder(t, h, 5000, "supplier-order", books.SupplierOrders.Name())
	}, recordReceipt},
	"goods-sale": {func(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
		return p.drawByOrder(t, h, 1500, "customer-order", books.CustomerOrders.Name())
	}, recordSale},
	"customer-order": {drawOrdered, recordCustomerOrder},
	"supplier-order": {func(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
		return p.drawGoods(t, h, 5000)
	}, recordSupplierOrder},
	"warehouse-receipt-order": {drawPutAway, recordPutAway},
	"warehouse-issue-order":   {drawPicked, recordPicked},
	"other-goods-receipt":     {drawFound, recordFound},
	"service-purchase":        {drawBought, recordBought},
	"service-sale":            {drawServices, recordServices},
	"invoice-issued":          {drawInvoice, recordInvoice},
	"invoice-received":        {drawReceived, recordReceived},
	"payment-request":         {drawRequest, recordRequest},
	"bank-payment":            {drawPaid, recordPaid},
	"asset-commissioning":     {drawCommissioned, recordCommissioned},
	"bank-receipt":            {drawPayment, recordPayment},
	"internal-consumption":    {drawConsumption, recordConsumption},
	"settlement-registrar":    {drawClaims, recordClaims},
}

// kinds of the history: goods come and go as often as everything else together, and are ordered and carried more
// often than the rest.
var kinds []string

func init() { // the model refers to itself
	kinds = slices.Sorted(maps.Keys(modelled))
	for range len(modelled) / 2 {
		kinds = append(kinds, "goods-receipt", "goods-sale")
	}
	kinds = append(kinds, "customer-order", "customer-order", "customer-order", "supplier-order", "supplier-order",
		"warehouse-receipt-order", "warehouse-receipt-order", "warehouse-issue-order", "warehouse-issue-order")
}

// sequels of a document: the types of what is made of it, or once more of what it was made of. Two of three documents
// come after a late one, or long chains as a receipt, its goods in their cells, their sale, and their way out of the
// cells would be rare.
var sequels = map[string][]string{
	"goods-receipt": {"warehouse-receipt-order", "warehouse-receipt-order", "customer-order", "goods-sale",
		"invoice-received", "goods-receipt"},
	"other-goods-receipt":     {"warehouse-receipt-order", "customer-order"},
	"warehouse-receipt-order": {"goods-sale", "goods-sale", "internal-consumption", "warehouse-receipt-order"},
	"customer-order":          {"goods-sale"},
	"supplier-order":          {"goods-receipt", "payment-request"},
	"goods-sale":              {"warehouse-issue-order", "warehouse-issue-order", "invoice-issued", "goods-sale"},
	"internal-consumption":    {"warehouse-issue-order"},
	"warehouse-issue-order":   {"warehouse-issue-order"},
	"service-purchase":        {"asset-commissioning", "payment-request", "invoice-received"},
	"service-sale":            {"invoice-issued"},
	"invoice-issued":          {"invoice-issued", "service-sale"},
	"invoice-received":        {"invoice-received"},
	"bank-receipt":            {"bank-receipt", "payment-request", "bank-payment", "invoice-issued"},
	"payment-request":         {"bank-payment", "payment-request"},
	"bank-payment":            {"bank-payment", "invoice-received"},
	"asset-commissioning":     {"service-purchase", "asset-commissioning"},
}

const late = 3

// beginnings of histories, each document made of the one before it if it can be, or once more of what that one was
// made of: goods come in large quantities, into cells and out of them, or are ordered; purchases are paid, or become
// an asset. From nothing, few histories would come to what controls refuse.
var beginnings = [][]string{
	nil,
	{"goods-receipt", "warehouse-receipt-order", "warehouse-receipt-order", "goods-sale", "warehouse-issue-order",
		"warehouse-issue-order"},
	{"other-goods-receipt", "warehouse-receipt-order", "internal-consumption", "warehouse-issue-order"},
	{"supplier-order", "goods-receipt", "customer-order", "goods-sale", "goods-sale", "invoice-issued",
		"invoice-issued"},
	{"service-sale", "invoice-issued", "invoice-issued", "bank-receipt", "bank-receipt", "bank-receipt",
		"settlement-registrar"},
	{"service-purchase", "invoice-received", "goods-receipt", "invoice-received", "invoice-received", "payment-request",
		"payment-request", "bank-receipt", "bank-payment"},
	{"bank-receipt", "invoice-issued", "invoice-issued", "service-sale", "invoice-issued", "service-sale",
		"invoice-issued"},
	{"bank-receipt", "payment-request", "bank-payment", "invoice-received", "invoice-received", "service-purchase",
		"invoice-received"},
	{"bank-receipt", "service-purchase", "asset-commissioning", "service-purchase", "asset-commissioning",
		"payment-request", "bank-payment", "bank-payment"},
}

// large is how much more comes in the beginning than later.
const large = 10

func (h *history) begin(t *testing.T, rt *rapid.T) {
	chain := beginnings[evenly(rt, len(beginnings), "beginning")]
	if chain == nil {
		return
	}
	if rapid.Bool().Draw(rt, "in part") {
		chain = chain[:2+evenly(rt, len(chain)-2, "links")]
	}
	for _, kind := range chain {
		if h.after = nil; len(h.papers) > 0 {
			h.after = h.papers[len(h.papers)-1]
		}
		h.beginning = h.after == nil || h.after.kind != kind
		h.write(t, rt, 0, kind, true)
	}
	h.beginning = false
	if rapid.Bool().Draw(rt, "unposted") { // from the first on, which keep what the later ones have
		for _, p := range h.papers {
			h.bring(t, rt, p, h.user(rt, 0), "unpost", false)
		}
	}
}

// made of what other paper a document is; nil when it is of none.
func (p *modelDocument) made() *modelDocument {
	switch content := p.content.(type) {
	case invoicing:
		return content.basis
	case carried:
		return content.basis
	case received:
		return content.basis
	case asked:
		return content.basis
	case paidOut:
		return content.request
	}
	return nil
}

func (h *history) drawKind(t *rapid.T, o erptest.Organisation) string {
	h.after = nil
	if len(h.papers) > 0 && evenly(t, 3, "after another") > 0 {
		of := h.papers[len(h.papers)-1-evenly(t, min(late, len(h.papers)), "before")]
		if next := sequels[of.kind]; next != nil && of.o.ID == o.ID {
			h.after = of
			return next[evenly(t, len(next), "sequel")]
		}
	}
	return kinds[evenly(t, len(kinds), "kind")]
}

func (p *modelDocument) deal() erptest.Fields {
	return erptest.Fields{"counterparty": p.o.Counterparty, "contract": erptest.Contract(p.o.Counterparty)}
}

func (p *modelDocument) drawGoods(t *rapid.T, h *history, most int64) erptest.Fields {
	f, least := p.deal(), int64(1)
	if h.beginning {
		least, most = most, large*most
	}
	f["warehouse"], f["lines"] = p.drawWarehouse(t, h), p.drawLines(t, h.Items, "item", least, most, true)
	return f
}

func (p *modelDocument) drawWarehouse(t *rapid.T, h *history) id.ID {
	if h.beginning {
		p.warehouse = p.o.Addressed
		return p.warehouse
	}
	p.warehouse = []id.ID{p.o.Warehouses[0], p.o.Warehouses[0], p.o.Addressed, p.o.Addressed,
		p.o.Warehouses[1]}[evenly(t, 5, "warehouse")]
	return p.warehouse
}

// drawLines of things, of which the first are drawn more often.
func (p *modelDocument) drawLines(t *rapid.T, things []id.ID, name string, least, most int64,
	priced bool) (lines []erptest.Fields) {
	p.lines = nil
	for range 1 + evenly(t, 4, "lines") {
		l := line{n: evenly(t, 8, name) % 5 % len(things), quantity: rapid.Int64Range(least, most).Draw(t, "quantity")}
		f := erptest.Fields{name: things[l.n], "quantity": amount.Quantity(l.quantity)}
		if priced {
			l.price = rapid.Int64Range(0, 1000).Draw(t, "price")
			f["price"] = amount.Money(l.price)
		}
		p.lines, lines = append(p.lines, l), append(lines, f)
	}
	return lines
}

func drawServices(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	f := p.deal()
	f["lines"] = p.drawLines(t, h.Services[:], "service", 1, 3000, true)
	return f
}

func recordServices(p *modelDocument, _ *modelBooks, _ []id.ID) *refusal {
	for _, l := range p.lines {
		net := l.net(10)
		p.entries = append(p.entries, entry{p.month, p.at("62"), "90", new(big.Int).Add(net, l.vat(net))},
			entry{p.month, "90", "68", l.vat(net)})
		p.charge(books.CustomerSettlements.Name(), books.OutputVAT.Name(), l, net)
	}
	return nil
}

// drawFound goods, which come to something, or they would be refused.
func drawFound(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	most := int64(5000)
	if h.beginning {
		most *= large
	}
	return erptest.Fields{"warehouse": p.drawWarehouse(t, h),
		"lines": p.drawLines(t, h.Items, "item", 1000, most, true)}
}

func recordFound(p *modelDocument, _ *modelBooks, items []id.ID) *refusal {
	p.await(items, books.ToReceive.Name())
	for i, l := range p.lines {
		net := l.net(1)
		p.moves = append(p.moves, move{p.month, layer{p.warehouse, items[l.n], p.self, i + 1}, big.NewInt(l.quantity),
			net})
		p.entries = append(p.entries, entry{p.month, p.at("41"), "91", net})
	}
	return nil
}

// other posted document of the type and organisation that is so.
func (b *modelBooks) other(p *modelDocument, so func(other *modelDocument) bool) bool {
	return slices.ContainsFunc(b.papers, func(other *modelDocument) bool {
		return other.kind == p.kind && other != p.self && other.posted && other.o.ID == p.o.ID && so(other)
	})
}

type payment struct {
	sum       int64
	reference string
}

func drawPayment(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	least := int64(1)
	if h.beginning {
		least = 10_000
	}
	paid := payment{rapid.Int64Range(least, 100_000).Draw(t, "sum"), h.drawReference(t)}
	p.content = paid
	f := p.deal()
	f["cash_account"], f["amount"], f["bank_reference"] = p.o.Bank, amount.Money(paid.sum), paid.reference
	return f
}

func recordPayment(p *modelDocument, b *modelBooks, _ []id.ID) *refusal {
	paid := p.content.(payment)
	v := big.NewInt(paid.sum)
	p.sums = append(p.sums, owed{sum{register: books.Cash.Name(), resource: "amount", contract: p.o.Bank}, p.month, v},
		owed{p.asPayment(), p.month, v})
	p.sums = append(p.sums, owed{sum{register: books.CustomerSettlements.Name(), resource: "amount",
		contract: erptest.Contract(p.o.Counterparty)}, p.month, new(big.Int).Neg(v)})
	p.entries = append(p.entries, entry{p.month, p.at("51"), p.at("62"), v})
	if b.named(p, paid.reference) {
		return refuseStated("bank_references")
	}
	return nil
}

func drawConsumption(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	f := erptest.Fields{"warehouse": p.drawWarehouse(t, h), "department": p.o.Department,
		"expense_item": p.o.ExpenseItem, "lines": p.drawLines(t, h.Items, "item", 1, 1500, false)}
	p.drawShelved(t, h, f)
	return f
}

func recordConsumption(p *modelDocument, b *modelBooks, items []id.ID) *refusal {
	p.await(items, books.ToShip.Name())
	costs, no := p.take(b, items)
	for _, cost := range costs {
		p.entries = append(p.entries, entry{p.month, p.at("26"), p.at("41"), cost})
	}
	return no
}

type claimed struct {
	supplier bool
	value    int64 // of a debit; a credit is below zero
}

func drawClaims(p *modelDocument, t *rapid.T, _ *history) erptest.Fields {
	var all []claimed
	var lines []erptest.Fields
	left := int64(0)
	add := func(v int64) {
		c := claimed{rapid.Bool().Draw(t, "supplier"), v}
		side := "debit"
		if v < 0 {
			side = "credit"
		}
		all, lines = append(all, c), append(lines, erptest.Fields{"contract": erptest.Contract(p.o.Counterparty),
			"supplier": c.supplier, side: amount.Money(max(v, -v)).String()})
		left += v
	}
	for range 1 + evenly(t, 4, "claims") {
		add(int64(2*evenly(t, 2, "side")-1) * rapid.Int64Range(1, 10_000).Draw(t, "sum"))
	}
	if left == 0 || evenly(t, 3, "unequal") == 0 {
		add(1 - 2*rapid.Int64Range(0, 1).Draw(t, "more"))
	} else {
		add(-left)
	}
	p.content = all
	return erptest.Fields{"lines": lines}
}

func recordClaims(p *modelDocument, _ *modelBooks, _ []id.ID) *refusal {
	left := int64(0)
	for _, c := range p.content.([]claimed) {
		left += c.value
		register, account, v := books.CustomerSettlements.Name(), "62", big.NewInt(c.value)
		if c.supplier { // we owe less by a debit
			register, account, v = books.SupplierSettlements.Name(), "60", big.NewInt(-c.value)
		}
		p.entries = append(p.entries, entry{p.month, p.at(account), "between", big.NewInt(c.value)})
		p.sums = append(p.sums, owed{sum{register: register, resource: "amount",
			contract: erptest.Contract(p.o.Counterparty)}, p.month, v})
	}
	if left != 0 {
		return refuse("total")
	}
	return nil
}
