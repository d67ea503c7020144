package sales

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// CustomerOrder is the type of document: its description and its rules.
func CustomerOrder() books.DocumentType {
	return books.DocumentType{Rules: customerOrderRules{}, Document: metadata.Document{
		Name: books.CustomerOrder, Title: "Customer order", Prefix: "CO", Search: []string{"counterparty"},
		Registers:  books.Names(books.CustomerOrders, books.Reserves, books.CustomerPlan),
		Attributes: books.GoodsHeader(books.TextAttr("delivery_address", 500), books.MomentAttr("ship_by")),
		Sections:   []metadata.Section{books.PricedLines(books.Item)},
	}}
}

// customerOrderRules: what is ordered is reserved of what is free, within the credit limit.
//
//	OR+ · RS+ · SC plan+
type customerOrderRules struct{}

func (customerOrderRules) Reads() map[string][]string {
	return map[string][]string{books.Items: books.Names(books.VATRate, books.Price),
		books.Contracts: books.SettlementReads}
}

func (customerOrderRules) Needs(d *document.Document) posting.Needs {
	return posting.Needs{
		Read: []posting.Need{
			books.Stock.Need(d, books.Stock.ItemKeys(d, books.Warehouse.In(d))),
			books.Reserves.Need(d, books.Reserves.ItemKeys(d, books.Warehouse.In(d))),
			books.CustomerSettlements.Need(d, books.CustomerSettlements.Key(books.Contract.In(d))),
		},
		Lock: []posting.Lock{ // what was sold by the order meanwhile counts as its own
			books.CustomerOrders.Lock(d, books.CustomerOrders.ItemKeys(d, d.ID)),
		},
	}
}

func (customerOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Customer); err != nil {
		return nil, err
	}
	if err := books.PriceLines(d, facts, books.Item, books.Price); err != nil {
		return nil, err
	}
	items, required := books.Quantities(d)
	stock := books.Quantity.Of(books.Stock.Balances(facts))
	reserved := books.Quantity.Of(books.Reserves.Balances(facts))
	ordered, promised := books.CustomerOrders.Movements(len(items)), books.Reserves.Movements(len(items))
	var short []books.Short
	for i, item := range items { // the keys are in their order
		if free := stock[i] - reserved[i]; required[i] > free {
			short = append(short, books.Short{Item: item, Available: free, Required: required[i]})
		}
		ordered.Add(false, d.ID, item, required[i], required[i])
		promised.Add(false, books.Warehouse.In(d), item, required[i])
	}
	if err := books.RefuseShort(facts, short); err != nil {
		return nil, err
	}
	if err := books.WithinCredit(d, facts, books.Total.In(d)); err != nil {
		return nil, err
	}
	plan := books.CustomerPlan.Movements(1)
	plan.Add(false, books.Contract.In(d), d.ID, books.Total.In(d))
	return &posting.Records{Movements: []*register.Movements{ordered, promised, plan}}, nil
}

// Restate implements posting.Evident.
func (customerOrderRules) Restate(_ *document.Document, facts *posting.Facts, _ *posting.Records) {
	books.NoLimits(facts)
}
