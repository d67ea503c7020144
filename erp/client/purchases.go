package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"

	"plimsoll/erp/operations"
	"plimsoll/erp/skew"
	"plimsoll/platform/data/amount"
)

// foundLines is the most lines of found goods.
const foundLines = 4

// postOtherReceipt of found goods; some have no cost, and must be refused.
func postOtherReceipt(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d, costless := s.directory, rng.Float64() < c.options.RefusedShare
	b := append(d.warehouse.AppendText(append(make([]byte, 0, 512), `{"warehouse":"`...)), `","lines":[`...)
	for n := range 1 + rng.IntN(foundLines) {
		if n > 0 {
			b = append(b, ',')
		}
		quantity, price := amount.Quantity(1000*(1+rng.IntN(receiptUnitsLeast))), ``
		if costless {
			quantity, price = 1, `","price":"0.01`
		}
		b = d.items[skew.Pick(rng, len(d.items), skew.Strong)].AppendText(append(b, `{"item":"`...))
		b = append(append(quantity.AppendText(append(b, `","quantity":"`...)), price...), `"}`...)
	}
	_, outcome, err := c.made(ctx, s, "other-goods-receipt", append(b, "]}"...), rng)
	if costless && outcome == OK {
		return Failed, errors.New("goods were received without a cost: the cost control did not refuse")
	}
	return outcome, err
}

// postServicePurchase for a department; some are entered twice, and must be refused.
func postServicePurchase(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	body, twice := d.stock.numbered.lastDealt()
	if twice = twice && rng.Float64() < c.options.RefusedShare; !twice {
		body = s.services(c.reference(rng), rng)
	}
	made, outcome, err := c.made(ctx, s, "service-purchase", body, rng)
	switch {
	case outcome == OK && twice:
		return Failed, errors.New("a supplier's number was accepted twice: the control did not refuse")
	case outcome == OK:
		d.stock.numbered.done(body)
		d.stock.buy(purchase{"service-purchase", underContract(made, body)})
	}
	return outcome, err
}

// services of a supplier for a department, with the supplier's number.
func (s *Session) services(number string, rng *rand.Rand) []byte {
	d := s.directory
	b := append(append(append(s.deal(d.suppliers, rng), `,"supplier_number":"`...), number...), `","department":"`...)
	b = d.departments[skew.Pick(rng, len(d.departments), skew.Mild)].AppendText(b)
	b = d.expenseItems[rng.IntN(len(d.expenseItems))].AppendText(append(b, `","expense_item":"`...))
	b = d.services[skew.Pick(rng, len(d.services), skew.Mild)].AppendText(append(b, `","lines":[{"service":"`...))
	b = amount.Quantity(1000 * (1 + rng.IntN(5))).AppendText(append(b, `","quantity":"`...))
	return append(b, `"}]}`...)
}

// reference that nobody else uses: the end of the run's id, and randomness.
func (c *Client) reference(rng *rand.Rand) string {
	b := strconv.AppendUint(append([]byte(c.run[len(c.run)-8:]), '-'), rng.Uint64(), 36)
	return string(strconv.AppendUint(append(b, '-'), rng.Uint64(), 36))
}

// postInvoiceReceived for a purchase that waits for one; for some a second time, which must be refused. If none waits,
// it buys services.
func postInvoiceReceived(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	outcome, found, err := invoiceOnce(c, ctx, s, &s.directory.stock.toEnter, "invoice-received",
		func(p purchase) []byte {
			b := append(append(p.invoice(), `,"invoice_number":"`...), c.reference(rng)...)
			return append(b, `"}`...)
		}, rng)
	if !found {
		return c.instead(ctx, s, operations.InvoiceReceivedPost, rng)
	}
	return outcome, err
}

// postCommissioning of the next asset, taken from stock; of some a second time, which must be refused. If all are in
// use, what is taken from stock is used up.
func postCommissioning(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	k := &d.stock.toCommission
	one, again := k.lastDealt()
	if again = again && rng.Float64() < c.options.RefusedShare; !again {
		var found bool
		if one, found = k.take(); !found {
			return c.instead(ctx, s, operations.AssetCommissioningPost, rng)
		}
	}
	b := one.asset.AppendText(append(make([]byte, 0, 256), `{"asset":"`...))
	b = d.warehouse.AppendText(append(b, `","warehouse":"`...))
	b = d.items[skew.Pick(rng, len(d.items), skew.Strong)].AppendText(append(b, `","lines":[{"item":"`...))
	made, outcome, err := c.made(ctx, s, "asset-commissioning", append(b, `","quantity":"1"}]}`...), rng)
	switch {
	case outcome == OK && again:
		return Failed, errors.New("an asset was commissioned twice: the control did not refuse")
	case !again:
		k.ended(commissioned{one.asset, made}, outcome)
	}
	return outcome, err
}
