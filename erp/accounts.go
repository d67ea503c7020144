package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
)

// General is the general ledger.
const General = "general"

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

// general: its analytics are by what somebody asks for a balance of; what there is of an item is known to the stock.
func general() metadata.Accounting {
	return metadata.Accounting{Name: General, Title: "General ledger", Splits: 8, Accounts: []metadata.Account{
		{Code: AccountAssets, Title: "Fixed assets", Kind: metadata.Active, Analytics: []string{"fixed_assets"}},
		{Code: AccountInvestments, Title: "Investments in fixed assets", Kind: metadata.Active, Analytics: []string{"fixed_assets"}},
		{Code: AccountMaterials, Title: "Materials", Kind: metadata.Active, Analytics: []string{"warehouses"}},
		{Code: AccountInputVAT, Title: "VAT on purchases", Kind: metadata.Active, Analytics: []string{"counterparties"}},
		{Code: AccountOverheads, Title: "Overheads", Kind: metadata.Active, Analytics: []string{"departments", "expense_items"}},
		{Code: AccountGoods, Title: "Goods", Kind: metadata.Active, Analytics: []string{"warehouses"}},
		{Code: AccountCashDesk, Title: "Cash", Kind: metadata.Active, Analytics: []string{"cash_accounts"}},
		{Code: AccountBank, Title: "Bank accounts", Kind: metadata.Active, Analytics: []string{"cash_accounts"}},
		{Code: AccountSuppliers, Title: "Settlements with suppliers", Kind: metadata.Both, Analytics: []string{"counterparties", "contracts"}},
		{Code: AccountCustomers, Title: "Settlements with customers", Kind: metadata.Both, Analytics: []string{"counterparties", "contracts"}},
		{Code: AccountTaxes, Title: "Taxes", Kind: metadata.Both},
		{Code: AccountAdvancesReceived, Title: "VAT on advances received", Kind: metadata.Active, Analytics: []string{"counterparties", "contracts"}},
		{Code: AccountAdvancesPaid, Title: "VAT on advances paid", Kind: metadata.Passive, Analytics: []string{"counterparties", "contracts"}},
		{Code: AccountSales, Title: "Sales", Kind: metadata.Both},
		{Code: AccountOther, Title: "Other income and expenses", Kind: metadata.Both},
		{Code: AccountProfit, Title: "Profit and loss", Kind: metadata.Both},
	}}
}

type entry struct {
	debit, credit ledger.Account
	sum           amount.Money
}

// entriesOf a document: those of a zero sum are left out except for the first, so that
// every posted document can be found in the ledger.
func entriesOf(entries ...entry) []*ledger.Entries {
	e := &ledger.Entries{Ledger: General}
	for i, x := range entries {
		if i == 0 || x.sum != 0 {
			e.Add(x.debit, x.credit, x.sum)
		}
	}
	return []*ledger.Entries{e}
}
