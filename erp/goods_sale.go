package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// GoodsSale is the type of document.
const GoodsSale = "goods_sale"

func goodsSale() metadata.Document {
	return metadata.Document{
		Name: GoodsSale, Title: "Goods sale", Prefix: "GS", Search: []string{"counterparty"},
		Registers:  []string{Stock, Batches, CustomerSettlements, OutputVAT, General},
		Optional:   []string{CustomerOrders, Reserves, ToShip},
		Attributes: header(text("delivery_address", 500), computed("cost", metadata.Money), paper("source_order", CustomerOrder)),
		Sections:   []metadata.Section{lines(computed("cost", metadata.Money))},
	}
}

// saleRules: goods go out at the cost of the oldest batches (first in, first out), under a lock of each item
// at the warehouse, and never more than there is that is not reserved for others.
//
//	ST− · CB− · RS− · OR− · SC+ · VAT+ · to be shipped+  ·  Dr 62 Cr 90 total  ·  Dr 90 Cr 41/10 cost  ·  Dr 90 Cr 68 VAT
type saleRules struct{}

func (saleRules) Reads() map[string][]string {
	return map[string][]string{
		"items": {"vat_rate", "price", "account"}, "contracts": settlementReads, "warehouses": {"addressed"},
		CustomerOrder: {"counterparty", "contract", "warehouse"},
	}
}

func (saleRules) Balances(d *document.Document) []posting.Balance {
	needs := []posting.Balance{
		batchesFor(d), need(d, Reserves, placeKeys(d, Reserves)),
		need(d, CustomerSettlements, contractKeys(d, CustomerSettlements)),
	}
	if order := refOf(d, "source_order"); !order.IsZero() {
		needs = append(needs, need(d, CustomerOrders, orderKeys(d, CustomerOrders, order)))
	}
	return needs
}

func (saleRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "customer"); err != nil {
		return nil, err
	}
	if err := byOrder(d, facts, CustomerOrder, "counterparty", "contract", "warehouse"); err != nil {
		return nil, err
	}
	if err := priceLines(d, facts, "price"); err != nil {
		return nil, err
	}
	fulfilled, err := fulfilSale(d, facts)
	if err != nil {
		return nil, err
	}
	taken, err := takeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	if err := withinCredit(d, facts, sumOf(d, "total")); err != nil {
		return nil, err
	}
	cost := rowset.Column[amount.Money](d.Section("lines"), "cost")
	records := &posting.Records{Movements: append([]*register.Movements{
		stockMovements(d, true, cost), taken, settle(d, facts, CustomerSettlements, false, sumOf(d, "total")), charge(d, OutputVAT),
	}, append(fulfilled, await(d, facts, ToShip)...)...)}
	records.Entries = saleEntries(d, facts, cost)
	return records, nil
}

func saleEntries(d *document.Document, facts *posting.Facts, cost []amount.Money) []*ledger.Entries {
	sales := ledger.At(AccountSales)
	entries := []entry{{settlementAccount(d, AccountCustomers), sales, sumOf(d, "total")}}
	for _, v := range valued(d, facts, cost) {
		entries = append(entries, entry{sales, v.account, v.sum})
	}
	return entriesOf(append(entries, entry{sales, ledger.At(AccountTaxes), sumOf(d, "vat")})...)
}

// Recost implements posting.Costing.
func (saleRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	taken, err := takeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	cost := rowset.Column[amount.Money](d.Section("lines"), "cost")
	return &posting.Records{Movements: []*register.Movements{stockMovements(d, true, cost), taken}, Entries: saleEntries(d, facts, cost)}, nil
}

// fulfilSale takes what is sold off the order, if there is one, and off what has been reserved for it.
func fulfilSale(d *document.Document, facts *posting.Facts) ([]*register.Movements, error) {
	if refOf(d, "source_order").IsZero() {
		return nil, nil
	}
	taken, err := fulfil(d, facts, CustomerOrders)
	if err != nil {
		return nil, err
	}
	released, items := moves(Reserves, taken.Rows.Rows()), rowset.Column[id.ID](taken.Rows, "item")
	for i, quantity := range rowset.Column[amount.Quantity](taken.Rows, "reserved") {
		if quantity > 0 {
			released.Add(true, refOf(d, "warehouse"), items[i], quantity)
		}
	}
	return []*register.Movements{taken, released}, nil
}
