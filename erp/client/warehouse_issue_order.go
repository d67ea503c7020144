package client

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"

	"plimsoll/platform/amount"
	"plimsoll/platform/id"
)

// toShip is a row of the work list of addressed warehouses.
type toShip struct {
	Basis, Warehouse, Item, Cell id.ID
	Quantity                     amount.Quantity
	InCell                       amount.Quantity `json:"in_cell"`
}

// postIssueOrder looks what is to be shipped, and ships one of the documents as far as the cells have it. When there is nothing, goods are sold. Who ships
// the same at the same time is refused.
func postIssueOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, "/v1/reports/to-ship", "", nil, "")
	if err != nil {
		return Failed, err
	}
	defer r.free()
	if outcome, err := r.outcome(); outcome != OK {
		return outcome, err
	}
	var list struct{ Rows []toShip }
	if err := json.Unmarshal(r.body.Bytes(), &list); err != nil {
		return Failed, fmt.Errorf("read what is to be shipped: %w", err)
	}
	lines := shippable(list.Rows, rng)
	if lines == nil {
		return postSale(c, ctx, s, rng)
	}
	_, outcome, err := c.made(ctx, s, "warehouse-issue-order", shipment(lines), rng)
	return outcome, err
}

// shippable are the rows of one document that cells have something of.
func shippable(rows []toShip, rng *rand.Rand) (lines []toShip) {
	var bases []id.ID
	for _, row := range rows {
		if row.InCell > 0 && (len(bases) == 0 || bases[len(bases)-1] != row.Basis) { // they come in the order of the documents
			bases = append(bases, row.Basis)
		}
	}
	if len(bases) == 0 {
		return nil
	}
	chosen := bases[rng.IntN(len(bases))]
	for _, row := range rows {
		if row.Basis == chosen && row.InCell > 0 {
			lines = append(lines, row)
		}
	}
	return lines
}

func shipment(lines []toShip) []byte {
	b := lines[0].Basis.AppendText(append(make([]byte, 0, 200+150*len(lines)), `{"basis":"`...))
	b = append(lines[0].Warehouse.AppendText(append(b, `","warehouse":"`...)), `","lines":[`...)
	for n, line := range lines {
		if n > 0 {
			b = append(b, ',')
		}
		b = line.Item.AppendText(append(b, `{"item":"`...))
		b = line.Cell.AppendText(append(b, `","cell":"`...))
		b = append(min(line.Quantity, line.InCell).AppendText(append(b, `","quantity":"`...)), `"}`...)
	}
	return append(b, "]}"...)
}
