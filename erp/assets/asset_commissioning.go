package assets

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/model/metadata"
)

// Commissioning is the type of document: its description and its rules.
func Commissioning() books.DocumentType {
	return books.DocumentType{Rules: commissioningRules{}, Document: metadata.Document{
		Name: books.AssetCommissioning, Title: "Fixed-asset commissioning", Prefix: "FC",
		Search:    []string{"asset", "department"},
		Registers: books.Names(books.AssetStates, books.AssetCosts, books.General),
		Optional:  books.Names(books.Investments, books.Stock, books.Batches, books.ToShip),
		Attributes: books.Attributes(books.Asset.Required(), books.Department, books.UsefulMonths, books.Warehouse,
			investedBefore.Computed(),
			books.Cost.Computed(), books.Total.Computed()),
		Sections: []metadata.Section{books.LineSection(0, books.Item.Required(), books.Quantity.Required(),
			books.Cost.Computed())},
	}}
}

// investedBefore is what lay on account 08 for the asset.
var investedBefore = books.MoneyAttr("invested")

// commissioningRules: an asset is put to use once, at all that lies on account 08 for it: what has been invested in
// it before, and what is taken from stock for it now, at the cost of the oldest batches. So nothing is left on 08,
// and it is never below zero. What is invested later lies there until the commissioning is reposted.
//
//	FA state · FA cost+ · investments− · ST− · CB− · to be shipped+  ·  Dr 08 Cr 10/41 cost  ·  Dr 01 Cr 08 total
type commissioningRules struct{}

func (commissioningRules) Reads() map[string][]string {
	return map[string][]string{books.Items: books.Names(books.Account), books.Warehouses: books.Names(books.Addressed),
		books.FixedAssets: books.Names(books.Department, books.UsefulMonths)}
}

func (commissioningRules) Needs(d *document.Document) posting.Needs {
	needs := posting.Needs{Read: []posting.Need{
		books.Investments.Need(d, books.Investments.Key(books.Asset.In(d))),
	}}
	if books.Lines(d).Rows() > 0 {
		needs.Read = append(needs.Read, books.NeedBatches(d),
			books.Reserves.Need(d, books.Reserves.ItemKeys(d, books.Warehouse.In(d))))
	}
	return needs
}

func (commissioningRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := commissioned(d, facts); err != nil {
		return nil, err
	}
	asset, invested := books.Asset.In(d), books.Amount.Of(books.Investments.Balances(facts))[0]
	investedBefore.Set(d, invested)
	records, err := commissioningRules{}.Recost(d, facts)
	if err != nil {
		return nil, err
	}
	if books.Total.In(d) == 0 {
		return nil, &posting.Refusal{Control: "cost", Message: "the asset has no cost: nothing has been invested in " +
			"it, and nothing is taken from stock for it"}
	}
	if invested > 0 {
		spent := books.Investments.Movements(1)
		spent.Add(true, asset, invested)
		records.Movements = append(records.Movements, spent)
	}
	if books.Lines(d).Rows() > 0 {
		records.Movements = append(records.Movements, books.Await(d, facts, books.ToShip)...)
	}
	records.Information = []*information.Records{books.AssetStates.State(asset, books.Department.In(d),
		books.UsefulMonths.In(d), d.Date)}
	return records, nil
}

// Recost implements posting.Costing: of what is taken from stock, on top of what was invested.
func (commissioningRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	asset := books.Asset.In(d)
	records, entries, err := fromStock(d, facts, ledger.At(books.AccountInvestments, asset))
	if err != nil {
		return nil, err
	}
	total, err := amount.Sum(investedBefore.In(d), books.Cost.In(d))
	if err != nil {
		return nil, err
	}
	books.Total.Set(d, total)
	cost := books.AssetCosts.Movements(1)
	cost.Add(false, asset, total)
	records.Movements = append(records.Movements, cost)
	records.Entries = books.General.Entries(append(entries,
		books.DebitCredit(ledger.At(books.AccountAssets, asset), ledger.At(books.AccountInvestments, asset), total))...)
	return records, nil
}

// commissioned checks the asset's target state; what is not given is taken from its card.
func commissioned(d *document.Document, facts *posting.Facts) error {
	assets, asset := facts.Catalogs[books.FixedAssets], books.Asset.In(d)
	if books.Department.In(d).IsZero() {
		books.Department.Set(d, books.Attr(assets, asset, books.Department))
	}
	if books.UsefulMonths.In(d) == 0 {
		books.UsefulMonths.Set(d, books.Attr(assets, asset, books.UsefulMonths))
	}
	switch lines := books.Lines(d).Rows(); {
	case books.UsefulMonths.In(d) < 0:
		return &document.Invalid{Field: "useful_months", Reason: "must not be negative"}
	case books.Department.In(d).IsZero():
		return &document.Invalid{Field: "department", Reason: "must be given: the asset's card has none"}
	case (lines > 0) != !books.Warehouse.In(d).IsZero():
		return &document.Invalid{Field: "warehouse", Reason: "must be given if there are lines, and only then"}
	}
	return nil
}

// fromStock takes the lines, if there are any, from stock onto an account.
func fromStock(d *document.Document, facts *posting.Facts, to ledger.Account) (*posting.Records, []books.Entry, error) {
	if books.Lines(d).Rows() == 0 {
		books.Cost.Set(d, 0)
		return &posting.Records{}, nil, nil
	}
	taken, err := books.TakeFromStock(d, facts)
	if err != nil {
		return nil, nil, err
	}
	cost := books.Cost.Of(books.Lines(d))
	var entries []books.Entry
	for _, v := range books.ByAccount(d, facts, cost) {
		entries = append(entries, books.DebitCredit(to, v.Account, v.Sum))
	}
	return &posting.Records{Movements: []*register.Movements{books.StockMovements(d, true, cost), taken}}, entries, nil
}

// Restate implements posting.Evident.
func (commissioningRules) Restate(d *document.Document, facts *posting.Facts, _ *posting.Records) {
	books.Amount.Of(books.Investments.Balances(facts))[0] = investedBefore.In(d)
}
