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

// Shortage is an item that the control of stock refused.
type Shortage struct {
	Item      id.ID           `json:"item"`
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Available amount.Quantity `json:"available"`
	Required  amount.Quantity `json:"required"`
}

// takeFromStock sets the cost of each line by the layers it takes, line by line, and the cost of the document, and tells what was taken.
// The rules have asked for batchesFor and, where others can have reserved, Reserves by placeKeys.
func takeFromStock(d *document.Document, facts *posting.Facts) (*register.Movements, error) {
	left := remaining(d, facts)
	lines := d.Section("lines")
	quantity, cost := rowset.Column[amount.Quantity](lines, "quantity"), rowset.Column[amount.Money](lines, "cost")
	taken := moves(Batches, lines.Rows())
	var short []*holding
	for i := range quantity {
		h := left[i]
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
	if err := refusal(short, facts); err != nil {
		return nil, err
	}
	total, err := amount.Sum(cost...)
	rowset.Column[amount.Money](d.Header, "cost")[0] = total
	return taken, err
}

// holding is what is left of an item while the lines are gone through.
type holding struct {
	item                id.ID
	layers              []layer
	available, required amount.Quantity
	short               bool
}

// remaining is, for each line, what there is without what is reserved for others than the document's order.
func remaining(d *document.Document, facts *posting.Facts) []*holding {
	layers, all := layersOf(facts.Layers[Batches]), facts.Layers[Batches].Total
	items, at := distinct(rowset.Column[id.ID](d.Section("lines"), "item")) // the keys are in their order
	held, left := make([]holding, len(items)), make([]*holding, len(at))
	for i, item := range items {
		h := &held[i]
		h.item, h.layers = item, layers[item]
		if all != nil {
			h.available = rowset.Column[amount.Quantity](all, "quantity")[i]
		} else {
			for _, l := range h.layers {
				h.available += l.quantity
			}
		}
		if reserved := facts.Balances[Reserves]; reserved != nil {
			h.available -= rowset.Column[amount.Quantity](reserved, "quantity")[i]
		}
		if own := facts.Balances[CustomerOrders]; own != nil {
			h.available += rowset.Column[amount.Quantity](own, "reserved")[i]
		}
	}
	for line, i := range at {
		left[line] = &held[i]
	}
	return left
}

func refusal(short []*holding, facts *posting.Facts) error {
	if len(short) == 0 {
		return nil
	}
	items := facts.Catalogs["items"]
	shortages := make([]Shortage, len(short))
	for i, h := range short {
		shortages[i] = Shortage{h.item, of[string](items, h.item, "code"), of[string](items, h.item, "name"), max(h.available, 0), h.required}
	}
	message := fmt.Sprintf("not enough stock of %s: %s available, %s required", shortages[0].Name, shortages[0].Available, shortages[0].Required)
	if len(short) > 1 {
		message += fmt.Sprintf(", and of %d more items", len(short)-1)
	}
	return &posting.Refusal{Control: Stock, Message: message, Items: shortages}
}
