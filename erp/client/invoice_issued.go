package client

import (
	"context"
	"fmt"
	"math/rand/v2"

	"plimsoll/erp/operations"
)

// postInvoice for a sale that waits for one; for some a second time, which must be refused. If none waits, it sells
// services.
func postInvoice(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	outcome, found, err := invoiceOnce(c, ctx, s, &s.directory.stock.toInvoice, "invoice-issued",
		func(sale under) []byte { return append(sale.invoice(), '}') }, rng)
	if !found {
		return c.instead(ctx, s, operations.InvoiceIssuedPost, rng)
	}
	return outcome, err
}

// invoiceOnce posts the invoice of a document that waits for one, or for some a second one, which must be refused. It
// returns false if no document waits.
func invoiceOnce[T any](c *Client, ctx context.Context, s *Session, waiting *waiting[T], documentType string,
	body func(T) []byte, rng *rand.Rand) (outcome Outcome, found bool, err error) {
	basis, again := waiting.lastDealt()
	if again = again && rng.Float64() < c.options.RefusedShare; !again {
		if basis, found = waiting.take(); !found {
			return outcome, false, nil
		}
	}
	_, outcome, err = c.made(ctx, s, documentType, body(basis), rng)
	switch {
	case again && outcome == OK:
		return Failed, true, fmt.Errorf("a second %s was posted: the control did not refuse", documentType)
	case !again:
		waiting.ended(basis, outcome)
	}
	return outcome, true, err
}
