package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Registers of open orders.
const (
	CustomerOrders = "customer_orders"
	SupplierOrders = "supplier_orders"
)

// customerOrders is what is still to be sold by an order, and how much of it is reserved.
func customerOrders() metadata.Accumulation {
	return openOrders(CustomerOrders, "Open customer orders", CustomerOrder, typed("reserved", metadata.Quantity))
}

// supplierOrders is what is still to be received by an order.
func supplierOrders() metadata.Accumulation {
	return openOrders(SupplierOrders, "Open supplier orders", SupplierOrder)
}

func openOrders(name, title, kind string, more ...metadata.Attribute) metadata.Accumulation {
	return metadata.Accumulation{
		Name: name, Title: title, Controlled: true, LockBy: 1, Dimensions: []metadata.Attribute{paper("source_order", kind), reference("item", "items")},
		Resources: append([]metadata.Attribute{typed("quantity", metadata.Quantity)}, more...),
	}
}

// orderKeys are what a document's lines are in the open orders.
func orderKeys(d *document.Document, name string, order id.ID) *rowset.Table {
	return byItem(d, name, order)
}

// byOrder checks that a document and its order, which there may be none of, are of the same deal; it is asked for by
// the attributes in common.
func byOrder(d *document.Document, facts *posting.Facts, kind string, common ...string) error {
	order := refOf(d, "source_order")
	if order.IsZero() {
		return nil
	}
	referred := facts.Documents[kind]
	if !said[bool](referred, order, "posted") {
		return &posting.Refusal{Control: "order", Message: "the order " + said[string](referred, order, "number") + " is not posted"}
	}
	for _, name := range common {
		if said[id.ID](referred, order, name) != refOf(d, name) {
			return &document.Invalid{Field: name, Reason: "is another one than that of the order " + said[string](referred, order, "number")}
		}
	}
	return nil
}

// postedBasis checks that the document that another one is made of is posted.
func postedBasis(facts *posting.Facts, basis id.ID) error {
	if _, referred, row := facts.Document(basis); !rowset.Column[bool](referred.Rows, "posted")[row] {
		return &posting.Refusal{Control: "basis", Message: "the document " + rowset.Column[string](referred.Rows, "number")[row] + " is not posted"}
	}
	return nil
}

// Excess is an item of which a document has more than its order.
type Excess struct {
	Item     id.ID           `json:"item"`
	Ordered  amount.Quantity `json:"ordered"`
	Required amount.Quantity `json:"required"`
}

// fulfil takes what a document brings or sells off its order, and refuses more than is still open.
func fulfil(d *document.Document, facts *posting.Facts, name string) (*register.Movements, error) {
	items, required := quantities(d)
	open, order := rowset.Column[amount.Quantity](facts.Balances[name], "quantity"), refOf(d, "source_order")
	taken := moves(name, len(items))
	var excess []Excess
	for i, item := range items { // the keys are in their order
		if required[i] > open[i] {
			excess = append(excess, Excess{item, open[i], required[i]})
			continue
		}
		if name == CustomerOrders {
			taken.Add(true, order, item, required[i], min(required[i], rowset.Column[amount.Quantity](facts.Balances[name], "reserved")[i]))
		} else {
			taken.Add(true, order, item, required[i])
		}
	}
	if excess != nil {
		return nil, &posting.Refusal{Control: name, Items: excess, Message: fmt.Sprintf("more than is still open of the order: %s of the first item, %s required", excess[0].Ordered, excess[0].Required)}
	}
	return taken, nil
}
