package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// AssetCommissioning is the type of document.
const AssetCommissioning = "asset_commissioning"

func assetCommissioning() metadata.Document {
	return metadata.Document{
		Name: AssetCommissioning, Title: "Fixed-asset commissioning", Prefix: "FC", Search: []string{"asset", "department"},
		Registers: []string{AssetStates, AssetCosts, General}, Optional: []string{Investments, Stock, Batches, ToShip},
		Attributes: []metadata.Attribute{
			required(reference("asset", "fixed_assets")), reference("department", "departments"), typed("useful_months", metadata.Integer), reference("warehouse", "warehouses"),
			computed("invested", metadata.Money), computed("cost", metadata.Money), computed("total", metadata.Money),
		},
		Sections: []metadata.Section{{Name: "lines", MaxRows: LinesMax, Attributes: []metadata.Attribute{
			required(reference("item", "items")), required(typed("quantity", metadata.Quantity)), computed("cost", metadata.Money),
		}}},
	}
}

// commissioningRules: an asset is put to use once, at all that lies on account 08 for it: what has been invested in it before, and what is taken from
// stock for it now, at the cost of the oldest batches. So nothing is left on 08, and it is never below zero. What is invested later lies there until
// the commissioning is posted anew.
//
//	FA state · FA cost+ · investments− · ST− · CB− · to be shipped+  ·  Dr 08 Cr 10/41 cost  ·  Dr 01 Cr 08 total
type commissioningRules struct{}

func (commissioningRules) Reads() map[string][]string {
	return map[string][]string{"items": {"account"}, "warehouses": {"addressed"}, "fixed_assets": {"department", "useful_months"}}
}

func (commissioningRules) Balances(d *document.Document) []posting.Balance {
	needs := []posting.Balance{need(d, Investments, keys(Investments, []id.ID{refOf(d, "asset")}))}
	if d.Section("lines").Rows() > 0 {
		needs = append(needs, batchesFor(d), need(d, Reserves, placeKeys(d, Reserves)))
	}
	return needs
}

func (commissioningRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := commissioned(d, facts); err != nil {
		return nil, err
	}
	asset, invested := refOf(d, "asset"), rowset.Column[amount.Money](facts.Balances[Investments], "amount")[0]
	rowset.Column[amount.Money](d.Header, "invested")[0] = invested
	records, err := commissioningRules{}.Recost(d, facts)
	if err != nil {
		return nil, err
	}
	if sumOf(d, "total") == 0 {
		return nil, &posting.Refusal{Control: "cost", Message: "the asset has cost nothing: neither has anything been invested in it, nor is anything taken from stock for it"}
	}
	if invested > 0 {
		spent := moves(Investments, 1)
		spent.Add(true, asset, invested)
		records.Movements = append(records.Movements, spent)
	}
	if d.Section("lines").Rows() > 0 {
		records.Movements = append(records.Movements, await(d, facts, ToShip)...)
	}
	records.Information = []*information.Records{record(AssetStates, asset, refOf(d, "department"), numberOf(d, "useful_months"), d.Date)}
	return records, nil
}

// Recost implements posting.Costing: of what is taken from stock, on top of what was invested.
func (commissioningRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	asset := refOf(d, "asset")
	records, entries, err := fromStock(d, facts, ledger.At(AccountInvestments, asset))
	if err != nil {
		return nil, err
	}
	total, err := amount.Sum(sumOf(d, "invested"), sumOf(d, "cost"))
	if err != nil {
		return nil, err
	}
	rowset.Column[amount.Money](d.Header, "total")[0] = total
	cost := moves(AssetCosts, 1)
	cost.Add(false, asset, total)
	records.Movements = append(records.Movements, cost)
	records.Entries = entriesOf(append(entries, entry{ledger.At(AccountAssets, asset), ledger.At(AccountInvestments, asset), total})...)
	return records, nil
}

// commissioned checks what the asset is to be; what is not given is as its card says.
func commissioned(d *document.Document, facts *posting.Facts) error {
	assets, asset := facts.Catalogs["fixed_assets"], refOf(d, "asset")
	department, months := &rowset.Column[id.ID](d.Header, "department")[0], &rowset.Column[int64](d.Header, "useful_months")[0]
	if department.IsZero() {
		*department = of[id.ID](assets, asset, "department")
	}
	if *months == 0 {
		*months = of[int64](assets, asset, "useful_months")
	}
	switch lines := d.Section("lines").Rows(); {
	case *months < 0:
		return &document.Invalid{Field: "useful_months", Reason: "is below zero"}
	case department.IsZero():
		return &document.Invalid{Field: "department", Reason: "must be given: the asset has none"}
	case (lines > 0) != !refOf(d, "warehouse").IsZero():
		return &document.Invalid{Field: "warehouse", Reason: "is given when there are lines, and only then"}
	}
	return nil
}

// fromStock takes the lines, if there are any, from stock onto an account.
func fromStock(d *document.Document, facts *posting.Facts, to ledger.Account) (*posting.Records, []entry, error) {
	if d.Section("lines").Rows() == 0 {
		rowset.Column[amount.Money](d.Header, "cost")[0] = 0
		return &posting.Records{}, nil, nil
	}
	taken, err := takeFromStock(d, facts)
	if err != nil {
		return nil, nil, err
	}
	cost := rowset.Column[amount.Money](d.Section("lines"), "cost")
	var entries []entry
	for _, v := range valued(d, facts, cost) {
		entries = append(entries, entry{to, v.account, v.sum})
	}
	return &posting.Records{Movements: []*register.Movements{stockMovements(d, true, cost), taken}}, entries, nil
}

func numberOf(d *document.Document, name string) int64 {
	return rowset.Column[int64](d.Header, name)[0]
}
