package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"plimsoll/erp/operations"
)

// salesPerFilling of the cells: one receipt brings more than they take.
const salesPerFilling = 8

// stockCells creates documents for a kind of warehouse order to act on, as far as fewer than most wait. An organisation
// without cells gets none. False ends it, without an error if the worker is overloaded.
func (c *Client) stockCells(ctx context.Context, s *Session, operation string, most int, rng *rand.Rand) (more bool,
	err error) {
	list, fits, bring := "to-receive", inReach, c.bringSome
	if operation == operations.WarehouseIssueOrderPost {
		list, fits, bring = "to-ship", inCell, c.sellSome
	}
	rows, outcome, err := c.workList(ctx, s, list, fmt.Sprintf("limit=%d", workListMax))
	if outcome == OK {
		there := len(c.free(s, rows, fits))
		for tries := 0; there < most && tries < stockTries*most && err == nil; tries++ {
			var made int
			made, err = bring(ctx, s, most-there, rng)
			if there += made; errors.Is(err, errMadeRefused) {
				err = nil // hot items are short, or a customer's credit
			}
		}
	}
	var overload *Overload
	switch {
	case errors.As(err, &overload):
		return false, nil
	case errors.Is(err, ErrNoCells):
		return true, nil // the operation reports it
	case err != nil:
		return false, fmt.Errorf("create documents for %s to act on: %w", operation, err)
	}
	return true, nil
}

// bringSome goods to cells; they wait in front of them.
func (c *Client) bringSome(ctx context.Context, s *Session, _ int, rng *rand.Rand) (made int, err error) {
	if _, err = c.bringToCells(ctx, s, rng); err == nil {
		made = 1
	}
	return made, err
}

// sellSome goods that lie in cells.
func (c *Client) sellSome(ctx context.Context, s *Session, most int, rng *rand.Rand) (made int, err error) {
	lines, err := c.fillCells(ctx, s, rng)
	if err != nil {
		return 0, err
	}
	there := *s
	there.directory = &directory{office: s.directory.office, warehouse: lines[0].Warehouse}
	for _, line := range lines {
		there.directory.items = append(there.directory.items, line.Item)
	}
	for range min(most, salesPerFilling) {
		if _, outcome, err := c.made(ctx, s, "goods-sale", there.sale(rng), rng); outcome != OK {
			return made, refusedToo(err)
		}
		made++
	}
	return made, nil
}
