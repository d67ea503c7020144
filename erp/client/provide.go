package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"plimsoll/erp/operations"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// ErrNoCells means that there is nothing to put into cells or to take out of them, and that nothing can be created.
var ErrNoCells = errors.New("the organisation of the user has no warehouse with cells")

// need of an operation: how much it has to act on, and what creates more.
type need struct {
	there func(k *stock) int
	bring action
}

var needs = map[string]need{
	operations.GoodsSaleChange:     {func(k *stock) int { return k.sales.count() }, postSale},
	operations.GoodsSaleUnpost:     {func(k *stock) int { return k.sales.count() }, postSale},
	operations.GoodsReceiptChange:  {func(k *stock) int { return k.receipts.count() }, postReceipt},
	operations.InvoiceIssuedPost:   {func(k *stock) int { return k.toInvoice.count() }, postServiceSale},
	operations.InvoiceReceivedPost: {func(k *stock) int { return k.toEnter.count() }, postServicePurchase},
	operations.PaymentRequestPost: {func(k *stock) int {
		return k.toRequest.count() + k.ordered.count()
	}, postServicePurchase},
	operations.BankPaymentPost: {func(k *stock) int { return k.toPay.count() }, postPaymentRequest},
}

// stockedLeast is how many documents an operation of an organisation has to act on before users start work: as many as
// may be kept.
const stockedLeast = keptMax

// stockTries bounds the attempts to create each of them: there may be too little of hot items to sell.
const stockTries = 3

// Stock creates documents for operations to act on, as far as the base has too few, so that they have something to act
// on from the start. The first caller does it once for an organisation. If the mix creates fewer than it uses, it
// creates as many more as n operations lack (operations.Lack). A remaining shortage is not an error: an operation with
// nothing to act on reports it.
func (c *Client) Stock(ctx context.Context, s *Session, mix map[string]float64, n float64, rng *rand.Rand) error {
	if !s.directory.stocked.CompareAndSwap(false, true) {
		return nil
	}
	for range 2 { // what is created for one operation may use up what another one acts on
		for _, operation := range slices.Sorted(maps.Keys(mix)) {
			if mix[operation] <= 0 {
				continue
			}
			most := min(waitingMax, max(stockedLeast, operations.Lack(operation, mix, n)))
			if more, err := c.stockFor(ctx, s, operation, most, rng); !more {
				return err
			}
		}
	}
	for _, operation := range []string{operations.WarehouseReceiptOrderPost, operations.WarehouseIssueOrderPost} {
		if lack := operations.Lack(operation, mix, n); lack > 0 {
			if more, err := c.stockCells(ctx, s, operation, min(waitingMax, lack), rng); !more {
				return err
			}
		}
	}
	return nil
}

// stockFor one operation; false ends it, without an error if the worker is overloaded.
func (c *Client) stockFor(ctx context.Context, s *Session, operation string, most int, rng *rand.Rand) (more bool,
	err error) {
	n, some := needs[operation]
	for tries := 0; some && n.there(&s.directory.stock) < most && tries < stockTries*most; tries++ {
		switch outcome, err := n.bring(c, ctx, s, rng); outcome {
		case Overloaded:
			return false, nil
		case Failed:
			return false, fmt.Errorf("create documents for %s to act on: %w", operation, err)
		}
	}
	return true, nil
}

// provideTries bounds the attempts to create what an operation needs: there may be too little of a few hot items to
// sell.
const provideTries = 10

// Provide creates what an operation of the session would act on, if nothing is left. Under load such an operation does
// its predecessor instead, as people do; a caller who wants exactly this operation provides for it first. The asset
// commissioned last is taken out of use again, so that assets last.
func (c *Client) Provide(ctx context.Context, s *Session, operation string, rng *rand.Rand) error {
	switch operation {
	case operations.WarehouseReceiptOrderPost:
		return c.provideToReceive(ctx, s, rng)
	case operations.WarehouseIssueOrderPost:
		return c.provideToShip(ctx, s, rng)
	case operations.AssetCommissioningPost:
		return c.takeOutOfUse(ctx, s, rng)
	}
	n, some := needs[operation]
	for range provideTries {
		if !some || n.there(&s.directory.stock) > 0 {
			return nil
		}
		if outcome, err := n.bring(c, ctx, s, rng); outcome > Refused {
			return err
		}
	}
	return fmt.Errorf("there is nothing for %s to act on, and %d attempts to create it failed", operation, provideTries)
}

// hasWork reports whether a work list has something to act on. Without an answer nothing is to be provided: true.
func (c *Client) hasWork(ctx context.Context, s *Session, list string, fits func(toCarry) bool,
	rng *rand.Rand) (bool, error) {
	rows, outcome, err := c.workList(ctx, s, list, "")
	if outcome != OK {
		return true, err
	}
	_, found := c.one(s, rows, rng, fits)
	return found, nil
}

// provideToReceive buys goods for a warehouse with cells, if none wait for their cells.
func (c *Client) provideToReceive(ctx context.Context, s *Session, rng *rand.Rand) error {
	if some, err := c.hasWork(ctx, s, "to-receive", inReach, rng); some || err != nil {
		return err
	}
	brought, err := c.bringToCells(ctx, s, rng)
	c.provided.take(brought.document)
	return err
}

// provideToShip buys goods, puts them into cells and sells them, if none in cells wait to be shipped.
func (c *Client) provideToShip(ctx context.Context, s *Session, rng *rand.Rand) error {
	if some, err := c.hasWork(ctx, s, "to-ship", inCell, rng); some || err != nil {
		return err
	}
	lines, err := c.fillCells(ctx, s, rng)
	if err != nil {
		return err
	}
	b := lines[0].Warehouse.AppendText(append(s.deal(s.directory.customers, rng), `,"warehouse":"`...))
	b = lines[0].Item.AppendText(append(b, `","lines":[{"item":"`...))
	sold, outcome, err := c.made(ctx, s, "goods-sale", append(b, `","quantity":"1"}]}`...), rng)
	if outcome != OK {
		return refusedToo(err)
	}
	c.provided.take(sold)
	return nil
}

// fillCells buys goods and puts them into cells.
func (c *Client) fillCells(ctx context.Context, s *Session, rng *rand.Rand) ([]toCarry, error) {
	brought, err := c.bringToCells(ctx, s, rng)
	if err != nil {
		return nil, err
	}
	rows, outcome, err := c.workList(ctx, s, "to-receive",
		fmt.Sprintf("warehouse=%s&limit=%d", brought.warehouse, workListMax))
	if outcome != OK {
		return nil, err
	}
	lines := ofOne(rows, brought.document, inReach)
	if lines == nil {
		return nil, errors.New("the goods just received are missing from the list of goods to put into cells")
	}
	if _, outcome, err = c.made(ctx, s, "warehouse-receipt-order", warehouseOrderJSON(lines,
		func(row toCarry) amount.Quantity {
			return row.Quantity
		}), rng); outcome != OK {
		return nil, refusedToo(err)
	}
	return lines, nil
}

// workListMax rows of a work list hold everything that waits in a warehouse.
const workListMax = 10_000

// arrival of goods.
type arrival struct{ document, warehouse id.ID }

// bringToCells posts a receipt at a warehouse with cells.
func (c *Client) bringToCells(ctx context.Context, s *Session, rng *rand.Rand) (a arrival, err error) {
	var found struct {
		Items []struct {
			ID        id.ID
			Addressed bool
		}
	}
	if err := c.fetch(ctx, s, "/v1/catalogs/warehouses", "limit=1000", &found); err != nil {
		return a, err
	}
	for _, w := range found.Items {
		if w.Addressed {
			a.warehouse = w.ID
		}
	}
	if a.warehouse.IsZero() {
		return a, ErrNoCells
	}
	session := *s
	session.directory = &directory{office: s.directory.office, warehouse: a.warehouse, items: s.directory.items}
	document, outcome, err := c.made(ctx, s, "goods-receipt", session.receipt(rng), rng)
	a.document = document
	if outcome != OK {
		err = refusedToo(err)
	}
	return a, err
}

// errMadeRefused means that a control refused the document that was to be created.
var errMadeRefused = errors.New("a control refused the document that was to be created")

// refusedToo turns a refusal into an error.
func refusedToo(err error) error {
	if err == nil {
		err = errMadeRefused
	}
	return err
}

// takeOutOfUse unposts the last commissioning of an asset, so that it is the next one again. If its goods have been
// shipped meanwhile, it stays, and another asset comes next.
func (c *Client) takeOutOfUse(ctx context.Context, s *Session, rng *rand.Rand) error {
	k := &s.directory.stock
	last, known := k.toCommission.forget()
	if !known {
		return nil
	}
	outcome, err := c.setPosted(ctx, s, "/v1/documents/asset-commissioning/"+last.document.String()+"/unpost", false)
	if outcome == OK {
		k.toCommission.put(commissioned{asset: last.asset})
	}
	return err
}
