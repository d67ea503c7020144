package books

import (
	"fmt"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// layer is a batch, or a part of it.
type layer struct {
	warehouse, item, receipt id.ID
	line                     int64
	quantity                 amount.Quantity
	amount                   amount.Money
}

// NeedBatches is the need for the oldest layers that hold what the lines take.
func NeedBatches(d *document.Document) posting.Need {
	n := Batches.Need(d, Batches.ItemKeys(d, Warehouse.In(d)))
	items, sums := Quantities(d) // the keys are in their order
	n.Required = rowset.New(Batches.Meta().Resources[:1], len(items))
	n.Required.Grow(len(items))
	copy(rowset.ColumnAt[amount.Quantity](n.Required, 0), sums)
	return n
}

// layersOf are the layers by item, as they come: the oldest first. They lie in one warehouse. Those that a document
// emptied and returned nothing to are left out.
func layersOf(l *register.Layers) map[id.ID][]layer {
	warehouses, receipts := Warehouse.Of(l.Keys), Receipt.Of(l.Keys)
	lines := ReceiptLine.Of(l.Keys)
	quantities := Quantity.Of(l.Left)
	amounts := Amount.Of(l.Left)
	items := Item.Of(l.Keys)
	byItem, all, from := map[id.ID][]layer{}, make([]layer, 0, len(items)), 0
	for i, item := range items {
		if quantities[i] > 0 {
			all = append(all, layer{warehouses[i], item, receipts[i], lines[i], quantities[i], amounts[i]})
		}
		if i == len(items)-1 || items[i+1] != item { // those of an item come one after the other
			some := all[from:len(all):len(all)]
			if before := byItem[item]; before != nil {
				some = append(before, some...)
			}
			byItem[item], from = some, len(all)
		}
	}
	return byItem
}

// take uses up layers from the oldest, each in the part that the quantity overlaps; the last piece of a layer takes
// its last kopeck. What is left of them is written into them.
func take(m *register.Movements, layers []layer, quantity amount.Quantity) (rest []layer, cost amount.Money,
	err error) {
	for quantity > 0 {
		if len(layers) == 0 {
			return nil, 0, fmt.Errorf("layers are short of %s", quantity)
		}
		part := layers[0]
		part.quantity = min(quantity, part.quantity)
		if part.amount, err = part.amount.Portion(part.quantity, layers[0].quantity); err != nil {
			return nil, 0, err
		}
		m.Add(true, part.warehouse, part.item, part.receipt, part.line, part.quantity, part.amount)
		quantity, cost = quantity-part.quantity, cost+part.amount
		layers[0].quantity, layers[0].amount = layers[0].quantity-part.quantity, layers[0].amount-part.amount
		if layers[0].quantity == 0 {
			layers = layers[1:]
		}
	}
	return layers, cost, nil
}

// BringLayers are those that a document of goods brings: one for each line, at the given values.
func BringLayers(d *document.Document, value []amount.Money) *register.Movements {
	m := Batches.Movements(len(value))
	lines, warehouse := Lines(d), Warehouse.In(d)
	quantity := Quantity.Of(lines)
	for i, item := range Item.Of(lines) {
		m.Add(false, warehouse, item, d.ID, int64(i+1), quantity[i], value[i])
	}
	return m
}
