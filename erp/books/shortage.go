package books

import (
	"fmt"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// Shortage is an item that the control of stock refused.
type Shortage struct {
	Item      id.ID           `json:"item"`
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Available amount.Quantity `json:"available"`
	Required  amount.Quantity `json:"required"`
}

// TakeFromStock sets the cost of each line by the layers it takes, line by line, and the cost of the document, and
// tells what was taken. The rules have asked for NeedBatches and, where others can have reserved, Reserves by
// warehouse and item.
func TakeFromStock(d *document.Document, facts *posting.Facts) (*register.Movements, error) {
	left := remaining(d, facts)
	lines := Lines(d)
	quantity, cost := Quantity.Of(lines), Cost.Of(lines)
	taken := Batches.Movements(lines.Rows())
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
	if err := refuse(short, facts); err != nil {
		return nil, err
	}
	total, err := amount.Sum(cost...)
	Cost.Set(d, total)
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
	layers, all := layersOf(Batches.Layers(facts)), Batches.Layers(facts).Total
	items, at := distinct(Item.Of(Lines(d))) // the keys are in their order
	held, left := make([]holding, len(items)), make([]*holding, len(at))
	for i, item := range items {
		h := &held[i]
		h.item, h.layers = item, layers[item]
		if all != nil {
			h.available = Quantity.Of(all)[i]
		} else {
			for _, l := range h.layers {
				h.available += l.quantity
			}
		}
		if reserved := Reserves.Balances(facts); reserved != nil {
			h.available -= Quantity.Of(reserved)[i]
		}
		if own := CustomerOrders.Balances(facts); own != nil {
			h.available += Reserved.Of(own)[i]
		}
	}
	for line, i := range at {
		left[line] = &held[i]
	}
	return left
}

func refuse(short []*holding, facts *posting.Facts) error {
	all := make([]Short, len(short))
	for i, h := range short {
		all[i] = Short{h.item, h.available, h.required}
	}
	return RefuseShort(facts, all)
}

// Short is an item that there is less of than required.
type Short struct {
	Item                id.ID
	Available, Required amount.Quantity
}

// RefuseShort refuses a document that items are short for, if there are any.
func RefuseShort(facts *posting.Facts, short []Short) error {
	if len(short) == 0 {
		return nil
	}
	items := facts.Catalogs[Items]
	shortages := make([]Shortage, len(short))
	for i, s := range short {
		shortages[i] = Shortage{s.Item, Attr(items, s.Item, Code), Attr(items, s.Item, Name),
			max(s.Available, 0), s.Required}
	}
	message := fmt.Sprintf("not enough stock of %s: %s available, %s required", shortages[0].Name,
		shortages[0].Available, shortages[0].Required)
	if len(short) > 1 {
		message += fmt.Sprintf(", and of %d more items", len(short)-1)
	}
	return &posting.Refusal{Control: Stock.Name(), Message: message, Items: shortages}
}
