package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// WarehouseIssueOrder is the type of document.
const WarehouseIssueOrder = "warehouse_issue_order"

func warehouseIssueOrder() metadata.Document {
	return metadata.Document{
		Name: WarehouseIssueOrder, Title: "Warehouse issue order", Prefix: "WI", Search: []string{"basis"},
		Registers:  []string{ToShip, Cells},
		Attributes: []metadata.Attribute{required(paper("basis", GoodsSale, InternalConsumption, AssetCommissioning)), required(reference("warehouse", "warehouses"))},
		Sections:   []metadata.Section{cellLines()},
	}
}

// cellLines are the lines of an order that says from which cell or into which one goods go.
func cellLines() metadata.Section {
	return metadata.Section{Name: "lines", MinRows: 1, MaxRows: LinesMax, Attributes: []metadata.Attribute{
		required(reference("item", "items")), required(reference("cell", "warehouse_cells")), required(typed("quantity", metadata.Quantity)),
	}}
}

// issueOrderRules: what has been sold or used up leaves its cells, not more than is still to be shipped of it and than lies there.
//
//	ST at cell− · to be shipped−
type issueOrderRules struct{}

func (issueOrderRules) Reads() map[string][]string {
	return map[string][]string{"warehouse_cells": {"warehouse"}, GoodsSale: {"warehouse"}, InternalConsumption: {"warehouse"}, AssetCommissioning: {"warehouse"}}
}

func (issueOrderRules) Balances(d *document.Document) []posting.Balance {
	basis := refOf(d, "basis")
	return []posting.Balance{
		need(d, ToShip, byItem(d, ToShip, basis)), need(d, Cells, cellKeys(d)),
	}
}

// cellKeys are the cells of a document's lines, each once.
func cellKeys(d *document.Document) *rowset.Table {
	lines, warehouse := d.Section("lines"), refOf(d, "warehouse")
	items, rows := rowset.Column[id.ID](lines, "item"), make([][]id.ID, lines.Rows())
	for i, cell := range rowset.Column[id.ID](lines, "cell") {
		rows[i] = []id.ID{warehouse, items[i], cell}
	}
	return keys(Cells, rows...)
}

func (issueOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := cellsOf(d, facts); err != nil {
		return nil, err
	}
	shipped, err := fulfilWarehouse(d, facts, ToShip)
	if err != nil {
		return nil, err
	}
	taken, err := takeFromCells(d, facts)
	if err != nil {
		return nil, err
	}
	return &posting.Records{Movements: []*register.Movements{shipped, taken}}, nil
}

// cellsOf checks that the cells of the lines, and what the order is made of, are of its warehouse.
func cellsOf(d *document.Document, facts *posting.Facts) error {
	basis, warehouse := refOf(d, "basis"), refOf(d, "warehouse")
	if err := postedBasis(facts, basis); err != nil {
		return err
	}
	if _, referred, row := facts.Document(basis); rowset.Column[id.ID](referred.Rows, "warehouse")[row] != warehouse {
		return &document.Invalid{Field: "warehouse", Reason: "is another one than that of the basis"}
	}
	for i, cell := range rowset.Column[id.ID](d.Section("lines"), "cell") {
		if of[id.ID](facts.Catalogs["warehouse_cells"], cell, "warehouse") != warehouse {
			return &document.Invalid{Field: fmt.Sprintf("lines[%d].cell", i), Reason: "is in another warehouse"}
		}
	}
	return nil
}

// fulfilWarehouse takes what an order carries off what its basis has to be carried (ToShip, ToReceive), and refuses more.
func fulfilWarehouse(d *document.Document, facts *posting.Facts, name string) (*register.Movements, error) {
	items, required := quantities(d)
	open := rowset.Column[amount.Quantity](facts.Balances[name], "quantity")
	carried := moves(name, len(items))
	var excess []Excess
	for i, item := range items { // the keys are in their order
		if required[i] > open[i] {
			excess = append(excess, Excess{item, open[i], required[i]})
			continue
		}
		carried.Add(true, refOf(d, "basis"), item, refOf(d, "warehouse"), required[i])
	}
	if excess != nil {
		return nil, &posting.Refusal{Control: name, Items: excess, Message: fmt.Sprintf("more than is still open of the basis: %s of the first item, %s required", excess[0].Ordered, excess[0].Required)}
	}
	return carried, nil
}

// CellShortage is a cell in which there is not enough of an item.
type CellShortage struct {
	Item      id.ID           `json:"item"`
	Cell      id.ID           `json:"cell"`
	Available amount.Quantity `json:"available"`
	Required  amount.Quantity `json:"required"`
}

func takeFromCells(d *document.Document, facts *posting.Facts) (*register.Movements, error) {
	type place struct{ item, cell id.ID }
	lines, required := d.Section("lines"), map[place]amount.Quantity{}
	items, cells, quantity := rowset.Column[id.ID](lines, "item"), rowset.Column[id.ID](lines, "cell"), rowset.Column[amount.Quantity](lines, "quantity")
	for i := range items {
		required[place{items[i], cells[i]}] += quantity[i]
	}
	keys, there := cellKeys(d), rowset.Column[amount.Quantity](facts.Balances[Cells], "quantity")
	taken := moves(Cells, keys.Rows())
	var short []CellShortage
	for row := range keys.Rows() {
		p := place{rowset.Column[id.ID](keys, "item")[row], rowset.Column[id.ID](keys, "cell")[row]}
		if required[p] > there[row] {
			short = append(short, CellShortage{p.item, p.cell, there[row], required[p]})
			continue
		}
		taken.Add(true, refOf(d, "warehouse"), p.item, p.cell, required[p])
	}
	if short != nil {
		return nil, &posting.Refusal{Control: Cells, Items: short, Message: fmt.Sprintf("not enough in the cell: %s available, %s required", short[0].Available, short[0].Required)}
	}
	return taken, nil
}
