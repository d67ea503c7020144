package sales

import (
	"slices"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/model/metadata"
)

// GoodsSale is the type of document: its description and its rules.
func GoodsSale() books.DocumentType {
	return books.DocumentType{Rules: saleRules{}, Document: metadata.Document{
		Name: books.GoodsSale, Title: "Goods sale", Prefix: "GS", Search: []string{"counterparty"},
		Registers: books.Names(books.Stock, books.Batches, books.CustomerSettlements, books.OutputVAT, books.General),
		Optional:  books.Names(books.CustomerOrders, books.Reserves, books.ToShip),
		Attributes: books.GoodsHeader(books.TextAttr("delivery_address", 500), books.Cost.Computed(),
			books.DocumentRef(books.SourceOrder, books.CustomerOrder)),
		Sections: []metadata.Section{books.PricedLines(books.Item, books.Cost.Computed())},
	}}
}

// saleRules: goods go out at the cost of the oldest batches (first in, first out), under a lock of each item
// at the warehouse, and never more than there is that is not reserved for others.
//
//	ST− · CB− · RS− · OR− · SC+ · VAT+ · to be shipped+
//	  Dr 62 Cr 90 total  ·  Dr 90 Cr 41/10 cost  ·  Dr 90 Cr 68 VAT
type saleRules struct{}

func (saleRules) Reads() map[string][]string {
	return map[string][]string{
		books.Items: books.Names(books.VATRate, books.Price, books.Account), books.Contracts: books.SettlementReads,
		books.Warehouses:    books.Names(books.Addressed),
		books.CustomerOrder: books.Names(books.Counterparty, books.Contract, books.Warehouse),
	}
}

func (saleRules) Needs(d *document.Document) posting.Needs {
	needs := posting.Needs{Read: []posting.Need{
		books.NeedBatches(d), books.Reserves.Need(d, books.Reserves.ItemKeys(d, books.Warehouse.In(d))),
		books.CustomerSettlements.Need(d, books.CustomerSettlements.Key(books.Contract.In(d))),
	}}
	if order := books.SourceOrder.In(d); !order.IsZero() {
		needs.Read = append(needs.Read, books.CustomerOrders.Need(d, books.CustomerOrders.ItemKeys(d, order)))
	}
	return needs
}

func (saleRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Customer); err != nil {
		return nil, err
	}
	if err := books.CheckOrder(d, facts, books.CustomerOrder, books.Counterparty, books.Contract,
		books.Warehouse); err != nil {
		return nil, err
	}
	if err := books.PriceLines(d, facts, books.Item, books.Price); err != nil {
		return nil, err
	}
	fulfilled, err := fulfilSale(d, facts)
	if err != nil {
		return nil, err
	}
	taken, err := books.TakeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	if err := books.WithinCredit(d, facts, books.Total.In(d)); err != nil {
		return nil, err
	}
	cost := books.Cost.Of(books.Lines(d))
	records := &posting.Records{Movements: append([]*register.Movements{
		books.StockMovements(d, true, cost), taken,
		books.Settle(d, facts, books.CustomerSettlements, false, books.Total.In(d)),
		books.ChargeVAT(d, books.OutputVAT),
	}, append(fulfilled, books.Await(d, facts, books.ToShip)...)...)}
	records.Entries = saleEntries(d, facts, cost)
	return records, nil
}

func saleEntries(d *document.Document, facts *posting.Facts, cost []amount.Money) []*ledger.Entries {
	sales := ledger.At(books.AccountSales)
	entries := []books.Entry{books.DebitCredit(books.SettlementAccount(d, books.AccountCustomers), sales,
		books.Total.In(d))}
	for _, v := range books.ByAccount(d, facts, cost) {
		entries = append(entries, books.DebitCredit(sales, v.Account, v.Sum))
	}
	return books.General.Entries(append(entries,
		books.DebitCredit(sales, ledger.At(books.AccountTaxes), books.VAT.In(d)))...)
}

// Recost implements posting.Costing.
func (saleRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	taken, err := books.TakeFromStock(d, facts)
	if err != nil {
		return nil, err
	}
	cost := books.Cost.Of(books.Lines(d))
	return &posting.Records{Movements: []*register.Movements{books.StockMovements(d, true, cost), taken},
		Entries: saleEntries(d, facts, cost)}, nil
}

// fulfilSale takes what is sold off the order, if there is one, and off what has been reserved for it.
func fulfilSale(d *document.Document, facts *posting.Facts) ([]*register.Movements, error) {
	if books.SourceOrder.In(d).IsZero() {
		return nil, nil
	}
	taken, err := books.Fulfil(d, facts, books.CustomerOrders)
	if err != nil {
		return nil, err
	}
	released, items := books.Reserves.Movements(taken.Rows.Rows()), books.Item.Of(taken.Rows)
	for i, quantity := range books.Reserved.Of(taken.Rows) {
		if quantity > 0 {
			released.Add(true, books.Warehouse.In(d), items[i], quantity)
		}
	}
	return []*register.Movements{taken, released}, nil
}

// Restate implements posting.Evident: how much of the order was reserved is what the sale has taken of it.
func (saleRules) Restate(d *document.Document, facts *posting.Facts, stored *posting.Records) {
	books.NoLimits(facts)
	open := books.CustomerOrders.Balances(facts)
	if open == nil {
		return
	}
	items, _ := books.Quantities(d) // the keys are in their order
	reserved := books.Reserved.Of(open)
	clear(reserved)
	for _, m := range stored.Movements {
		if m.Register != books.CustomerOrders.Name() {
			continue
		}
		for row, item := range books.Item.Of(m.Rows) {
			if i := slices.Index(items, item); i >= 0 {
				reserved[i] += books.Reserved.Of(m.Rows)[row]
			}
		}
	}
}
