package books

import "plimsoll/platform/model/metadata"

// Names of catalogs.
const (
	Organisations  = "organisations"
	Users          = "users"
	Departments    = "departments"
	Employees      = "employees"
	Warehouses     = "warehouses"
	WarehouseCells = "warehouse_cells"
	Partners       = "partners"
	Counterparties = "counterparties"
	Contracts      = "contracts"
	ItemGroups     = "item_groups"
	Items          = "items"
	Services       = "services"
	CashAccounts   = "cash_accounts"
	ExpenseItems   = "expense_items"
	FixedAssets    = "fixed_assets"
)

// Currency that the books are kept in: a contract or an account for money in another one has no place in them.
const Currency = "RUB"

var currencyAttr = TextAttr("currency", len(Currency)).Among("", Currency)

// Catalogs of the ERP. Items, services and their groups are shared by the organisations of
// the group; everything else belongs to one of them.
func Catalogs() []metadata.Catalog {
	return []metadata.Catalog{
		organisations(), users(), departments(), employees(), warehouses(), warehouseCells(), partners(),
		counterparties(), contracts(),
		itemGroups(), items(), services(), cashAccounts(), expenseItems(), fixedAssets(),
	}
}

// organisations: an organisation sees itself only, so its element belongs to itself.
func organisations() metadata.Catalog {
	return metadata.Catalog{Name: Organisations, Title: "Organisations",
		Attributes: Attributes(TextAttr("full_name", 300), TextAttr("inn", 12), TextAttr("kpp", 9),
			TextAttr("ogrn", 15), TextAttr("legal_address", 500), TextAttr("phone", 50), TextAttr("email", 100),
			TextAttr("director", 150), TextAttr("chief_accountant", 150), TextAttr("bank_account", 20),
			TextAttr("bank_code", 9))}
}

func users() metadata.Catalog {
	return metadata.Catalog{Name: Users, Title: "Users",
		Attributes: Attributes(Warehouse, TextAttr("role", 50), TextAttr("email", 100), TextAttr("phone", 50),
			TextAttr("position", 100), TextAttr("department", 100))}
}

func departments() metadata.Catalog {
	return metadata.Catalog{Name: Departments, Title: "Departments",
		Attributes: Attributes(TextAttr("head", 150))}
}

func employees() metadata.Catalog {
	return metadata.Catalog{Name: Employees, Title: "Employees", Search: []string{"position"},
		Attributes: Attributes(Department, TextAttr("position", 100), TextAttr("phone", 50), TextAttr("email", 100))}
}

// warehouses: goods of an addressed one lie in cells, where warehouse orders put them and take them from.
func warehouses() metadata.Catalog {
	return metadata.Catalog{Name: Warehouses, Title: "Warehouses",
		Attributes: Attributes(TextAttr("kind", 50), TextAttr("address", 500), TextAttr("manager", 150),
			TextAttr("phone", 50), TextAttr("working_hours", 100), QuantityAttr("area"), Addressed)}
}

func warehouseCells() metadata.Catalog {
	return metadata.Catalog{Name: WarehouseCells, Title: "Warehouse cells",
		Attributes: Attributes(Warehouse, TextAttr("rack", 10), IntegerAttr("level"), QuantityAttr("volume"))}
}

// partners are whom business is done with; a partner may have several legal persons, the counterparties.
func partners() metadata.Catalog {
	return metadata.Catalog{Name: Partners, Title: "Partners",
		Attributes: Attributes(TextAttr("segment", 50), TextAttr("region", 100), TextAttr("manager", 150),
			TextAttr("phone", 50), TextAttr("email", 100), TextAttr("notes", 1000))}
}

func counterparties() metadata.Catalog {
	return metadata.Catalog{Name: Counterparties, Title: "Counterparties", Search: []string{"inn"},
		Attributes: Attributes(TextAttr("full_name", 300), TextAttr("inn", 12), TextAttr("kpp", 9),
			TextAttr("ogrn", 15), TextAttr("kind", 30), TextAttr("legal_address", 500), TextAttr("actual_address", 500),
			TextAttr("phone", 50), TextAttr("email", 100), TextAttr("contact_person", 150), TextAttr("bank_name", 200),
			TextAttr("bank_account", 20), TextAttr("bank_code", 9), CreditLimit, IntegerAttr("payment_days"), Supplier,
			Customer, TextAttr("notes", 1000), CatalogRef("partner", Partners))}
}

// contracts: settlements are by contract, and where it says so by order. A credit limit is of what a customer owes, a
// payment limit of what has been requested for a supplier and not paid yet; zero means that none is set.
func contracts() metadata.Catalog {
	return metadata.Catalog{Name: Contracts, Title: "Contracts",
		Attributes: Attributes(Counterparty.Indexed(), Customer, Supplier, currencyAttr, CreditLimit,
			IntegerAttr("payment_days"), ByOrder, MomentAttr("since"), MomentAttr("until"), TextAttr("signed_by", 150),
			PaymentLimit)}
}

func itemGroups() metadata.Catalog {
	return metadata.Catalog{Name: ItemGroups, Title: "Item groups", Shared: true,
		Attributes: Attributes(TextAttr("notes", 300))}
}

// items stand on the account that is theirs; it is that of goods unless given.
func items() metadata.Catalog {
	return metadata.Catalog{Name: Items, Title: "Items", Shared: true, Search: []string{"article", "barcode"},
		Attributes: Attributes(TextAttr("full_name", 300), TextAttr("article", 50), TextAttr("barcode", 14),
			TextAttr("unit", 10), TextAttr("item_group", 100), TextAttr("manufacturer", 150), TextAttr("country", 60),
			TextAttr("okpd", 20), VATRate, Price, PurchasePrice, QuantityAttr("weight"), QuantityAttr("volume"),
			TextAttr("package", 50), IntegerAttr("shelf_life_days"), BooleanAttr("marked"),
			TextAttr("description", 1000), Account, CatalogRef("nomenclature_group", ItemGroups))}
}

func services() metadata.Catalog {
	return metadata.Catalog{Name: Services, Title: "Services", Shared: true,
		Attributes: Attributes(TextAttr("full_name", 300), TextAttr("unit", 10), VATRate, Price, PurchasePrice,
			CatalogRef("nomenclature_group", ItemGroups))}
}

// cashAccounts are bank accounts and cash desks.
func cashAccounts() metadata.Catalog {
	return metadata.Catalog{Name: CashAccounts, Title: "Cash and bank accounts",
		Attributes: Attributes(Bank, TextAttr("bank_name", 200), TextAttr("bank_account", 20), TextAttr("bank_code", 9),
			currencyAttr)}
}

func expenseItems() metadata.Catalog {
	return metadata.Catalog{Name: ExpenseItems, Title: "Items of expense",
		Attributes: Attributes(TextAttr("kind", 50))}
}

func fixedAssets() metadata.Catalog {
	return metadata.Catalog{Name: FixedAssets, Title: "Fixed assets", Search: []string{"inventory_number"},
		Attributes: Attributes(TextAttr("inventory_number", 20), TextAttr("asset_group", 100), Item, Department,
			UsefulMonths)}
}
