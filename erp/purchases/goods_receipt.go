package purchases

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// GoodsReceipt is the type of document: its description and its rules.
func GoodsReceipt() books.DocumentType {
	return books.DocumentType{Rules: receiptRules{}, Document: metadata.Document{
		Name: books.GoodsReceipt, Title: "Goods receipt", Prefix: "GR", Search: []string{"counterparty"},
		Registers:  books.Names(books.Stock, books.Batches, books.SupplierSettlements, books.InputVAT, books.General),
		Optional:   books.Names(books.SupplierNumbers, books.SupplierOrders, books.ToReceive),
		Attributes: books.GoodsHeader(books.SupplierNumber, books.DocumentRef(books.SourceOrder, books.SupplierOrder)),
		Sections:   []metadata.Section{books.PricedLines(books.Item)},
	}}
}

// receiptRules: goods come in at their price without VAT, by an order not more than is open of it. They read no
// stock, but lock what they bring, so that a sale either takes from it or is seen when it is looked for whether costs
// are still in the order of time.
//
//	ST+ · CB+ · OR− · SS+ · VAT+ · to be received+ · supplier's number  ·  Dr 41/10 Cr 60 amount  ·  Dr 19 Cr 60 VAT
type receiptRules struct{}

func (receiptRules) Reads() map[string][]string {
	return map[string][]string{
		books.Items:     books.Names(books.VATRate, books.PurchasePrice, books.Account),
		books.Contracts: books.SettlementReads, books.Warehouses: books.Names(books.Addressed),
		books.SupplierOrder: books.Names(books.Counterparty, books.Contract),
	}
}

func (receiptRules) Needs(d *document.Document) posting.Needs {
	needs := posting.Needs{Lock: []posting.Lock{books.Batches.Lock(d,
		books.Batches.ItemKeys(d, books.Warehouse.In(d)))}}
	if order := books.SourceOrder.In(d); !order.IsZero() {
		needs.Read = append(needs.Read, books.SupplierOrders.Need(d, books.SupplierOrders.ItemKeys(d, order)))
	}
	return needs
}

func (receiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Supplier); err != nil {
		return nil, err
	}
	if err := books.CheckOrder(d, facts, books.SupplierOrder, books.Counterparty, books.Contract); err != nil {
		return nil, err
	}
	if err := books.PriceLines(d, facts, books.Item, books.PurchasePrice); err != nil {
		return nil, err
	}
	net := books.Amount.Of(books.Lines(d))
	records := &posting.Records{Movements: []*register.Movements{
		books.StockMovements(d, false, net), books.BringLayers(d, net),
		books.Settle(d, facts, books.SupplierSettlements, false, books.Total.In(d)), books.ChargeVAT(d, books.InputVAT),
	}}
	records.Movements = append(records.Movements, books.Await(d, facts, books.ToReceive)...)
	if order := books.SourceOrder.In(d); !order.IsZero() {
		taken, err := books.Fulfil(d, facts, books.SupplierOrders)
		if err != nil {
			return nil, err
		}
		records.Movements = append(records.Movements, taken)
	}
	records.Information = supplierNumber(d)
	var entries []books.Entry
	for _, v := range books.ByAccount(d, facts, net) {
		entries = append(entries, books.DebitCredit(v.Account, books.SettlementAccount(d, books.AccountSuppliers),
			v.Sum))
	}
	vat := books.DebitCredit(ledger.At(books.AccountInputVAT, books.Counterparty.In(d)),
		books.SettlementAccount(d, books.AccountSuppliers),
		books.VAT.In(d))
	records.Entries = books.General.Entries(append(entries, vat)...)
	return records, nil
}

// supplierNumber of a document, when it has one.
func supplierNumber(d *document.Document) []*information.Records {
	number := books.SupplierNumber.In(d)
	if number == "" {
		return nil
	}
	return []*information.Records{books.SupplierNumbers.State(books.Counterparty.In(d), number)}
}
