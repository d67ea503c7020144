package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// saleRules: goods go out at the cost of the oldest batches (first in, first out), under a lock of each item
// at the warehouse, and never more than there is.
//
//	ST−  ·  CB−  ·  Dr 62 Cr 90 total  ·  Dr 90 Cr 41 cost  ·  Dr 90 Cr 68 VAT
type saleRules struct{}

func (saleRules) Reads() map[string][]string {
	return map[string][]string{"items": {"vat_rate", "price"}}
}

func (saleRules) Balances(d *document.Document) []posting.Balance {
	keys := stockKeys(d)
	return []posting.Balance{{Register: Batches, Keys: keys, Locks: stockLocks(d, keys)}}
}

func (saleRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := priceLines(d, facts, "price"); err != nil {
		return nil, err
	}
	taken, err := takeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	cost := rowset.Column[amount.Money](d.Section("lines"), "cost")
	total, err := amount.Sum(cost...)
	if err != nil {
		return nil, err
	}
	rowset.Column[amount.Money](d.Header, "cost")[0] = total
	return &posting.Records{
		Movements: []*register.Movements{stockMovements(d, true, cost), taken},
		Entries: entriesOf(
			entry{AccountCustomers, AccountSales, sumOf(d, "total")},
			entry{AccountSales, AccountGoods, total},
			entry{AccountSales, AccountTaxes, sumOf(d, "vat")},
		),
	}, nil
}

// Shortage is an item that the control of stock refused.
type Shortage struct {
	Item      id.ID           `json:"item"`
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Available amount.Quantity `json:"available"`
	Required  amount.Quantity `json:"required"`
}

// takeFromStock sets the cost of each line by the layers it takes, line by line, and tells what was taken.
func takeFromStock(d *document.Document, facts *posting.Facts) (*register.Movements, error) {
	left := remaining(d, facts)
	lines := d.Section("lines")
	quantity, cost := rowset.Column[amount.Quantity](lines, "quantity"), rowset.Column[amount.Money](lines, "cost")
	taken := batchMovements(lines.Rows())
	var short []*holding
	for i, item := range rowset.Column[id.ID](lines, "item") {
		h := left[item]
		h.required += quantity[i]
		if h.required > h.available {
			if !h.short {
				h.short, short = true, append(short, h)
			}
			continue
		}
		var err error
		if h.layers, cost[i], err = take(taken, h.layers, quantity[i]); err != nil {
			return nil, err
		}
	}
	return taken, refusal(short, facts)
}

// holding is what is left of an item while the lines are gone through.
type holding struct {
	item                id.ID
	layers              []layer
	available, required amount.Quantity
	short               bool
}

func remaining(d *document.Document, facts *posting.Facts) map[id.ID]*holding {
	layers := layersOf(facts.Layers[Batches])
	left := map[id.ID]*holding{}
	for _, item := range rowset.Column[id.ID](d.Section("lines"), "item") {
		if left[item] != nil {
			continue
		}
		h := &holding{item: item, layers: layers[item]}
		for _, l := range h.layers {
			h.available += l.quantity
		}
		left[item] = h
	}
	return left
}

func refusal(short []*holding, facts *posting.Facts) error {
	if len(short) == 0 {
		return nil
	}
	items := facts.Catalogs["items"]
	codes, names := rowset.Column[string](items.Rows, "code"), rowset.Column[string](items.Rows, "name")
	shortages := make([]Shortage, len(short))
	for i, h := range short {
		row, _ := items.Row(h.item)
		shortages[i] = Shortage{h.item, codes[row], names[row], h.available, h.required}
	}
	message := fmt.Sprintf("not enough stock of %s: %s available, %s required", shortages[0].Name, shortages[0].Available, shortages[0].Required)
	if len(short) > 1 {
		message += fmt.Sprintf(", and of %d more items", len(short)-1)
	}
	return &posting.Refusal{Control: Stock, Message: message, Items: shortages}
}
