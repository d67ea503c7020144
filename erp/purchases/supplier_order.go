package purchases

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// SupplierOrder is the type of document: its description and its rules.
func SupplierOrder() books.DocumentType {
	return books.DocumentType{Rules: supplierOrderRules{}, Document: metadata.Document{
		Name: books.SupplierOrder, Title: "Supplier order", Prefix: "SO", Search: []string{"counterparty"},
		Registers: books.Names(books.SupplierOrders, books.SupplierPlan), Optional: books.Names(books.SupplierNumbers),
		Attributes: books.GoodsHeader(books.SupplierNumber, books.MomentAttr("receive_by")),
		Sections:   []metadata.Section{books.PricedLines(books.Item)},
	}}
}

// supplierOrderRules: what is ordered is to be received and paid; the supplier's number of it comes once.
//
//	OR+ · SS plan+ · supplier's number
type supplierOrderRules struct{}

func (supplierOrderRules) Reads() map[string][]string {
	return map[string][]string{books.Items: books.Names(books.VATRate, books.PurchasePrice),
		books.Contracts: books.SettlementReads}
}

func (supplierOrderRules) Needs(d *document.Document) posting.Needs {
	return posting.Needs{Lock: []posting.Lock{books.SupplierOrders.Lock(d, books.SupplierOrders.ItemKeys(d, d.ID))}}
}

func (supplierOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Supplier); err != nil {
		return nil, err
	}
	if err := books.PriceLines(d, facts, books.Item, books.PurchasePrice); err != nil {
		return nil, err
	}
	items, sums := books.Quantities(d)
	ordered, plan := books.SupplierOrders.Movements(len(items)), books.SupplierPlan.Movements(1)
	for i, item := range items {
		ordered.Add(false, d.ID, item, sums[i])
	}
	plan.Add(false, books.Contract.In(d), d.ID, books.Total.In(d))
	return &posting.Records{Movements: []*register.Movements{ordered, plan}, Information: supplierNumber(d)}, nil
}
