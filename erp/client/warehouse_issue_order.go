package client

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"

	"plimsoll/erp/operations"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// toCarry is a row of a work list of addressed warehouses.
type toCarry struct {
	Basis, Warehouse, Item, Cell id.ID
	Quantity                     amount.Quantity
	InCell                       amount.Quantity `json:"in_cell"`
}

// workListShort is how many rows of a work list people look at first.
const workListShort = 200

// inCell and inReach tell whether a row can be shipped, and whether it can be put away.
func inCell(row toCarry) bool  { return row.InCell > 0 }
func inReach(row toCarry) bool { return !row.Cell.IsZero() }

// workList of what waits to be shipped or received.
func (c *Client) workList(ctx context.Context, s *Session, report, query string) ([]toCarry, Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, "/v1/reports/"+report, query, nil)
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

// postIssueOrder shows what waits to be shipped, and ships one of the documents as far as the cells hold it. If there
// is nothing, it sells goods.
func postIssueOrder(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return workOff(c, ctx, s, rng, carrying{report: "to-ship", kind: "warehouse-issue-order", fits: inCell,
		quantity:  func(row toCarry) amount.Quantity { return min(row.Quantity, row.InCell) },
		operation: operations.WarehouseIssueOrderPost})
}

// carrying is a kind of warehouse order: the report that lists what waits, and what is done if nothing does.
type carrying struct {
	report, kind string
	fits         func(toCarry) bool
	quantity     func(toCarry) amount.Quantity
	operation    string
}

// workOff shows what waits, and makes the warehouse order of one of the documents.
func workOff(c *Client, ctx context.Context, s *Session, rng *rand.Rand, k carrying) (Outcome, error) {
	rows, outcome, err := c.workList(ctx, s, k.report, fmt.Sprintf("limit=%d", workListShort))
	if outcome != OK {
		return outcome, err
	}
	lines, release := c.takeOne(s, rows, rng, k.fits)
	if lines == nil && len(rows) >= workListShort { // others wait behind those that cannot be carried yet
		if rows, outcome, err = c.workList(ctx, s, k.report, fmt.Sprintf("limit=%d", workListMax)); outcome != OK {
			return outcome, err
		}
		lines, release = c.takeOne(s, rows, rng, k.fits)
	}
	defer release()
	if lines == nil {
		return c.instead(ctx, s, k.operation, rng)
	}
	_, outcome, err = c.made(ctx, s, k.kind, warehouseOrderJSON(lines, k.quantity), rng)
	return outcome, err
}

// takeOne reserves the rows of one document that fit and that nobody else has, until they are released.
func (c *Client) takeOne(s *Session, rows []toCarry, rng *rand.Rand, fits func(toCarry) bool) (lines []toCarry,
	release func()) {
	held := &s.directory.stock.held
	for {
		chosen, found := c.one(s, rows, rng, fits)
		if !found {
			return nil, func() {}
		}
		if held.take(chosen) { // nobody was quicker
			return ofOne(rows, chosen, fits), func() { held.release(chosen) }
		}
	}
}

// one returns a document that has rows that fit, that nobody has and that belongs to this part of the load.
func (c *Client) one(s *Session, rows []toCarry, rng *rand.Rand, fits func(toCarry) bool) (chosen id.ID, found bool) {
	bases := c.free(s, rows, fits)
	if len(bases) == 0 {
		return chosen, false
	}
	return bases[rng.IntN(len(bases))], true
}

// free are the documents that have rows that fit, that nobody has and that belong to this part of the load.
func (c *Client) free(s *Session, rows []toCarry, fits func(toCarry) bool) (bases []id.ID) {
	for _, row := range rows {
		// they come in the order of the documents
		if fits(row) && c.mine(row.Basis) && (len(bases) == 0 || bases[len(bases)-1] != row.Basis) {
			bases = append(bases, row.Basis)
		}
	}
	return s.directory.stock.held.free(bases)
}

// ofOne returns the rows of a document that fit.
func ofOne(rows []toCarry, basis id.ID, fits func(toCarry) bool) (lines []toCarry) {
	for _, row := range rows {
		if row.Basis == basis && fits(row) {
			lines = append(lines, row)
		}
	}
	return lines
}

// warehouseOrderJSON is the JSON of a warehouse order: each row with its quantity.
func warehouseOrderJSON(lines []toCarry, quantity func(toCarry) amount.Quantity) []byte {
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
