package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// OtherGoodsReceipt is the type of document.
const OtherGoodsReceipt = "other_goods_receipt"

func otherGoodsReceipt() metadata.Document {
	return metadata.Document{
		Name: OtherGoodsReceipt, Title: "Other goods receipt", Prefix: "OR", Search: []string{"warehouse"},
		Registers: []string{Stock, Batches, General}, Optional: []string{ToReceive},
		Attributes: []metadata.Attribute{required(reference("warehouse", "warehouses")), text("reason", 300), computed("amount", metadata.Money)},
		Sections: []metadata.Section{{Name: "lines", MinRows: 1, MaxRows: LinesMax, Attributes: []metadata.Attribute{
			required(reference("item", "items")), required(typed("quantity", metadata.Quantity)), typed("price", metadata.Money), computed("amount", metadata.Money),
		}}},
	}
}

// otherReceiptRules: goods that nobody has sold us (found, left over, given) come in at a cost, which must be set: what has none would go out for nothing.
//
//	ST+ · CB+ · to be received+  ·  Dr 41/10 Cr 91 amount
type otherReceiptRules struct{}

func (otherReceiptRules) Reads() map[string][]string {
	return map[string][]string{"items": {"purchase_price", "account"}, "warehouses": {"addressed"}}
}

func (otherReceiptRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{guard(d, Batches, placeKeys(d, Batches))}
}

func (otherReceiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := costed(d, facts); err != nil {
		return nil, err
	}
	cost := rowset.Column[amount.Money](d.Section("lines"), "amount")
	var entries []entry
	for _, v := range valued(d, facts, cost) {
		entries = append(entries, entry{v.account, ledger.At(AccountOther), v.sum})
	}
	return &posting.Records{
		Movements: append([]*register.Movements{stockMovements(d, false, cost), layersBrought(d, cost)}, await(d, facts, ToReceive)...),
		Entries:   entriesOf(entries...),
	}, nil
}

// Costless is an item that would come in for nothing.
type Costless struct {
	Item     id.ID           `json:"item"`
	Quantity amount.Quantity `json:"quantity"`
	Price    amount.Money    `json:"price"`
}

// costed values the lines; a price not given is that of buying the item. It refuses those that are worth nothing.
func costed(d *document.Document, facts *posting.Facts) (err error) {
	lines := d.Section("lines")
	quantity, price, cost := rowset.Column[amount.Quantity](lines, "quantity"), rowset.Column[amount.Money](lines, "price"), rowset.Column[amount.Money](lines, "amount")
	var without []Costless
	for i, item := range rowset.Column[id.ID](lines, "item") {
		if price[i] == 0 {
			price[i] = of[amount.Money](facts.Catalogs["items"], item, "purchase_price")
		}
		if cost[i], err = price[i].Times(quantity[i]); err != nil {
			return err
		}
		if cost[i] == 0 {
			without = append(without, Costless{item, quantity[i], price[i]})
		}
	}
	if without != nil {
		return &posting.Refusal{Control: "cost", Items: without, Message: fmt.Sprintf("the cost must be set: %s of the first item at %s come to nothing", without[0].Quantity, without[0].Price)}
	}
	rowset.Column[amount.Money](d.Header, "amount")[0], err = amount.Sum(cost...)
	return err
}
