package erp

import "plimsoll/platform/metadata"

// Version grows with every released change of the description below.
const Version = 2

// Names that rules, fill and audit share.
const (
	Stock   = "stock"
	Batches = "batches"
	General = "general"

	GoodsReceipt = "goods_receipt"
	GoodsSale    = "goods_sale"

	LinesMax = 200 // of a document; 5-20 are typical
)

// Accounts of the general ledger that documents use.
const (
	AccountInputVAT  = "19"
	AccountGoods     = "41"
	AccountSuppliers = "60"
	AccountCustomers = "62"
	AccountTaxes     = "68"
	AccountSales     = "90"
)

// Metadata describes the ERP. Items are shared by the organisations of the group; everything
// else belongs to one of them.
func Metadata() *metadata.Application {
	return &metadata.Application{
		Name: "erp", Version: Version,
		Catalogs:     []metadata.Catalog{organisations(), users(), warehouses(), counterparties(), items()},
		Documents:    []metadata.Document{goodsReceipt(), goodsSale()},
		Accumulation: []metadata.Accumulation{stock(), batches()},
		Accounting:   []metadata.Accounting{general()},
	}
}

func text(name string, length int) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Text, Length: length}
}

func typed(name string, kind metadata.Type) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: kind}
}

func reference(name, catalog string) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: metadata.Reference, Catalog: catalog}
}

func required(a metadata.Attribute) metadata.Attribute {
	a.Required = true
	return a
}

func computed(name string, kind metadata.Type) metadata.Attribute {
	return metadata.Attribute{Name: name, Type: kind, Computed: true}
}

// organisations: an organisation sees itself only, so its element belongs to itself.
func organisations() metadata.Catalog {
	return metadata.Catalog{Name: "organisations", Title: "Organisations", Attributes: []metadata.Attribute{
		text("full_name", 300), text("inn", 12), text("kpp", 9), text("ogrn", 15), text("legal_address", 500), text("phone", 50),
		text("email", 100), text("director", 150), text("chief_accountant", 150), text("bank_account", 20), text("bank_code", 9),
	}}
}

func users() metadata.Catalog {
	return metadata.Catalog{Name: "users", Title: "Users", Attributes: []metadata.Attribute{
		reference("warehouse", "warehouses"), text("role", 50), text("email", 100), text("phone", 50), text("position", 100), text("department", 100),
	}}
}

func warehouses() metadata.Catalog {
	return metadata.Catalog{Name: "warehouses", Title: "Warehouses", Attributes: []metadata.Attribute{
		text("kind", 50), text("address", 500), text("manager", 150), text("phone", 50), text("working_hours", 100), typed("area", metadata.Quantity),
	}}
}

func counterparties() metadata.Catalog {
	return metadata.Catalog{Name: "counterparties", Title: "Counterparties", Search: []string{"inn"}, Attributes: []metadata.Attribute{
		text("full_name", 300), text("inn", 12), text("kpp", 9), text("ogrn", 15), text("kind", 30), text("legal_address", 500),
		text("actual_address", 500), text("phone", 50), text("email", 100), text("contact_person", 150), text("bank_name", 200),
		text("bank_account", 20), text("bank_code", 9), typed("credit_limit", metadata.Money), typed("payment_days", metadata.Integer),
		typed("supplier", metadata.Boolean), typed("customer", metadata.Boolean), text("notes", 1000),
	}}
}

func items() metadata.Catalog {
	return metadata.Catalog{Name: "items", Title: "Items", Shared: true, Search: []string{"article", "barcode"}, Attributes: []metadata.Attribute{
		text("full_name", 300), text("article", 50), text("barcode", 14), text("unit", 10), text("item_group", 100), text("manufacturer", 150),
		text("country", 60), text("okpd", 20), typed("vat_rate", metadata.Integer), typed("price", metadata.Money), typed("purchase_price", metadata.Money),
		typed("weight", metadata.Quantity), typed("volume", metadata.Quantity), text("package", 50), typed("shelf_life_days", metadata.Integer),
		typed("marked", metadata.Boolean), text("description", 1000),
	}}
}

// lines of goods: prices are without VAT; a price not given is taken from the item.
func lines(more ...metadata.Attribute) metadata.Section {
	return metadata.Section{Name: "lines", MinRows: 1, MaxRows: LinesMax, Attributes: append([]metadata.Attribute{
		required(reference("item", "items")), required(typed("quantity", metadata.Quantity)), typed("price", metadata.Money),
		computed("amount", metadata.Money), computed("vat_rate", metadata.Integer), computed("vat", metadata.Money),
	}, more...)}
}

func header(more ...metadata.Attribute) []metadata.Attribute {
	return append([]metadata.Attribute{
		required(reference("warehouse", "warehouses")), required(reference("counterparty", "counterparties")),
		computed("amount", metadata.Money), computed("vat", metadata.Money), computed("total", metadata.Money),
	}, more...)
}

func goodsReceipt() metadata.Document {
	return metadata.Document{
		Name: GoodsReceipt, Title: "Goods receipt", Prefix: "GR", Registers: []string{Stock, Batches, General}, Search: []string{"counterparty"},
		Attributes: header(text("supplier_number", 50)), Sections: []metadata.Section{lines()},
	}
}

func goodsSale() metadata.Document {
	return metadata.Document{
		Name: GoodsSale, Title: "Goods sale", Prefix: "GS", Registers: []string{Stock, Batches, General}, Search: []string{"counterparty"},
		Attributes: header(text("delivery_address", 500), computed("cost", metadata.Money)),
		Sections:   []metadata.Section{lines(computed("cost", metadata.Money))},
	}
}

// stock is strictly controlled; its amount is the cost at which the goods stand on account 41.
func stock() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Stock, Title: "Stock of goods", Controlled: true,
		Dimensions: []metadata.Attribute{reference("warehouse", "warehouses"), reference("item", "items")},
		Resources:  []metadata.Attribute{typed("quantity", metadata.Quantity), typed("amount", metadata.Money)},
	}
}

// batches are what stock is made of: a layer for each line of a receipt, at its cost, used up oldest first.
func batches() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Batches, Title: "Cost batches", Controlled: true, Layered: true,
		Dimensions: append(stock().Dimensions,
			metadata.Attribute{Name: "receipt", Type: metadata.Reference, Document: true}, typed("receipt_line", metadata.Integer)),
		Resources: []metadata.Attribute{typed("quantity", metadata.Quantity), typed("amount", metadata.Money)},
	}
}

func general() metadata.Accounting {
	return metadata.Accounting{Name: General, Title: "General ledger", Splits: 8, Accounts: []metadata.Account{
		{Code: AccountInputVAT, Title: "VAT on purchases", Kind: metadata.Active},
		{Code: AccountGoods, Title: "Goods", Kind: metadata.Active},
		{Code: AccountSuppliers, Title: "Settlements with suppliers", Kind: metadata.Both},
		{Code: AccountCustomers, Title: "Settlements with customers", Kind: metadata.Both},
		{Code: AccountTaxes, Title: "Taxes", Kind: metadata.Both},
		{Code: AccountSales, Title: "Sales", Kind: metadata.Both},
	}}
}
