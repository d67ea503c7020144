package purchases

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// ServicePurchase is the type of document: its description and its rules.
func ServicePurchase() books.DocumentType {
	return books.DocumentType{Rules: servicePurchaseRules{}, Document: metadata.Document{
		Name: books.ServicePurchase, Title: "Purchase of services", Prefix: "SP", Search: []string{"counterparty"},
		Registers:  books.Names(books.SupplierSettlements, books.InputVAT, books.General),
		Optional:   books.Names(books.SupplierNumbers, books.Investments),
		Attributes: books.DealHeader(books.SupplierNumber, books.Department, books.ExpenseItem, books.Asset),
		Sections:   []metadata.Section{books.PricedLines(books.Service)},
	}}
}

// servicePurchaseRules: services are overheads of a department, or what a fixed asset costs that is not in use yet;
// the supplier's number of the paper comes once.
//
//	SS+ · VAT+ · investments+ of an asset · supplier's number
//	  Dr 26 (of an asset Dr 08) Cr 60 amount  ·  Dr 19 Cr 60 VAT
type servicePurchaseRules struct{}

func (servicePurchaseRules) Reads() map[string][]string {
	return map[string][]string{books.Services: books.Names(books.VATRate, books.PurchasePrice),
		books.Contracts: books.SettlementReads}
}

// Balances: a purchase for an asset is seen by the document that commissions it.
func (servicePurchaseRules) Needs(d *document.Document) posting.Needs {
	asset := books.Asset.In(d)
	if asset.IsZero() {
		return posting.Needs{}
	}
	return posting.Needs{Lock: []posting.Lock{books.Investments.Lock(d, books.Investments.Key(asset))}}
}

func (servicePurchaseRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Supplier); err != nil {
		return nil, err
	}
	on, err := spentOn(d)
	if err != nil {
		return nil, err
	}
	if err := books.PriceLines(d, facts, books.Service, books.PurchasePrice); err != nil {
		return nil, err
	}
	records := &posting.Records{
		Information: supplierNumber(d),
		Movements: []*register.Movements{books.Settle(d, facts, books.SupplierSettlements, false, books.Total.In(d)),
			books.ChargeVAT(d, books.InputVAT)},
		Entries: books.General.Entries(
			books.DebitCredit(on, books.SettlementAccount(d, books.AccountSuppliers), books.Amount.In(d)),
			books.DebitCredit(ledger.At(books.AccountInputVAT, books.Counterparty.In(d)),
				books.SettlementAccount(d, books.AccountSuppliers),
				books.VAT.In(d))),
	}
	if asset := books.Asset.In(d); !asset.IsZero() {
		invested := books.Investments.Movements(1)
		invested.Add(false, asset, books.Amount.In(d))
		records.Movements = append(records.Movements, invested)
	}
	return records, nil
}

// spentOn is the account that services are for: of an asset, or of a department with an item of expense.
func spentOn(d *document.Document) (ledger.Account, error) {
	asset, department, expense := books.Asset.In(d), books.Department.In(d), books.ExpenseItem.In(d)
	switch {
	case asset.IsZero() && department.IsZero():
		return ledger.Account{}, &document.Invalid{Field: "department", Reason: "must be given, or an asset"}
	case asset.IsZero() && expense.IsZero():
		return ledger.Account{}, &document.Invalid{Field: "expense_item", Reason: "must be given with a department"}
	case asset.IsZero():
		return ledger.At(books.AccountOverheads, department, expense), nil
	case !department.IsZero() || !expense.IsZero():
		return ledger.Account{}, &document.Invalid{Field: "asset",
			Reason: "is given besides a department or an item of expense"}
	}
	return ledger.At(books.AccountInvestments, asset), nil
}
