package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// CustomerOrder is the type of document.
const CustomerOrder = "customer_order"

func customerOrder() metadata.Document {
	return metadata.Document{
		Name: CustomerOrder, Title: "Customer order", Prefix: "CO", Search: []string{"counterparty"},
		Registers:  []string{CustomerOrders, Reserves, CustomerPlan},
		Attributes: header(text("delivery_address", 500), typed("ship_by", metadata.Moment)), Sections: []metadata.Section{lines()},
	}
}

// customerOrderRules: what is ordered is reserved of what is free, within the credit limit.
//
//	OR+ · RS+ · SC plan+
type customerOrderRules struct{}

func (customerOrderRules) Reads() map[string][]string {
	return map[string][]string{"items": {"vat_rate", "price"}, "contracts": settlementReads}
}

func (customerOrderRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{
		need(d, Stock, placeKeys(d, Stock)), need(d, Reserves, placeKeys(d, Reserves)),
		need(d, CustomerSettlements, contractKeys(d, CustomerSettlements)),
		guard(d, CustomerOrders, orderKeys(d, CustomerOrders, d.ID)), // what was sold by it meanwhile counts as its own
	}
}

func (customerOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "customer"); err != nil {
		return nil, err
	}
	if err := priceLines(d, facts, "price"); err != nil {
		return nil, err
	}
	items, required := quantities(d)
	stock, reserved := rowset.Column[amount.Quantity](facts.Balances[Stock], "quantity"), rowset.Column[amount.Quantity](facts.Balances[Reserves], "quantity")
	ordered, promised := moves(CustomerOrders, len(items)), moves(Reserves, len(items))
	var short []*holding
	for i, item := range items { // the keys are in their order
		if free := stock[i] - reserved[i]; required[i] > free {
			short = append(short, &holding{item: item, available: free, required: required[i]})
		}
		ordered.Add(false, d.ID, item, required[i], required[i])
		promised.Add(false, refOf(d, "warehouse"), item, required[i])
	}
	if err := refusal(short, facts); err != nil {
		return nil, err
	}
	if err := withinCredit(d, facts, sumOf(d, "total")); err != nil {
		return nil, err
	}
	plan := moves(CustomerPlan, 1)
	plan.Add(false, refOf(d, "contract"), d.ID, sumOf(d, "total"))
	return &posting.Records{Movements: []*register.Movements{ordered, promised, plan}}, nil
}
