package warehouse

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// ReceiptOrder is the type of document: its description and its rules.
func ReceiptOrder() books.DocumentType {
	return books.DocumentType{Rules: receiptOrderRules{}, Document: metadata.Document{
		Name: books.WarehouseReceiptOrder, Title: "Warehouse receipt order", Prefix: "WR", Search: []string{"basis"},
		Registers: books.Names(books.ToReceive, books.Cells),
		Attributes: books.Attributes(books.DocumentRef(books.Basis, books.GoodsReceipt,
			books.OtherGoodsReceipt).Required(), books.Warehouse.Required()),
		Sections: []metadata.Section{cellLines()},
	}}
}

// receiptOrderRules: what has been brought is put into cells, not more than is still to be received of it. The cells
// are locked, so that who takes from one sees what lies there.
//
//	ST at cell+ · to be received−
type receiptOrderRules struct{}

func (receiptOrderRules) Reads() map[string][]string {
	return map[string][]string{books.WarehouseCells: books.Names(books.Warehouse),
		books.GoodsReceipt:      books.Names(books.Warehouse),
		books.OtherGoodsReceipt: books.Names(books.Warehouse)}
}

func (receiptOrderRules) Needs(d *document.Document) posting.Needs {
	basis := books.Basis.In(d)
	return posting.Needs{
		Read: []posting.Need{books.ToReceive.Need(d, books.ToReceive.ItemKeys(d, basis))},
		Lock: []posting.Lock{books.Cells.Lock(d, cellKeys(d))},
	}
}

func (receiptOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := cellsOf(d, facts); err != nil {
		return nil, err
	}
	received, err := fulfilWarehouse(d, facts, books.ToReceive)
	if err != nil {
		return nil, err
	}
	lines := books.Lines(d)
	put, quantity := books.Cells.Movements(lines.Rows()), books.Quantity.Of(lines)
	items, cells := books.Item.Of(lines), books.Cell.Of(lines)
	for i := range items {
		put.Add(false, books.Warehouse.In(d), items[i], cells[i], quantity[i])
	}
	return &posting.Records{Movements: []*register.Movements{received, put}}, nil
}
