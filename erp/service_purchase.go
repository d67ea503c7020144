package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
)

// ServicePurchase is the type of document.
const ServicePurchase = "service_purchase"

func servicePurchase() metadata.Document {
	return metadata.Document{
		Name: ServicePurchase, Title: "Purchase of services", Prefix: "SP", Search: []string{"counterparty"},
		Registers: []string{SupplierSettlements, InputVAT, General}, Optional: []string{SupplierNumbers, Investments},
		Attributes: trade(
			text("supplier_number", 50), reference("department", "departments"), reference("expense_item", "expense_items"), reference("asset", "fixed_assets")),
		Sections: []metadata.Section{linesOf("service", "services")},
	}
}

// servicePurchaseRules: services are overheads of a department, or what a fixed asset costs that is not in use yet; the supplier's number of the
// paper comes once.
//
//	SS+ · VAT+ · investments+ of an asset · supplier's number  ·  Dr 26 (of an asset Dr 08) Cr 60 amount  ·  Dr 19 Cr 60 VAT
type servicePurchaseRules struct{}

func (servicePurchaseRules) Reads() map[string][]string {
	return map[string][]string{"services": {"vat_rate", "purchase_price"}, "contracts": settlementReads}
}

// Balances: who writes down what an asset costs is seen by who commissions it.
func (servicePurchaseRules) Balances(d *document.Document) []posting.Balance {
	asset := refOf(d, "asset")
	if asset.IsZero() {
		return nil
	}
	return []posting.Balance{guard(d, Investments, keys(Investments, []id.ID{asset}))}
}

func (servicePurchaseRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "supplier"); err != nil {
		return nil, err
	}
	on, err := spentOn(d)
	if err != nil {
		return nil, err
	}
	if err := priceLinesOf(d, facts.Catalogs["services"], "service", "purchase_price"); err != nil {
		return nil, err
	}
	records := &posting.Records{
		Information: supplierNumber(d),
		Movements:   []*register.Movements{settle(d, facts, SupplierSettlements, false, sumOf(d, "total")), charge(d, InputVAT)},
		Entries: entriesOf(
			entry{on, settlementAccount(d, AccountSuppliers), sumOf(d, "amount")},
			entry{ledger.At(AccountInputVAT, refOf(d, "counterparty")), settlementAccount(d, AccountSuppliers), sumOf(d, "vat")}),
	}
	if asset := refOf(d, "asset"); !asset.IsZero() {
		invested := moves(Investments, 1)
		invested.Add(false, asset, sumOf(d, "amount"))
		records.Movements = append(records.Movements, invested)
	}
	return records, nil
}

// spentOn is the account that services are for: of an asset, or of a department with an item of expense.
func spentOn(d *document.Document) (ledger.Account, error) {
	asset, department, expense := refOf(d, "asset"), refOf(d, "department"), refOf(d, "expense_item")
	switch {
	case asset.IsZero() && department.IsZero():
		return ledger.Account{}, &document.Invalid{Field: "department", Reason: "must be given, or an asset"}
	case asset.IsZero() && expense.IsZero():
		return ledger.Account{}, &document.Invalid{Field: "expense_item", Reason: "must be given with a department"}
	case asset.IsZero():
		return ledger.At(AccountOverheads, department, expense), nil
	case !department.IsZero() || !expense.IsZero():
		return ledger.Account{}, &document.Invalid{Field: "asset", Reason: "is given besides a department or an item of expense"}
	}
	return ledger.At(AccountInvestments, asset), nil
}
