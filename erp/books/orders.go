package books

import (
	"fmt"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// CustomerOrders is what is still to be sold by an order, and how much of it is reserved.
var CustomerOrders = openOrders("customer_orders", "Open customer orders", CustomerOrder, Quantity, Reserved)

// SupplierOrders is what is still to be received by an order.
var SupplierOrders = openOrders("supplier_orders", "Open supplier orders", SupplierOrder, Quantity)

func openOrders(name, title, order string, resources ...Described) Register {
	return accumulation(metadata.Accumulation{
		Name: name, Title: title, Controlled: true, LockBy: 1,
		Dimensions: Attributes(DocumentRef(SourceOrder, order), Item), Resources: Attributes(resources...),
	})
}

// CheckOrder checks that a document and its order, which there may be none of, are of the same deal; it is asked for by
// the attributes in common.
func CheckOrder(d *document.Document, facts *posting.Facts, orderType string, common ...Attribute[id.ID]) error {
	order := SourceOrder.In(d)
	if order.IsZero() {
		return nil
	}
	referred := facts.Documents[orderType]
	if !ReferredAttr(referred, order, Posted) {
		return &posting.Refusal{Control: "order",
			Message: "the order " + ReferredAttr(referred, order, Number) + " is not posted"}
	}
	for _, a := range common {
		if ReferredAttr(referred, order, a) != a.In(d) {
			return &document.Invalid{Field: a.Name(),
				Reason: "differs from that of the order " + ReferredAttr(referred, order, Number)}
		}
	}
	return nil
}

// CheckPosted checks that the document that another one is made of is posted.
func CheckPosted(facts *posting.Facts, basis id.ID) error {
	if _, referred, row := facts.Document(basis); !Posted.Of(referred.Rows)[row] {
		return &posting.Refusal{Control: "basis",
			Message: "the document " + Number.Of(referred.Rows)[row] + " is not posted"}
	}
	return nil
}

// Excess is an item of which a document has more than its order.
type Excess struct {
	Item     id.ID           `json:"item"`
	Open     amount.Quantity `json:"ordered"` // of the order
	Required amount.Quantity `json:"required"`
}

// Fulfil takes what a document brings or sells off its order, and refuses more than is still open.
func Fulfil(d *document.Document, facts *posting.Facts, orders Register) (*register.Movements, error) {
	items, required := Quantities(d)
	open, order := Quantity.Of(orders.Balances(facts)), SourceOrder.In(d)
	taken := orders.Movements(len(items))
	var excess []Excess
	for i, item := range items { // the keys are in their order
		if required[i] > open[i] {
			excess = append(excess, Excess{item, open[i], required[i]})
			continue
		}
		if orders == CustomerOrders {
			taken.Add(true, order, item, required[i],
				min(required[i], Reserved.Of(orders.Balances(facts))[i]))
		} else {
			taken.Add(true, order, item, required[i])
		}
	}
	if excess != nil {
		return nil, &posting.Refusal{Control: orders.Name(), Items: excess,
			Message: fmt.Sprintf("more than the order has "+
				"open: %s of the first item, %s required", excess[0].Open, excess[0].Required)}
	}
	return taken, nil
}
