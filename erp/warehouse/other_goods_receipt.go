package warehouse

import (
	"fmt"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// OtherGoodsReceipt is the type of document: its description and its rules.
func OtherGoodsReceipt() books.DocumentType {
	return books.DocumentType{Rules: otherReceiptRules{}, Document: metadata.Document{
		Name: books.OtherGoodsReceipt, Title: "Other goods receipt", Prefix: "OR", Search: []string{"warehouse"},
		Registers: books.Names(books.Stock, books.Batches, books.General), Optional: books.Names(books.ToReceive),
		Attributes: books.Attributes(books.Warehouse.Required(), books.TextAttr("reason", 300),
			books.Amount.Computed()),
		Sections: []metadata.Section{books.LineSection(1, books.Item.Required(), books.Quantity.Required(),
			books.Price, books.Amount.Computed())},
	}}
}

// otherReceiptRules: goods that nobody has sold us (found, left over, given) come in at a cost, which must be set:
// what has none would go out for nothing.
//
//	ST+ · CB+ · to be received+  ·  Dr 41/10 Cr 91 amount
type otherReceiptRules struct{}

func (otherReceiptRules) Reads() map[string][]string {
	return map[string][]string{books.Items: books.Names(books.PurchasePrice, books.Account),
		books.Warehouses: books.Names(books.Addressed)}
}

func (otherReceiptRules) Needs(d *document.Document) posting.Needs {
	return posting.Needs{Lock: []posting.Lock{books.Batches.Lock(d, books.Batches.ItemKeys(d, books.Warehouse.In(d)))}}
}

func (otherReceiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := costed(d, facts); err != nil {
		return nil, err
	}
	cost := books.Amount.Of(books.Lines(d))
	var entries []books.Entry
	for _, v := range books.ByAccount(d, facts, cost) {
		entries = append(entries, books.DebitCredit(v.Account, ledger.At(books.AccountOther), v.Sum))
	}
	return &posting.Records{
		Movements: append([]*register.Movements{books.StockMovements(d, false, cost), books.BringLayers(d, cost)},
			books.Await(d, facts, books.ToReceive)...),
		Entries: books.General.Entries(entries...),
	}, nil
}

// Costless is an item that would come in for nothing.
type Costless struct {
	Item     id.ID           `json:"item"`
	Quantity amount.Quantity `json:"quantity"`
	Price    amount.Money    `json:"price"`
}

// costed values the lines; a price not given is that of buying the item. It refuses those that are worth nothing.
func costed(d *document.Document, facts *posting.Facts) (err error) {
	lines := books.Lines(d)
	quantity := books.Quantity.Of(lines)
	price := books.Price.Of(lines)
	cost := books.Amount.Of(lines)
	var without []Costless
	for i, item := range books.Item.Of(lines) {
		if price[i] == 0 {
			price[i] = books.Attr(facts.Catalogs[books.Items], item, books.PurchasePrice)
		}
		if cost[i], err = price[i].Times(quantity[i]); err != nil {
			return err
		}
		if cost[i] == 0 {
			without = append(without, Costless{item, quantity[i], price[i]})
		}
	}
	if without != nil {
		return &posting.Refusal{Control: "cost", Items: without, Message: fmt.Sprintf("the cost must be set: %s of "+
			"the first item at %s have no value", without[0].Quantity, without[0].Price)}
	}
	total, err := amount.Sum(cost...)
	books.Amount.Set(d, total)
	return err
}
