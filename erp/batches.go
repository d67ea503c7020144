package erp

import (
	"fmt"
	"slices"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// batchMovements makes an empty record set of cost batches.
func batchMovements(capacity int) *register.Movements {
	meta := batches()
	return register.NewMovements(&meta, capacity)
}

// layersBrought by a document of goods: one for each line, at the given values.
func layersBrought(d *document.Document, value []amount.Money) *register.Movements {
	m := batchMovements(len(value))
	lines, warehouse := d.Section("lines"), rowset.Column[id.ID](d.Header, "warehouse")[0]
	quantity := rowset.Column[amount.Quantity](lines, "quantity")
	for i, item := range rowset.Column[id.ID](lines, "item") {
		addBatch(m, layer{warehouse, item, d.ID, int64(i + 1), quantity[i], value[i]}, false)
	}
	return m
}

// layer is a batch, or a part of it.
type layer struct {
	warehouse, item, receipt id.ID
	line                     int64
	quantity                 amount.Quantity
	amount                   amount.Money
}

func addBatch(m *register.Movements, l layer, expense bool) {
	row := m.Rows.Grow(1)
	m.Expense = append(m.Expense, expense)
	rowset.Column[id.ID](m.Rows, "warehouse")[row], rowset.Column[id.ID](m.Rows, "item")[row] = l.warehouse, l.item
	rowset.Column[id.ID](m.Rows, "receipt")[row], rowset.Column[int64](m.Rows, "receipt_line")[row] = l.receipt, l.line
	rowset.Column[amount.Quantity](m.Rows, "quantity")[row], rowset.Column[amount.Money](m.Rows, "amount")[row] = l.quantity, l.amount
}

// layersOf are the layers by item, as they come: the oldest first. They lie in one warehouse. Those that a document emptied and put back nothing into are
// left out.
func layersOf(l *register.Layers) map[id.ID][]layer {
	warehouses, receipts := rowset.Column[id.ID](l.Keys, "warehouse"), rowset.Column[id.ID](l.Keys, "receipt")
	lines := rowset.Column[int64](l.Keys, "receipt_line")
	quantities, amounts := rowset.Column[amount.Quantity](l.Left, "quantity"), rowset.Column[amount.Money](l.Left, "amount")
	byItem := map[id.ID][]layer{}
	for i, item := range rowset.Column[id.ID](l.Keys, "item") {
		if quantities[i] > 0 {
			byItem[item] = append(byItem[item], layer{warehouses[i], item, receipts[i], lines[i], quantities[i], amounts[i]})
		}
	}
	return byItem
}

// take uses up layers from the oldest, each in the part that the quantity overlaps; the last piece of a layer takes its last kopeck.
func take(m *register.Movements, layers []layer, quantity amount.Quantity) (rest []layer, cost amount.Money, err error) {
	layers = slices.Clone(layers)
	for quantity > 0 {
		if len(layers) == 0 {
			return nil, 0, fmt.Errorf("layers are short of %s", quantity)
		}
		part := layers[0]
		part.quantity = min(quantity, part.quantity)
		if part.amount, err = part.amount.Portion(part.quantity, layers[0].quantity); err != nil {
			return nil, 0, err
		}
		addBatch(m, part, true)
		quantity, cost = quantity-part.quantity, cost+part.amount
		layers[0].quantity, layers[0].amount = layers[0].quantity-part.quantity, layers[0].amount-part.amount
		if layers[0].quantity == 0 {
			layers = layers[1:]
		}
	}
	return layers, cost, nil
}
