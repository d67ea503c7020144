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

// GoodsReceipt is the type of document.
const GoodsReceipt = "goods_receipt"

func goodsReceipt() metadata.Document {
	return metadata.Document{
		Name: GoodsReceipt, Title: "Goods receipt", Prefix: "GR", Search: []string{"counterparty"},
		Registers:  []string{Stock, Batches, SupplierSettlements, InputVAT, General},
		Optional:   []string{SupplierNumbers, SupplierOrders, ToReceive},
		Attributes: header(text("supplier_number", 50), paper("source_order", SupplierOrder)), Sections: []metadata.Section{lines()},
	}
}

// receiptRules: goods come in at their price without VAT, by an order not more than is open of it. They read no stock, but lock what they
// bring, so that a sale either takes from it or is seen when it is looked for whether costs are still in the order of time.
//
//	ST+ · CB+ · OR− · SS+ · VAT+ · to be received+ · supplier's number  ·  Dr 41/10 Cr 60 amount  ·  Dr 19 Cr 60 VAT
type receiptRules struct{}

func (receiptRules) Reads() map[string][]string {
	return map[string][]string{
		"items": {"vat_rate", "purchase_price", "account"}, "contracts": settlementReads, "warehouses": {"addressed"},
		SupplierOrder: {"counterparty", "contract"},
	}
}

func (receiptRules) Balances(d *document.Document) []posting.Balance {
	needs := []posting.Balance{guard(d, Batches, placeKeys(d, Batches))}
	if order := refOf(d, "source_order"); !order.IsZero() {
		needs = append(needs, need(d, SupplierOrders, orderKeys(d, SupplierOrders, order)))
	}
	return needs
}

func (receiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "supplier"); err != nil {
		return nil, err
	}
	if err := byOrder(d, facts, SupplierOrder, "counterparty", "contract"); err != nil {
		return nil, err
	}
	if err := priceLines(d, facts, "purchase_price"); err != nil {
		return nil, err
	}
	net := rowset.Column[amount.Money](d.Section("lines"), "amount")
	records := &posting.Records{Movements: []*register.Movements{
		stockMovements(d, false, net), layersBrought(d, net), settle(d, facts, SupplierSettlements, false, sumOf(d, "total")), charge(d, InputVAT),
	}}
	records.Movements = append(records.Movements, await(d, facts, ToReceive)...)
	if order := refOf(d, "source_order"); !order.IsZero() {
		taken, err := fulfil(d, facts, SupplierOrders)
		if err != nil {
			return nil, err
		}
		records.Movements = append(records.Movements, taken)
	}
	records.Information = supplierNumber(d)
	var entries []entry
	for _, v := range valued(d, facts, net) {
		entries = append(entries, entry{v.account, settlementAccount(d, AccountSuppliers), v.sum})
	}
	vat := entry{ledger.At(AccountInputVAT, refOf(d, "counterparty")), settlementAccount(d, AccountSuppliers), sumOf(d, "vat")}
	records.Entries = entriesOf(append(entries, vat)...)
	return records, nil
}

// supplierNumber of a document, when it has one.
func supplierNumber(d *document.Document) []*information.Records {
	number := textOf(d, "supplier_number")
	if number == "" {
		return nil
	}
	return []*information.Records{record(SupplierNumbers, refOf(d, "counterparty"), number)}
}

// layersBrought by a document of goods: one for each line, at the given values.
func layersBrought(d *document.Document, value []amount.Money) *register.Movements {
	m := moves(Batches, len(value))
	lines, warehouse := d.Section("lines"), refOf(d, "warehouse")
	quantity := rowset.Column[amount.Quantity](lines, "quantity")
	for i, item := range rowset.Column[id.ID](lines, "item") {
		m.Add(false, warehouse, item, d.ID, int64(i+1), quantity[i], value[i])
	}
	return m
}
