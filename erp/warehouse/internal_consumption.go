package warehouse

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// InternalConsumption is the type of document: its description and its rules.
func InternalConsumption() books.DocumentType {
	return books.DocumentType{Rules: consumptionRules{}, Document: metadata.Document{
		Name: books.InternalConsumption, Title: "Internal consumption", Prefix: "IC", Search: []string{"department"},
		Registers: books.Names(books.Stock, books.Batches, books.General), Optional: books.Names(books.ToShip),
		Attributes: books.Attributes(books.Warehouse.Required(), books.Department.Required(),
			books.ExpenseItem.Required(), books.Cost.Computed()),
		Sections: []metadata.Section{books.LineSection(1, books.Item.Required(), books.Quantity.Required(),
			books.Cost.Computed())},
	}}
}

// consumptionRules: what a department uses up goes out at the cost of the oldest batches, never more than there is
// that nobody has reserved.
//
//	ST− · CB− · to be shipped+  ·  Dr 26 Cr 10 cost (of goods Cr 41)
type consumptionRules struct{}

func (consumptionRules) Reads() map[string][]string {
	return map[string][]string{books.Items: books.Names(books.Account), books.Warehouses: books.Names(books.Addressed)}
}

func (consumptionRules) Needs(d *document.Document) posting.Needs {
	return posting.Needs{Read: []posting.Need{books.NeedBatches(d),
		books.Reserves.Need(d, books.Reserves.ItemKeys(d, books.Warehouse.In(d)))}}
}

func (consumptionRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	records, err := consumptionRules{}.Recost(d, facts)
	if err != nil {
		return nil, err
	}
	records.Movements = append(records.Movements, books.Await(d, facts, books.ToShip)...)
	return records, nil
}

// Recost implements posting.Costing.
func (consumptionRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	taken, err := books.TakeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	cost := books.Cost.Of(books.Lines(d))
	overheads := ledger.At(books.AccountOverheads, books.Department.In(d), books.ExpenseItem.In(d))
	var entries []books.Entry
	for _, v := range books.ByAccount(d, facts, cost) {
		entries = append(entries, books.DebitCredit(overheads, v.Account, v.Sum))
	}
	return &posting.Records{Movements: []*register.Movements{books.StockMovements(d, true, cost), taken},
		Entries: books.General.Entries(entries...)}, nil
}
