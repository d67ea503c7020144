package client

import (
	"context"
	"errors"
	"math/rand/v2"
)

// postInvoice of a sale that waits for one; of some again, which must be refused. When none waits, services are sold.
func postInvoice(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	again, _ := d.handed.there()
	if rng.Float64() < c.options.RefusedShare && again != (under{}) {
		_, outcome, err := c.made(ctx, s, "invoice-issued", append(again.invoice(), '}'), rng)
		if outcome == OK {
			return Failed, errors.New("a second invoice of a sale was issued: the control did not refuse")
		}
		return outcome, err
	}
	sale, found := d.handed.invoice()
	if !found {
		return postServiceSale(c, ctx, s, rng)
	}
	_, outcome, err := c.made(ctx, s, "invoice-issued", append(sale.invoice(), '}'), rng)
	if outcome == OK {
		d.handed.remember(sale, "")
	}
	return outcome, err
}
