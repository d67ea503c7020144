package client

import (
	"context"
	"fmt"
	"math/rand/v2"

	"plimsoll/erp/skew"
	"plimsoll/platform/data/amount"
)

const consumptionLines = 4

// postConsumption of materials, or of any item if there are none.
func postConsumption(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	items, beyond := d.materials, rng.Float64() < c.options.RefusedShare
	if len(items) == 0 {
		items = d.items
	}
	b := d.warehouse.AppendText(append(make([]byte, 0, 512), `{"warehouse":"`...))
	b = d.departments[skew.Pick(rng, len(d.departments), skew.Mild)].AppendText(append(b, `","department":"`...))
	b = d.expenseItems[rng.IntN(len(d.expenseItems))].AppendText(append(b, `","expense_item":"`...))
	b = append(b, `","lines":[`...)
	for n := range 1 + rng.IntN(consumptionLines) {
		units := 1 + rng.IntN(2)
		if beyond {
			units = unitsBeyond
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = items[skew.Pick(rng, len(items), skew.Mild)].AppendText(append(b, `{"item":"`...))
		b = append(amount.Quantity(1000*units).AppendText(append(b, `","quantity":"`...)), `"}`...)
	}
	_, outcome, err := c.made(ctx, s, "internal-consumption", append(b, "]}"...), rng)
	if beyond && outcome == OK {
		return Failed, fmt.Errorf("consumed %d units, which no warehouse holds: the stock control did not refuse",
			unitsBeyond)
	}
	return outcome, err
}
