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

// toCarry is a row of a work list of addressed warehouses.
type toCarry struct {
	Basis, Warehouse, Item, Cell id.ID
	Quantity                     amount.Quantity
	InCell                       amount.Quantity `json:"in_cell"`
}

// inCell and inReach tell of a row whether it can be shipped, and whether it can be put away.
func inCell(row toCarry) bool  { return row.InCell > 0 }
func inReach(row toCarry) bool { return !row.Cell.IsZero() }

// workList of what is to be shipped or received.
func (c *Client) workList(ctx context.Context, s *Session, report, query string) ([]toCarry, Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, "/v1/reports/"+report, query, nil, "")
	if err != nil {
		return nil, Failed, err
	}
	defer r.free()
	if outcome, err := r.outcome(); outcome != OK {
		return nil, outcome, err
	}
	var list struct{ Rows []toCarry }
	if err := json.Unmarshal(r.body.Bytes(), &list); err != nil {
		return nil, Failed, fmt.Errorf("read the work list %s: %w", report, err)
	}
	return list.Rows, OK, nil
}

// postIssueOrder looks what is to be shipped, and ships one of the documents as far as the cells have it. When there is nothing, goods are sold. Who ships
// the same at the same time is refused.
func postIssueOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	rows, outcome, err := c.workList(ctx, s, "to-ship", "")
	if outcome != OK {
		return outcome, err
	}
	lines := ofOne(rows, rng, inCell)
	if lines == nil {
		return postSale(c, ctx, s, rng)
	}
	_, outcome, err = c.made(ctx, s, "warehouse-issue-order", carried(lines, func(row toCarry) amount.Quantity { return min(row.Quantity, row.InCell) }), rng)
	return outcome, err
}

// ofOne are the rows of one document that fit.
func ofOne(rows []toCarry, rng *rand.Rand, fits func(toCarry) bool) (lines []toCarry) {
	var bases []id.ID
	for _, row := range rows {
		if fits(row) && (len(bases) == 0 || bases[len(bases)-1] != row.Basis) { // they come in the order of the documents
			bases = append(bases, row.Basis)
		}
	}
	if len(bases) == 0 {
		return nil
	}
	chosen := bases[rng.IntN(len(bases))]
	for _, row := range rows {
		if row.Basis == chosen && fits(row) {
			lines = append(lines, row)
		}
	}
	return lines
}

// carried is the JSON of a warehouse order: so much of each row as it says.
func carried(lines []toCarry, quantity func(toCarry) amount.Quantity) []byte {
	b := lines[0].Basis.AppendText(append(make([]byte, 0, 200+150*len(lines)), `{"basis":"`...))
	b = append(lines[0].Warehouse.AppendText(append(b, `","warehouse":"`...)), `","lines":[`...)
	for n, line := range lines {
		if n > 0 {
			b = append(b, ',')
		}
		b = line.Item.AppendText(append(b, `{"item":"`...))
		b = line.Cell.AppendText(append(b, `","cell":"`...))
		b = append(quantity(line).AppendText(append(b, `","quantity":"`...)), `"}`...)
	}
	return append(b, "]}"...)
}
