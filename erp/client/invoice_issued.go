package client

import (
	"context"
	"errors"
	"math/rand/v2"

	"plimsoll/erp/operations"
)

// postInvoice for a sale that waits for one; for some a second time, which must be refused. If none waits, it sells
// services.
func postInvoice(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	waiting := &s.directory.stock.toInvoice
	sale, again := waiting.lastDealt()
	if again = again && rng.Float64() < c.options.RefusedShare; !again {
		var found bool
		if sale, found = waiting.take(); !found {
			return c.instead(ctx, s, operations.ServiceSalePost, postServiceSale, rng)
		}
	}
	_, outcome, err := c.made(ctx, s, "invoice-issued", append(sale.invoice(), '}'), rng)
	if again {
		if outcome == OK {
			return Failed, errors.New("a second invoice of a sale was issued: the control did not refuse")
		}
		return outcome, err
	}
	waiting.ended(sale, outcome)
	return outcome, err
}
