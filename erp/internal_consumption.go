package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// InternalConsumption is the type of document.
const InternalConsumption = "internal_consumption"

func internalConsumption() metadata.Document {
	return metadata.Document{
		Name: InternalConsumption, Title: "Internal consumption", Prefix: "IC", Search: []string{"department"},
		Registers: []string{Stock, Batches, General}, Optional: []string{ToShip},
		Attributes: []metadata.Attribute{
			required(reference("warehouse", "warehouses")), required(reference("department", "departments")),
			required(reference("expense_item", "expense_items")), computed("cost", metadata.Money),
		},
		Sections: []metadata.Section{{Name: "lines", MinRows: 1, MaxRows: LinesMax, Attributes: []metadata.Attribute{
			required(reference("item", "items")), required(typed("quantity", metadata.Quantity)), computed("cost", metadata.Money),
		}}},
	}
}

// consumptionRules: what a department uses up goes out at the cost of the oldest batches, never more than there is that nobody has reserved.
//
//	ST− · CB− · to be shipped+  ·  Dr 26 Cr 10 cost (of goods Cr 41)
type consumptionRules struct{}

func (consumptionRules) Reads() map[string][]string {
	return map[string][]string{"items": {"account"}, "warehouses": {"addressed"}}
}

func (consumptionRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{batchesFor(d), need(d, Reserves, placeKeys(d, Reserves))}
}

func (consumptionRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	records, err := consumptionRules{}.Recost(d, facts)
	if err != nil {
		return nil, err
	}
	records.Movements = append(records.Movements, await(d, facts, ToShip)...)
	return records, nil
}

// Recost implements posting.Costing.
func (consumptionRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	taken, err := takeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	cost := rowset.Column[amount.Money](d.Section("lines"), "cost")
	overheads := ledger.At(AccountOverheads, refOf(d, "department"), refOf(d, "expense_item"))
	var entries []entry
	for _, v := range valued(d, facts, cost) {
		entries = append(entries, entry{overheads, v.account, v.sum})
	}
	return &posting.Records{Movements: []*register.Movements{stockMovements(d, true, cost), taken}, Entries: entriesOf(entries...)}, nil
}
