package client

import (
	"context"
	"math/rand/v2"

	"plimsoll/erp/operations"
	"plimsoll/platform/data/amount"
)

// postReceiptOrder shows what waits to be received, and puts one of the documents into cells. If there is nothing, it
// receives goods.
func postReceiptOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return workOff(c, ctx, s, rng, carrying{report: "to-receive", kind: "warehouse-receipt-order", fits: inReach,
		quantity:  func(row toCarry) amount.Quantity { return row.Quantity },
		operation: operations.WarehouseReceiptOrderPost})
}
