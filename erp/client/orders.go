package client

import (
	"context"
	"math/rand/v2"
)

// orderLines and orderUnits: orders are small, so that their reserves leave something to sell.
const (
	orderLines = 3
	orderUnits = 2
)

func postCustomerOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	body := s.document(s.directory.customers, 1+rng.IntN(orderLines), rng, func(int) int {
		return 1 + rng.IntN(orderUnits)
	})
	return c.post(ctx, s, "customer-order", body, rng)
}

func postSupplierOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	lines := receiptLinesLeast + rng.IntN(receiptLinesSpread)
	body := s.document(s.directory.suppliers, lines, rng, func(int) int {
		return receiptUnitsLeast + rng.IntN(receiptUnitsSpread)
	})
	return c.post(ctx, s, "supplier-order", body, rng)
}
