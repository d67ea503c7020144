package client

import (
	"context"
	"math/rand/v2"

	"plimsoll/erp/operations"
	"plimsoll/platform/amount"
)

// postReceiptOrder shows what waits to be received, and puts one of the documents into cells. If there is nothing, it
// receives goods.
func postReceiptOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	rows, outcome, err := c.workList(ctx, s, "to-receive", "")
	if outcome != OK {
		return outcome, err
	}
	lines, release := c.takeOne(s, rows, rng, inReach)
	defer release()
	if lines == nil {
		return c.instead(ctx, s, operations.GoodsReceiptPost, postReceipt, rng)
	}
	_, outcome, err = c.made(ctx, s, "warehouse-receipt-order", warehouseOrderJSON(lines,
		func(row toCarry) amount.Quantity {
			return row.Quantity
		}), rng)
	return outcome, err
}
