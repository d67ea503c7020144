// Package damage owns the kinds of damage that the audit must name and a repair must mend or name, and inflicts them,
// each on a document of its own.
package damage

import (
	"slices"
	"strings"

	"plimsoll/erp/books"
)

// Damage is done to one document of a type, of which each damage has its own. In the SQL {id} is the document, {other}
// an element of a catalog of the other organisation, and so on; see Inflict.
type Damage struct {
	Of    string // type of document; "" for what belongs to none
	SQL   string
	Field string // that must be named
	Names string // what else the subject must name, of damage to no document
}

// All damages of documents, of what they have recorded, and of what belongs to no document.
var All = map[string]Damage{
	// headers
	"TotalOfACustomerOrder": {books.CustomerOrder, header("total = total + 1"), "total", ""},
	"CounterpartyOfACustomerOrder": {books.CustomerOrder, header("counterparty = {counterparty}"),
		"contract", ""},
	"ContractOfASupplierOrder": {books.SupplierOrder, header("contract = {contract}"), "contract", ""},
	"ContractOfAnotherOrganisation": {books.SupplierOrder, header("contract = {foreign contract}"),
		"contract", ""},
	"VATOfASupplierOrder":   {books.SupplierOrder, header("vat = vat + 1"), "vat", ""},
	"AmountOfAGoodsReceipt": {books.GoodsReceipt, header("amount = amount + 1"), "amount", ""},
	"WarehouseThatIsGone": {books.GoodsReceipt, header("warehouse = gen_random_uuid()"),
		"warehouse", ""},
	"SupplierNumberOfAReceipt": {books.SupplierOrder, header("supplier_number = 'other'"),
		"supplier_numbers 1.supplier_number", ""},
	"TotalOfAGoodsSale": {books.GoodsSale, header("total = total + 1"), "total", ""},
	"CostOfAGoodsSale":  {books.GoodsSale, header("cost = cost + 1"), "cost", ""},
	"OrderThatIsGone":   {books.GoodsSale, header("source_order = gen_random_uuid()"), "source_order", ""},
	"NoWarehouse":       {books.GoodsSale, header("warehouse = " + None), "warehouse", ""},
	"VATOfAServiceSale": {books.ServiceSale, header("vat = vat - 1"), "vat", ""},
	"OrganisationOfAHeader": {books.ServiceSale, header("organisation = {foreign organisation}"),
		"counterparty", ""},
	"CounterpartyOfAnInvoice": {books.InvoiceIssued, header("counterparty = {counterparty}"),
		"counterparty", ""},
	"VATOfAnInvoice":       {books.InvoiceIssued, header("vat = vat + 1"), "vat", ""},
	"BasisOfAnInvoice":     {books.InvoiceIssued, header("basis = gen_random_uuid()"), "basis", ""},
	"AmountOfABankReceipt": {books.BankReceipt, header("amount = amount + 1"), "cash 1.amount", ""},
	"AccountOfAnother": {books.BankReceipt, header("cash_account = {foreign cash_account}"),
		"cash_account", ""},
	"ReferenceOfABankReceipt": {books.BankReceipt, header("bank_reference = 'x'"),
		"bank_references 1.bank_reference", ""},
	"DepartmentThatIsGone": {books.InternalConsumption, header("department = gen_random_uuid()"),
		"department", ""},
	"CostOfAConsumption": {books.InternalConsumption, header("cost = cost + 1"), "cost", ""},
	"AmountOfARegistrar": {books.SettlementRegistrar, header("amount = amount + 1"), "amount", ""},
	"AmountOfFoundGoods": {books.OtherGoodsReceipt, header("amount = amount + 1"), "amount", ""},
	"NoAssetOfAServicePurchase": {books.ServicePurchase, header("asset = " + None + ", department = {department}, " +
		"expense_item = {expense_item}"), "asset_investments 1", ""},
	"TotalOfAServicePurchase":  {books.ServicePurchase, header("total = 0"), "total", ""},
	"BasisOfAnInvoiceReceived": {books.InvoiceReceived, header("basis = gen_random_uuid()"), "basis", ""},
	"NumberOfAnInvoiceReceived": {books.InvoiceReceived, header("invoice_number = 'x'"),
		"invoice_numbers 1.invoice_number", ""},
	"ContractOfARequest": {books.PaymentRequest, header("contract = {contract}"), "contract", ""},
	"AmountOfARequest": {books.PaymentRequest, header("amount = amount + 1"),
		"payment_plan 1.amount", ""},
	"RequestThatIsGone": {books.BankPayment, header("request = gen_random_uuid()"), "request", ""},
	"AmountOfAPayment":  {books.BankPayment, header("amount = amount + 1"), "general 1.amount", ""},
	"WarehouseOfAReceiptOrder": {books.WarehouseReceiptOrder, header("warehouse = {warehouse}"),
		"lines[0].cell", ""},
	"BasisOfAnIssueOrder": {books.WarehouseIssueOrder, header("basis = gen_random_uuid()"), "basis", ""},
	"InvestedInAnAsset":   {books.AssetCommissioning, header("invested = invested + 1"), "total", ""},
	"LifeOfAnAsset": {books.AssetCommissioning, header("useful_months = 7"),
		"asset_states 1.useful_months", ""},
	"AssetThatIsGone": {books.AssetCommissioning, header("asset = gen_random_uuid()"), "asset", ""},
	"ResultOfAMonth":  {books.MonthClose, header("result = result + 1"), "general 1.amount", ""},
	"NumberBeyondTheCounter": {"", "UPDATE plimsoll_number SET next = 2 WHERE kind = 'goods_sale'",
		"number counter", "goods_sale organisation="},
	"CounterThatIsGone": {"", "DELETE FROM plimsoll_number WHERE kind = 'bank_payment'",
		"number counter", "bank_payment organisation="},

	// what a document is known by
	"AuthorThatIsGone": {books.CustomerOrder, header("author = gen_random_uuid()"), "author", ""},
	"AuthorOfAnotherOrganisation": {books.GoodsReceipt, header("author = {foreign author}"), "author",
		""},
	"NoAuthor":      {books.BankPayment, header("author = " + None), "author", ""},
	"AnotherAuthor": {books.PaymentRequest, header("author = {author}"), "author", ""},
	"NumberOfAGap": {books.SupplierOrder, header("number = 'SO-000000099'"),
		"number", ""},
	"NumberOfAnotherType":  {books.BankReceipt, header("number = 'GS-000000001'"), "number", ""},
	"NumberOfAnotherForm":  {books.ServicePurchase, header("number = 'SP-77'"), "number", ""},
	"NumberWithADigitMore": {books.GoodsSale, header("number = number || '0'"), "number", ""},
	"SaleIn2099":           {books.ServiceSale, In2099, "date", ""},
	"OperationThatIsGone": {books.OtherGoodsReceipt, "DELETE FROM plimsoll_operation WHERE document = {id}",
		"operation", ""},
	"OperationOfNobody": {books.InvoiceIssued, "UPDATE plimsoll_operation SET author = gen_random_uuid() " +
		"WHERE document = {id}", "operation.author", ""},

	// lines
	"ItemThatIsGone":    {books.CustomerOrder, line("item = gen_random_uuid()"), "lines 1.item", ""},
	"ItemOfAnOrder":     {books.SupplierOrder, line("item = {item}"), "supplier_orders 1.item", ""},
	"QuantityOfAnOrder": {books.CustomerOrder, line("quantity = quantity + 1"), "lines 1.amount", ""},
	"PriceOfAReceipt":   {books.GoodsReceipt, line("price = price + 1"), "lines 1.amount", ""},
	"VATOfALine":        {books.GoodsSale, line("vat = vat + 1"), "lines 1.vat", ""},
	"CostOfALine":       {books.GoodsSale, line("cost = cost + 1"), "lines 1.cost", ""},
	"QuantityOfASale":   {books.GoodsSale, line("quantity = quantity + 1"), "stock 1.quantity", ""},
	"RateOfVAT":         {books.ServiceSale, line("vat_rate = 7"), "lines 1.vat_rate", ""},
	"ServiceThatIsGone": {books.ServicePurchase, line("service = gen_random_uuid()"), "lines 1.service", ""},
	"CellThatIsGone":    {books.WarehouseIssueOrder, line("cell = gen_random_uuid()"), "lines 1.cell", ""},
	"CellOfALine":       {books.WarehouseReceiptOrder, line("cell = {cell}"), "cells 1.cell", ""},
	"QuantityOfACell": {books.WarehouseReceiptOrder, line("quantity = quantity + 1"),
		"to_receive 1.quantity", ""},
	"ContractOfALine": {books.SettlementRegistrar, line("contract = {foreign contract}"),
		"lines 1.contract", ""},
	"DebitOfALine": {books.SettlementRegistrar, line("debit = debit + 1"), "total", ""},
	"SideOfALine": {books.SettlementRegistrar, line("supplier = NOT supplier"),
		"customer_settlements", ""},
	"PriceOfFoundGoods": {books.OtherGoodsReceipt, line("price = price + 1"), "lines 1.amount", ""},
	"QuantityOfAnAsset": {books.AssetCommissioning, line("quantity = quantity + 1"), "stock 1.quantity", ""},
	"QuantityConsumed":  {books.InternalConsumption, line("quantity = quantity - 1"), "stock 1.quantity", ""},
	"LineThatIsGone": {books.GoodsReceipt, "DELETE FROM doc_goods_receipt_lines WHERE document = {id} AND line = 2",
		"amount", ""},
	"NoLines": {books.ServiceSale, "DELETE FROM doc_service_sale_lines WHERE document = {id}",
		"lines", ""},
	"LineOfAnother":       {books.CustomerOrder, line("organisation = {foreign organisation}"), "lines 1", ""},
	"LinesThatAreCounted": {books.SupplierOrder, line("line = 9"), "lines", ""},
	"PaymentThatIsGone": {books.BankPayment, "DELETE FROM doc_bank_payment WHERE id = {id}",
		"cash 1.recorder", ""},
	"HeaderThatIsGone": {books.InternalConsumption, "DELETE FROM doc_internal_consumption WHERE id = {id}",
		"lines 1", ""},

	// movements
	"AmountOfStock": {books.GoodsReceipt, moved("stock", "amount = amount + 1"), "stock 1.amount", ""},
	"ItemOfStock":   {books.GoodsReceipt, moved("stock", "item = {item}"), "stock 1.item", ""},
	"WarehouseOfStock": {books.OtherGoodsReceipt, moved("stock", "warehouse = {warehouse}"),
		"stock 1.warehouse", ""},
	"DirectionOfStock": {books.OtherGoodsReceipt, moved("stock", "expense = true"), "stock 1.expense", ""},
	"MovementThatIsGone": {books.GoodsSale, "DELETE FROM acc_stock WHERE recorder = {id} AND line = 1",
		"stock", ""},
	"MovementTooMany": {books.GoodsSale, duplicateFirstRow("acc_output_vat"), "output_vat 3", ""},
	"BatchOfAReceipt": {books.GoodsReceipt, moved("batches", "quantity = quantity + 1"),
		"batches 1.quantity", ""},
	"CostOfABatch": {books.InternalConsumption, moved("batches", "amount = amount + 1"),
		"lines 1.cost", ""},
	"Reserved": {books.CustomerOrder, moved("customer_orders", "reserved = 0"),
		"customer_orders 1.reserved", ""},
	"Reserve": {books.CustomerOrder, moved("reserves", "quantity = 0"),
		"reserves 1.quantity", ""},
	"CustomersPlan": {books.CustomerOrder, moved("customer_plan", "amount = 0"),
		"customer_plan 1.amount", ""},
	"SuppliersPlan": {books.SupplierOrder, moved("supplier_plan", "object = "+None),
		"supplier_plan 1.object", ""},
	"OrderedOfASupplier": {books.GoodsReceipt, moved("supplier_orders", "quantity = 0"),
		"supplier_orders 1.quantity", ""},
	"DebtToASupplier": {books.ServicePurchase, moved("supplier_settlements", "amount = 0"),
		"supplier_settlements 1.amount", ""},
	"DebtOfAContract": {books.ServiceSale, moved("customer_settlements", "contract = {contract}"),
		"customer_settlements 1.contract", ""},
	"RateCharged": {books.ServicePurchase, moved("input_vat", "rate = 3"), "input_vat 1.rate", ""},
	"VATCharged":  {books.GoodsSale, moved("output_vat", "vat = vat + 1"), "output_vat 1.vat", ""},
	"PurchaseBook": {books.InvoiceReceived, moved("purchase_book", "vat = 0"),
		"purchase_book 1.vat", ""},
	"SalesBook": {books.InvoiceIssued, moved("sales_book", "amount = 0"),
		"sales_book 1.amount", ""},
	"Advance": {books.InvoiceIssued, moved("customer_advances", "vat = 0"),
		"customer_advances 1.vat", ""},
	"PaymentAhead": {books.BankReceipt, moved("payments", "contract = {contract}"),
		"payments 1.contract", ""},
	"PlannedPayment": {books.BankPayment, moved("payment_plan", "amount = 0"),
		"payment_plan 1.amount", ""},
	"CashOfAnother": {books.BankPayment, moved("cash", "cash_account = {cash_account}"),
		"cash 1.cash_account", ""},
	"ToBeShipped": {books.GoodsSale, moved("to_ship", "quantity = 0"), "to_ship 1.quantity", ""},
	"Received": {books.WarehouseReceiptOrder, moved("to_receive", "basis = {id}"),
		"to_receive 1.basis", ""},
	"InACell": {books.WarehouseIssueOrder, moved("cells", "quantity = 0"),
		"cells 1.quantity", ""},
	"Investment": {books.ServicePurchase, moved("asset_investments", "amount = 0"),
		"asset_investments 1.amount", ""},
	"CostOfAnAsset": {books.AssetCommissioning, moved("asset_costs", "amount = 0"),
		"asset_costs 1.amount", ""},
	"DebtMoved": {books.SettlementRegistrar, moved("supplier_settlements", "expense = NOT expense"),
		"supplier_settlements 1.expense", ""},
	"InvoiceOfABasis": {books.InvoiceIssued, stated("invoices", "basis = {id}"), "invoices 1.basis", ""},
	"NumberOfAnInvoice": {books.InvoiceReceived, stated("invoice_numbers", "invoice_number = 'y'"),
		"invoice_numbers 1.invoice_number", ""},
	"ReferenceOfABank": {books.BankPayment, stated("bank_references", "cash_account = {cash_account}"),
		"bank_references 1.cash_account", ""},
	"NumberOfASupplier": {books.SupplierOrder, stated("supplier_numbers", "supplier_number = 'y'"),
		"supplier_numbers 1.supplier_number", ""},
	"BasisOfARequest": {books.PaymentRequest, "DELETE FROM inf_payment_requests WHERE recorder = {id}",
		"payment_requests", ""},
	"StateOfAnAsset": {books.AssetCommissioning, stated("asset_states", "since = since + interval '1 day'"),
		"asset_states 1.since", ""},
	"RecorderOfAnother": {books.GoodsReceipt, moved("to_receive", "period = period + interval '1 day'"),
		"to_receive 1.period", ""},
	"OrganisationOfAnother": {books.GoodsReceipt, moved("input_vat", "organisation = {foreign organisation}"),
		"input_vat 1.organisation", ""},

	// entries
	"AmountOfAnEntry":    {books.ServiceSale, entry("amount = amount + 1"), "general 1.amount", ""},
	"SidesOfAnEntry":     {books.ServiceSale, Swapped, "general 1.debit", ""},
	"AnalyticsOfAnEntry": {books.BankReceipt, entry("debit_1 = {cash_account}"), "general 1.debit_1", ""},
	"AccountOfAnEntry":   {books.OtherGoodsReceipt, entry("credit = '90'"), "general 1.credit", ""},
	"EntryThatIsGone": {books.InvoiceReceived, "DELETE FROM gl_general WHERE recorder = {id}",
		"general", ""},
	"EntryTooMany": {books.InternalConsumption, duplicateFirstRow("gl_general"), "general 2", ""},
	"EntryOfARegistrar": {books.SettlementRegistrar, entry("credit_2 = {contract}"),
		"general 1.credit_2", ""},
	"EntryOfACommission":  {books.AssetCommissioning, entry("amount = 0"), "general 1.amount", ""},
	"EntryOfAGoodsSale":   {books.GoodsSale, entry("debit = '60'"), "general 1.debit", ""},
	"EntryOfAPurchase":    {books.ServicePurchase, entry("debit = '41'"), "general 1.debit", ""},
	"EntryOfABankPayment": {books.BankPayment, entry("debit_2 = {contract}"), "general 1.debit_2", ""},

	// catalogs, boundaries, totals
	"DepartmentOfAnEmployee": {"", "INSERT INTO cat_employees (id, organisation, code, name, department) SELECT " +
		"gen_random_uuid(), organisation, 'E', 'E', gen_random_uuid() FROM cat_departments LIMIT 1",
		"department", "employees E "},
	"WarehouseOfAUser": {"", "UPDATE cat_users SET warehouse = (SELECT id FROM cat_warehouses w WHERE w.organisation " +
		"<> cat_users.organisation LIMIT 1) WHERE code = 'user1'", "warehouse", "users user1 "},
	"ItemOfAnAsset": {"", "UPDATE cat_fixed_assets SET item = gen_random_uuid() WHERE code = 'fixed_assets 1.7'",
		"item", "fixed_assets "},
	"GroupOfAService": {"", "UPDATE cat_services SET nomenclature_group = gen_random_uuid() WHERE code = 'S1'",
		"nomenclature_group", "services S1 "},
	"LineOfNoHeader": {"", "INSERT INTO doc_goods_sale_lines (document, line, organisation) SELECT " +
		"gen_random_uuid(), 1, id FROM cat_organisations LIMIT 1", "lines 1", "goods_sale ? "},
	"BoundaryOfNothing": {"", "INSERT INTO acc_batches_boundary (organisation, warehouse, item, moment) SELECT id, " +
		"gen_random_uuid(), gen_random_uuid(), now() FROM cat_organisations LIMIT 1",
		"warehouse", "organisation="},
	"BoundaryOf2000": {"", "INSERT INTO acc_batches_boundary (organisation, warehouse, item, moment) SELECT " +
		"organisation, warehouse, item, '2000-01-01' FROM acc_batches ORDER BY item, warehouse LIMIT 1",
		"moment", "organisation="},
	"TotalOfAMonth": {"", "UPDATE acc_cash_totals SET amount = amount + 1 WHERE period < 'infinity'",
		"amount", "cash_account="},
	"TotalOfAnAccount": {"", "UPDATE gl_general_accounts SET debit = debit + 1 WHERE account = '51'",
		"debit", "account=51 month="},
	"TotalThatIsSplit": {"", "WITH one AS (UPDATE gl_general_totals SET debit = debit + 100 WHERE ctid = (SELECT " +
		"ctid FROM gl_general_totals WHERE account = '60' AND period < 'infinity' LIMIT 1) RETURNING *) INSERT " +
		"INTO gl_general_totals (organisation, account, analytic_1, analytic_2, analytic_3, period, split, debit) " +
		"SELECT organisation, account, analytic_1, analytic_2, analytic_3, period, (split + 1) % 8, -100 FROM one " +
		"ON CONFLICT (organisation, account, analytic_1, analytic_2, analytic_3, period, split) DO UPDATE SET " +
		"debit = gl_general_totals.debit - 100", "debit", "account=60"},
	"SplitThatIsInvented": {"", "WITH one AS (UPDATE gl_general_accounts SET credit = credit + 100 WHERE ctid = " +
		"(SELECT ctid FROM gl_general_accounts WHERE account = '90' LIMIT 1) RETURNING *) INSERT INTO " +
		"gl_general_accounts (organisation, account, period, split, credit) SELECT organisation, account, period, " +
		"99, -100 FROM one", "credit", "account=90"},
	"CurrencyOfAContract": {"", "UPDATE cat_contracts SET currency = 'USD' WHERE code = 'P2'",
		"currency", "contracts P2 "},
	"CurrencyOfACashAccount": {"", "UPDATE cat_cash_accounts SET currency = 'EUR' WHERE code = 'cash_accounts 1.3'",
		"currency", "cash_accounts cash_accounts 1.3 "},
	"OrganisationOfAnElement": {"", "UPDATE cat_departments SET organisation = gen_random_uuid() WHERE code = " +
		"'departments 1.5'", "organisation", "departments departments 1.5 "},
}

const (
	None = "'00000000-0000-0000-0000-000000000000'"
	// Swapped are debit and credit of an entry.
	Swapped = "UPDATE gl_general SET debit = credit, debit_1 = credit_1, debit_2 = credit_2, credit = debit, " +
		"credit_1 = debit_1, credit_2 = debit_2 WHERE recorder = {id} AND line = 1"
	// In2099 is a sale with all that it has recorded.
	In2099 = "UPDATE doc_{type} SET date = '2099-06-01' WHERE id = {id}; " +
		"UPDATE acc_customer_settlements SET period = '2099-06-01' WHERE recorder = {id}; " +
		"UPDATE acc_output_vat SET period = '2099-06-01' WHERE recorder = {id}; " +
		"UPDATE gl_general SET period = '2099-06-01' WHERE recorder = {id}"
)

func header(set string) string { return "UPDATE doc_{type} SET " + set + " WHERE id = {id}" }
func line(set string) string {
	return "UPDATE doc_{type}_lines SET " + set + " WHERE document = {id} AND line = 1"
}
func moved(register, set string) string {
	return "UPDATE acc_" + register + " SET " + set + " WHERE recorder = {id} AND line = 1"
}
func stated(register, set string) string {
	return "UPDATE inf_" + register + " SET " + set + " WHERE recorder = {id}"
}
func entry(set string) string {
	return "UPDATE gl_general SET " + set + " WHERE recorder = {id} AND line = 1"
}

// duplicateFirstRow copies the first row of a document's record set to its end.
func duplicateFirstRow(table string) string {
	return "DO $$ DECLARE one " + table + "; BEGIN SELECT * INTO one FROM " + table + " WHERE recorder = {id} AND " +
		"line = 1; one.line = (SELECT max(line) + 1 FROM " + table + " WHERE recorder = {id}); INSERT INTO " + table +
		" SELECT one.*; END $$"
}

// BackupOnly says whether nothing in the books shows what a damage has destroyed: a document's own fields and lines,
// which everything else follows from, or a catalog. All others a repair undoes.
func BackupOnly(name string) bool { return slices.Contains(backupOnly, name) }

var backupOnly = strings.Fields(`
AnotherAuthor AuthorOfAnotherOrganisation AuthorThatIsGone CurrencyOfACashAccount CurrencyOfAContract NoAuthor
NumberOfAGap NumberOfAnotherForm NumberOfAnotherType NumberWithADigitMore OperationOfNobody OperationThatIsGone
OrganisationOfAnElement SaleIn2099
AccountOfAnother AmountOfABankReceipt AmountOfAPayment AmountOfARequest AssetThatIsGone BasisOfAnInvoice
BasisOfAnInvoiceReceived BasisOfAnIssueOrder CellOfALine CellThatIsGone ContractOfALine ContractOfARequest
ContractOfASupplierOrder ContractOfAnotherOrganisation CostOfABatch CounterpartyOfACustomerOrder DebitOfALine
DepartmentOfAnEmployee DepartmentThatIsGone GroupOfAService HeaderThatIsGone InvestedInAnAsset ItemOfAnAsset
ItemOfAnOrder ItemThatIsGone LifeOfAnAsset LineOfAnother LineOfNoHeader LineThatIsGone LinesThatAreCounted
NoAssetOfAServicePurchase NoLines NoWarehouse NumberOfAnInvoiceReceived OrderThatIsGone OrganisationOfAHeader
PaymentThatIsGone PriceOfAReceipt PriceOfFoundGoods QuantityConsumed QuantityOfACell QuantityOfASale QuantityOfAnAsset
QuantityOfAnOrder ReferenceOfABankReceipt RequestThatIsGone ResultOfAMonth ServiceThatIsGone SideOfALine
SupplierNumberOfAReceipt WarehouseOfAReceiptOrder WarehouseOfAUser WarehouseThatIsGone
`)
