package books

import "plimsoll/platform/model/metadata"

// Accounts of the general ledger.
const (
	AccountAssets           = "01"
	AccountInvestments      = "08"
	AccountMaterials        = "10"
	AccountInputVAT         = "19"
	AccountOverheads        = "26"
	AccountGoods            = "41"
	AccountCashDesk         = "50"
	AccountBank             = "51"
	AccountSuppliers        = "60"
	AccountCustomers        = "62"
	AccountTaxes            = "68"
	AccountAdvancesReceived = "76AV"
	AccountAdvancesPaid     = "76VA"
	AccountSales            = "90"
	AccountOther            = "91"
	AccountProfit           = "99"
)

// General is the general ledger. Its analytics are by what somebody asks for a balance of; what there is of an item
// is known to the stock.
var General = Ledger{&metadata.Accounting{
	Name: "general", Title: "General ledger", Splits: 8, Accounts: []metadata.Account{
		{Code: AccountAssets, Title: "Fixed assets", Kind: metadata.Active, Analytics: []string{FixedAssets}},
		{Code: AccountInvestments, Title: "Investments in fixed assets", Kind: metadata.Active,
			Analytics: []string{FixedAssets}},
		{Code: AccountMaterials, Title: "Materials", Kind: metadata.Active, Analytics: []string{Warehouses}},
		{Code: AccountInputVAT, Title: "VAT on purchases", Kind: metadata.Active,
			Analytics: []string{Counterparties}},
		{Code: AccountOverheads, Title: "Overheads", Kind: metadata.Active,
			Analytics: []string{Departments, ExpenseItems}},
		{Code: AccountGoods, Title: "Goods", Kind: metadata.Active, Analytics: []string{Warehouses}},
		{Code: AccountCashDesk, Title: "Cash", Kind: metadata.Active, Analytics: []string{CashAccounts}},
		{Code: AccountBank, Title: "Bank accounts", Kind: metadata.Active, Analytics: []string{CashAccounts}},
		{Code: AccountSuppliers, Title: "Settlements with suppliers", Kind: metadata.Both,
			Analytics: []string{Counterparties, Contracts}},
		{Code: AccountCustomers, Title: "Settlements with customers", Kind: metadata.Both,
			Analytics: []string{Counterparties, Contracts}},
		{Code: AccountTaxes, Title: "Taxes", Kind: metadata.Both},
		{Code: AccountAdvancesReceived, Title: "VAT on advances received", Kind: metadata.Active,
			Analytics: []string{Counterparties, Contracts}},
		{Code: AccountAdvancesPaid, Title: "VAT on advances paid", Kind: metadata.Passive,
			Analytics: []string{Counterparties, Contracts}},
		{Code: AccountSales, Title: "Sales", Kind: metadata.Both},
		{Code: AccountOther, Title: "Other income and expenses", Kind: metadata.Both},
		{Code: AccountProfit, Title: "Profit and loss", Kind: metadata.Both},
	},
}}
