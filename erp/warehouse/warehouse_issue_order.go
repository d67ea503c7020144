package warehouse

import (
	"fmt"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// IssueOrder is the type of document: its description and its rules.
func IssueOrder() books.DocumentType {
	return books.DocumentType{Rules: issueOrderRules{}, Document: metadata.Document{
		Name: books.WarehouseIssueOrder, Title: "Warehouse issue order", Prefix: "WI", Search: []string{"basis"},
		Registers: books.Names(books.ToShip, books.Cells),
		Attributes: books.Attributes(books.DocumentRef(books.Basis, books.GoodsSale, books.InternalConsumption,
			books.AssetCommissioning).Required(),
			books.Warehouse.Required()),
		Sections: []metadata.Section{cellLines()},
	}}
}

// cellLines are the lines of an order that says from which cell or into which one goods go.
func cellLines() metadata.Section {
	return books.LineSection(1, books.Item.Required(), books.Cell.Required(), books.Quantity.Required())
}

// issueOrderRules: what has been sold or used up leaves its cells, not more than is still to be shipped of it and
// than lies there.
//
//	ST at cell− · to be shipped−
type issueOrderRules struct{}

func (issueOrderRules) Reads() map[string][]string {
	return map[string][]string{books.WarehouseCells: books.Names(books.Warehouse),
		books.GoodsSale:           books.Names(books.Warehouse),
		books.InternalConsumption: books.Names(books.Warehouse), books.AssetCommissioning: books.Names(books.Warehouse)}
}

func (issueOrderRules) Needs(d *document.Document) posting.Needs {
	basis := books.Basis.In(d)
	return posting.Needs{Read: []posting.Need{
		books.ToShip.Need(d, books.ToShip.ItemKeys(d, basis)), books.Cells.Need(d, cellKeys(d)),
	}}
}

// cellKeys are the cells of a document's lines, each once.
func cellKeys(d *document.Document) *rowset.Table {
	lines, warehouse := books.Lines(d), books.Warehouse.In(d)
	items, rows := books.Item.Of(lines), make([][]id.ID, lines.Rows())
	for i, cell := range books.Cell.Of(lines) {
		rows[i] = []id.ID{warehouse, items[i], cell}
	}
	return books.Cells.Keys(rows...)
}

func (issueOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := cellsOf(d, facts); err != nil {
		return nil, err
	}
	shipped, err := fulfilWarehouse(d, facts, books.ToShip)
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
	basis, warehouse := books.Basis.In(d), books.Warehouse.In(d)
	if err := books.CheckPosted(facts, basis); err != nil {
		return err
	}
	if _, referred, row := facts.Document(basis); books.Warehouse.Of(referred.Rows)[row] != warehouse {
		return &document.Invalid{Field: books.Warehouse.Name(), Reason: "differs from that of the basis"}
	}
	for i, cell := range books.Cell.Of(books.Lines(d)) {
		if books.Attr(facts.Catalogs[books.WarehouseCells], cell, books.Warehouse) != warehouse {
			return &document.Invalid{Field: fmt.Sprintf("lines[%d].cell", i), Reason: "is in another warehouse"}
		}
	}
	return nil
}

// fulfilWarehouse takes what an order carries off what its basis has to be carried (ToShip, ToReceive), and refuses
// more.
func fulfilWarehouse(d *document.Document, facts *posting.Facts, awaited books.Register) (*register.Movements, error) {
	items, required := books.Quantities(d)
	open := books.Quantity.Of(awaited.Balances(facts))
	carried := awaited.Movements(len(items))
	var excess []books.Excess
	for i, item := range items { // the keys are in their order
		if required[i] > open[i] {
			excess = append(excess, books.Excess{Item: item, Open: open[i], Required: required[i]})
			continue
		}
		carried.Add(true, books.Basis.In(d), item, books.Warehouse.In(d), required[i])
	}
	if excess != nil {
		return nil, &posting.Refusal{Control: awaited.Name(), Items: excess,
			Message: fmt.Sprintf("more than the basis has open: %s of the first item, %s required",
				excess[0].Open, excess[0].Required)}
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
	lines, required := books.Lines(d), map[place]amount.Quantity{}
	items := books.Item.Of(lines)
	cells := books.Cell.Of(lines)
	quantity := books.Quantity.Of(lines)
	for i := range items {
		required[place{items[i], cells[i]}] += quantity[i]
	}
	keys, inCells := cellKeys(d), books.Quantity.Of(books.Cells.Balances(facts))
	taken := books.Cells.Movements(keys.Rows())
	var short []CellShortage
	for row := range keys.Rows() {
		p := place{books.Item.Of(keys)[row], books.Cell.Of(keys)[row]}
		if required[p] > inCells[row] {
			short = append(short, CellShortage{p.item, p.cell, inCells[row], required[p]})
			continue
		}
		taken.Add(true, books.Warehouse.In(d), p.item, p.cell, required[p])
	}
	if short != nil {
		return nil, &posting.Refusal{Control: books.Cells.Name(), Items: short,
			Message: fmt.Sprintf("not enough in the cell: %s available, %s required", short[0].Available,
				short[0].Required)}
	}
	return taken, nil
}
