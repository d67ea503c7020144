package erp

import "plimsoll/platform/metadata"

func catalogs() []metadata.Catalog {
	return []metadata.Catalog{
		organisations(), users(), departments(), employees(), warehouses(), warehouseCells(), partners(), counterparties(), contracts(),
		itemGroups(), items(), services(), cashAccounts(), expenseItems(), fixedAssets(),
	}
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

func departments() metadata.Catalog {
	return metadata.Catalog{Name: "departments", Title: "Departments", Attributes: []metadata.Attribute{text("head", 150)}}
}

func employees() metadata.Catalog {
	return metadata.Catalog{Name: "employees", Title: "Employees", Search: []string{"position"}, Attributes: []metadata.Attribute{
		reference("department", "departments"), text("position", 100), text("phone", 50), text("email", 100),
	}}
}

// warehouses: goods of an addressed one lie in cells, where warehouse orders put them and take them from.
func warehouses() metadata.Catalog {
	return metadata.Catalog{Name: "warehouses", Title: "Warehouses", Attributes: []metadata.Attribute{
		text("kind", 50), text("address", 500), text("manager", 150), text("phone", 50), text("working_hours", 100), typed("area", metadata.Quantity),
		typed("addressed", metadata.Boolean),
	}}
}

func warehouseCells() metadata.Catalog {
	return metadata.Catalog{Name: "warehouse_cells", Title: "Warehouse cells", Attributes: []metadata.Attribute{
		reference("warehouse", "warehouses"), text("rack", 10), typed("level", metadata.Integer), typed("volume", metadata.Quantity),
	}}
}

// partners are whom business is done with; a partner may have several legal persons, the counterparties.
func partners() metadata.Catalog {
	return metadata.Catalog{Name: "partners", Title: "Partners", Attributes: []metadata.Attribute{
		text("segment", 50), text("region", 100), text("manager", 150), text("phone", 50), text("email", 100), text("notes", 1000),
	}}
}

func counterparties() metadata.Catalog {
	return metadata.Catalog{Name: "counterparties", Title: "Counterparties", Search: []string{"inn"}, Attributes: []metadata.Attribute{
		text("full_name", 300), text("inn", 12), text("kpp", 9), text("ogrn", 15), text("kind", 30), text("legal_address", 500),
		text("actual_address", 500), text("phone", 50), text("email", 100), text("contact_person", 150), text("bank_name", 200),
		text("bank_account", 20), text("bank_code", 9), typed("credit_limit", metadata.Money), typed("payment_days", metadata.Integer),
		typed("supplier", metadata.Boolean), typed("customer", metadata.Boolean), text("notes", 1000), reference("partner", "partners"),
	}}
}

// contracts: settlements are by contract, and where it says so by order. A credit limit is of what a customer owes, a payment limit of what has been
// requested for a supplier and not paid yet; zero means that none is set.
func contracts() metadata.Catalog {
	counterparty := reference("counterparty", "counterparties")
	counterparty.Indexed = true
	return metadata.Catalog{Name: "contracts", Title: "Contracts", Attributes: []metadata.Attribute{
		counterparty, typed("customer", metadata.Boolean), typed("supplier", metadata.Boolean),
		text("currency", 3), typed("credit_limit", metadata.Money), typed("payment_days", metadata.Integer), typed("by_order", metadata.Boolean),
		typed("since", metadata.Moment), typed("until", metadata.Moment), text("signed_by", 150), typed("payment_limit", metadata.Money),
	}}
}

func itemGroups() metadata.Catalog {
	return metadata.Catalog{Name: "item_groups", Title: "Item groups", Shared: true, Attributes: []metadata.Attribute{text("notes", 300)}}
}

// items stand on the account that is theirs; it is that of goods unless given.
func items() metadata.Catalog {
	return metadata.Catalog{Name: "items", Title: "Items", Shared: true, Search: []string{"article", "barcode"}, Attributes: []metadata.Attribute{
		text("full_name", 300), text("article", 50), text("barcode", 14), text("unit", 10), text("item_group", 100), text("manufacturer", 150),
		text("country", 60), text("okpd", 20), typed("vat_rate", metadata.Integer), typed("price", metadata.Money), typed("purchase_price", metadata.Money),
		typed("weight", metadata.Quantity), typed("volume", metadata.Quantity), text("package", 50), typed("shelf_life_days", metadata.Integer),
		typed("marked", metadata.Boolean), text("description", 1000), text("account", 10), reference("nomenclature_group", "item_groups"),
	}}
}

func services() metadata.Catalog {
	return metadata.Catalog{Name: "services", Title: "Services", Shared: true, Attributes: []metadata.Attribute{
		text("full_name", 300), text("unit", 10), typed("vat_rate", metadata.Integer), typed("price", metadata.Money), typed("purchase_price", metadata.Money),
		reference("nomenclature_group", "item_groups"),
	}}
}

// cashAccounts are bank accounts and cash desks.
func cashAccounts() metadata.Catalog {
	return metadata.Catalog{Name: "cash_accounts", Title: "Cash and bank accounts", Attributes: []metadata.Attribute{
		typed("bank", metadata.Boolean), text("bank_name", 200), text("bank_account", 20), text("bank_code", 9), text("currency", 3),
	}}
}

func expenseItems() metadata.Catalog {
	return metadata.Catalog{Name: "expense_items", Title: "Items of expense", Attributes: []metadata.Attribute{text("kind", 50)}}
}

func fixedAssets() metadata.Catalog {
	return metadata.Catalog{Name: "fixed_assets", Title: "Fixed assets", Search: []string{"inventory_number"}, Attributes: []metadata.Attribute{
		text("inventory_number", 20), text("asset_group", 100), reference("item", "items"), reference("department", "departments"), typed("useful_months", metadata.Integer),
	}}
}
