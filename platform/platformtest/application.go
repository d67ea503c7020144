// Package platformtest owns a small application for tests of the platform: a receipt puts goods on a shelf, an issue
// takes the oldest, a close closes a month. It has a register of every kind.
package platformtest

import "plimsoll/platform/model/metadata"

// Names of the document types and registers.
const (
	Receipt = "receipt"
	Issue   = "issue"
	Close   = "close"

	Numbers   = "numbers"    // of suppliers' papers, unique
	LastCosts = "last_costs" // of goods, by date
	Closings  = "closings"   // closed months, unique
	Stock     = "stock"
	Batches   = "batches" // layers of the stock
	Promised  = "promised"
	Sales     = "sales"
	General   = "general"
)

// Accounts of the chart.
const (
	AccountGoods     = "41"
	AccountSuppliers = "60"
	AccountCosts     = "90"
)

// ReopenHint is the hint of an error about a closed month.
const ReopenHint = "unpost the close of MONTH"

// Application returns its description; each call returns a new value, which a test may change.
func Application() *metadata.Application {
	return &metadata.Application{
		Name: "platformtest", Version: 1,
		Catalogs: []metadata.Catalog{
			{Name: "units", Title: "Units", Shared: true},
			{Name: "goods", Title: "Goods", Search: []string{"barcode"}, Attributes: []metadata.Attribute{
				reference("unit", "units"), {Name: "barcode", Type: metadata.Text, Length: 20, Indexed: true},
			}},
			{Name: "shelves", Title: "Shelves"},
		},
		Documents:    documents(),
		Information:  informationRegisters(),
		Accumulation: accumulationRegisters(),
		Accounting: []metadata.Accounting{{
			Name: General, Title: "General ledger", Splits: 3,
			Accounts: []metadata.Account{
				{Code: AccountGoods, Title: "Goods", Kind: metadata.Active, Analytics: []string{"shelves", "goods"}},
				{Code: AccountSuppliers, Title: "Suppliers", Kind: metadata.Passive},
				{Code: AccountCosts, Title: "Costs", Kind: metadata.Active},
			},
		}},
	}
}

func documents() []metadata.Document {
	return []metadata.Document{
		{
			Name: Receipt, Title: "Receipt", Prefix: "R", Search: []string{"shelf"},
			Attributes: []metadata.Attribute{
				required(reference("shelf", "shelves")), {Name: "paper_number", Type: metadata.Text, Length: 20},
				{Name: "promised", Type: metadata.Boolean},
			},
			Sections: []metadata.Section{{Name: "lines", MinRows: 1, MaxRows: 100, Attributes: []metadata.Attribute{
				required(reference("goods", "goods")), required(quantity()), money("amount"),
			}}},
			Registers: []string{Stock, Batches, General},
			Optional:  []string{Numbers, LastCosts, Promised},
		},
		{
			Name: Issue, Title: "Issue", Prefix: "I",
			Attributes: []metadata.Attribute{
				required(reference("shelf", "shelves")),
				{Name: "receipt", Type: metadata.Reference, Documents: []string{Receipt}},
				computed(money("cost")), computed(money("estimate")),
			},
			Sections: []metadata.Section{{Name: "lines", MinRows: 1, MaxRows: 100, Attributes: []metadata.Attribute{
				required(reference("goods", "goods")), required(quantity()), computed(money("cost")),
			}}},
			Registers: []string{Stock, Batches, General},
			Optional:  []string{Promised, Sales},
		},
		{
			Name: Close, Title: "Close", Prefix: "C", ReopenHint: ReopenHint,
			Attributes: []metadata.Attribute{computed(metadata.Attribute{Name: "documents", Type: metadata.Integer})},
			Registers:  []string{Closings},
		},
	}
}

func informationRegisters() []metadata.Information {
	return []metadata.Information{
		{Name: Numbers, Title: "Supplier's number", Dimensions: []metadata.Attribute{
			{Name: "paper", Type: metadata.Text, Length: 20},
		}},
		{Name: LastCosts, Title: "Last cost", Periodic: true,
			Dimensions: []metadata.Attribute{reference("goods", "goods")},
			Resources:  []metadata.Attribute{money("amount")}},
		{Name: Closings, Title: "Closed month", Dimensions: []metadata.Attribute{
			{Name: "month", Type: metadata.Text, Length: 7},
		}},
	}
}

func accumulationRegisters() []metadata.Accumulation {
	shelf, goods := reference("shelf", "shelves"), reference("goods", "goods")
	worth := []metadata.Attribute{quantity(), money("amount")}
	return []metadata.Accumulation{
		{
			Name: Stock, Title: "Stock", Controlled: true, Covers: Promised,
			Dimensions: []metadata.Attribute{shelf, goods}, Resources: worth,
		},
		{
			Name: Batches, Title: "Batches", Controlled: true, Layered: true, SumIn: Stock, LockAs: Stock,
			Dimensions: []metadata.Attribute{
				shelf, goods, {Name: "receipt", Type: metadata.Reference, Document: true},
				{Name: "receipt_line", Type: metadata.Integer},
			},
			Resources: worth,
		},
		{
			Name: Promised, Title: "Promised", IndexNonZero: true, LockAs: Stock,
			Dimensions: []metadata.Attribute{shelf, goods}, Resources: []metadata.Attribute{quantity()},
		},
		{
			Name: Sales, Title: "Sales", Turnovers: true,
			Dimensions: []metadata.Attribute{goods, {Name: "rate", Type: metadata.Integer}},
			Resources:  []metadata.Attribute{money("amount")},
		},
	}
}

func reference(name, catalog string) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Reference, Catalog: catalog}
}

func quantity() metadata.Attribute {
	return metadata.Attribute{Name: "quantity", Type: metadata.Quantity}
}

func money(name string) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Money}
}

func required(a metadata.Attribute) metadata.Attribute {
	a.Required = true
	return a
}

func computed(a metadata.Attribute) metadata.Attribute {
	a.Computed = true
	return a
}
