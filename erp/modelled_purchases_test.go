package erp_test

import (
	"fmt"
	"math/big"
	"slices"

	"pgregory.net/rapid"

	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// drawBought services for a department, or for an asset.
func drawBought(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	f := p.deal()
	f["lines"] = p.drawLines(t, h.Services[:], "service", 1, 3000, true)
	if p.content = nil; evenly(t, 3, "for an asset") == 0 || h.beginning {
		p.content = p.drawAsset(t, h)
		f["asset"] = p.content
	} else {
		f["department"], f["expense_item"] = p.o.Department, p.o.ExpenseItem
	}
	return f
}

// drawAsset draws the asset of the document that this one comes after, if it has one.
func (p *modelDocument) drawAsset(t *rapid.T, h *history) id.ID {
	if h.after != nil {
		if asset, same := h.after.content.(id.ID); same {
			return asset
		}
	}
	return p.o.Assets[evenly(t, 3, "asset")/2]
}

func recordBought(p *modelDocument, _ *modelBooks, _ []id.ID) *refusal {
	for _, l := range p.lines {
		net, on := l.net(5), p.at("26")
		if asset, capital := p.content.(id.ID); capital {
			on = "08 " + asset.String()
			p.sums = append(p.sums, owed{sum{register: books.Investments.Name(), resource: "amount", contract: asset},
				p.month,
				net})
		}
		p.entries = append(p.entries, entry{p.month, on, p.at("60"), net},
			entry{p.month, p.at("19"), p.at("60"), l.vat(net)})
		p.charge(books.SupplierSettlements.Name(), books.InputVAT.Name(), l, net)
	}
	return nil
}

// drawPaper of one of these types, of the organisation, posted or not: the one that this document comes after, or
// what that one was made of, if it is of them; nil when there is none.
func (p *modelDocument) drawPaper(t *rapid.T, h *history, kinds ...string) (drawn *modelDocument) {
	var all []*modelDocument
	for _, other := range h.papers {
		for _, kind := range kinds {
			if other.kind == kind && other.o.ID == p.o.ID {
				all = append(all, other)
			}
		}
	}
	switch {
	case all == nil:
		return nil
	case slices.Contains(all, h.after):
		return h.after
	case h.after != nil && slices.Contains(all, h.after.made()):
		return h.after.made()
	}
	return all[evenly(t, len(all), "basis")]
}

// drawNumber draws an invoice's number, of some one that is there.
func (h *history) drawNumber(t *rapid.T) string {
	var present []string
	for _, p := range h.papers {
		if r, is := p.content.(received); is {
			present = append(present, r.number)
		}
	}
	return drawAgain(t, present, "F")
}

// drawReference draws a bank's reference, of some payments one that is there.
func (h *history) drawReference(t *rapid.T) string {
	var present []string
	for _, p := range h.papers {
		switch paid := p.content.(type) {
		case payment:
			present = append(present, paid.reference)
		case paidOut:
			present = append(present, paid.reference)
		}
	}
	return drawAgain(t, present, "B")
}

func drawAgain(t *rapid.T, there []string, prefix string) string {
	if len(there) > 0 && rapid.Bool().Draw(t, "again") {
		return there[evenly(t, len(there), "which")]
	}
	return fmt.Sprintf("%s-%d", prefix, evenly(t, 100, "number"))
}

type asked struct {
	basis *modelDocument // nil for a payment ahead
	sum   int64
}

func drawRequest(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	a := asked{sum: rapid.Int64Range(1, 3000).Draw(t, "sum")}
	f := p.deal()
	if rapid.Bool().Draw(t, "of a purchase") || h.after != nil {
		if a.basis = p.drawPaper(t, h, "goods-receipt", "service-purchase", "supplier-order"); a.basis != nil {
			f["basis"] = a.basis.id
		}
	}
	p.content = a
	f["amount"] = amount.Money(a.sum)
	return f
}

func recordRequest(p *modelDocument, b *modelBooks, _ []id.ID) *refusal {
	a := p.content.(asked)
	if a.basis != nil {
		if !a.basis.posted {
			return refuse("basis")
		}
		total := new(big.Int)
		for _, o := range a.basis.sums {
			if o.to.register == books.SupplierSettlements.Name() || o.to.register == books.SupplierPlan.Name() {
				total.Add(total, o.value)
			}
		}
		if total.Cmp(big.NewInt(a.sum)) < 0 {
			return refuse("payment_limit")
		}
		if b.other(p, func(other *modelDocument) bool { return other.content.(asked).basis == a.basis }) {
			return refuse("payment_requests")
		}
	}
	p.sums = append(p.sums, owed{planned(p.self), p.month, big.NewInt(a.sum)})
	return nil
}

func planned(request *modelDocument) sum {
	return sum{register: books.PaymentPlan.Name(), resource: "amount",
		contract: erptest.Contract(request.o.Counterparty),
		basis:    request}
}

type paidOut struct {
	payment
	request *modelDocument
}

func drawPaid(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	request := p.drawPaper(t, h, "payment-request")
	if request == nil {
		return nil
	}
	left, some := h.model.balance(planned(request)).Int64(), rapid.Int64Range(1, 3000).Draw(t, "sum")
	if h.beginning && left > 0 {
		some = min(some, left)
	}
	paid := paidOut{payment{h.drawAbout(t, some, left), h.drawReference(t)}, request}
	p.content = paid
	f := p.deal()
	f["cash_account"], f["amount"], f["bank_reference"], f["request"] = p.o.Bank, amount.Money(paid.sum),
		paid.reference, request.id
	return f
}

func recordPaid(p *modelDocument, b *modelBooks, _ []id.ID) *refusal {
	paid := p.content.(paidOut)
	v := big.NewInt(paid.sum)
	plan := planned(paid.request)
	cash := sum{register: books.Cash.Name(), resource: "amount", contract: p.o.Bank}
	switch {
	case !paid.request.posted:
		return refuse("approved")
	case b.balance(plan).Cmp(v) < 0:
		return refuse("payment_plan")
	case b.balance(cash).Cmp(v) < 0:
		return refuse("cash")
	}
	less := new(big.Int).Neg(v)
	p.sums = append(p.sums, owed{plan, p.month, less}, owed{cash, p.month, less}, owed{p.asPayment(), p.month, v},
		owed{sum{register: books.SupplierSettlements.Name(), resource: "amount",
			contract: erptest.Contract(p.o.Counterparty)},
			p.month, less})
	p.entries = append(p.entries, entry{p.month, p.at("60"), p.at("51"), v})
	if b.named(p, paid.reference) {
		return refuseStated("bank_references")
	}
	return nil
}

// named reports whether another payment, in or out, has the bank's reference.
func (b *modelBooks) named(p *modelDocument, reference string) bool {
	for _, other := range b.papers {
		if other == p.self || !other.posted || other.o.ID != p.o.ID {
			continue
		}
		switch content := other.content.(type) {
		case payment:
			if content.reference == reference {
				return true
			}
		case paidOut:
			if content.reference == reference {
				return true
			}
		}
	}
	return false
}

// drawCommissioned is an asset, at what has been invested in it.
func drawCommissioned(p *modelDocument, t *rapid.T, h *history) erptest.Fields {
	p.content = p.drawAsset(t, h)
	return erptest.Fields{"asset": p.content, "department": p.o.Department}
}

func recordCommissioned(p *modelDocument, b *modelBooks, _ []id.ID) *refusal {
	asset := p.content.(id.ID)
	invested := sum{register: books.Investments.Name(), resource: "amount", contract: asset}
	cost := new(big.Int).Set(b.balance(invested))
	switch {
	case cost.Sign() == 0:
		return refuse("cost")
	case b.other(p, func(other *modelDocument) bool { return other.content == p.content }):
		return refuse("asset_states")
	}
	p.sums = append(p.sums, owed{invested, p.month, new(big.Int).Neg(cost)},
		owed{sum{register: books.AssetCosts.Name(), resource: "amount", contract: asset}, p.month, cost})
	p.entries = append(p.entries, entry{p.month, "01 " + asset.String(), "08 " + asset.String(), cost})
	return nil
}
