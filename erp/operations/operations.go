// Package operations owns the published key operations of the ERP: what users do, how
// soon they expect it done, and how often they do it. A load tool knows them by id only.
package operations

import (
	"cmp"
	"slices"
	"time"
)

// Ids of the key operations.
const (
	GoodsSalePost             = "goods_sale.post"
	GoodsReceiptPost          = "goods_receipt.post"
	CustomerOrderPost         = "customer_order.post"
	SupplierOrderPost         = "supplier_order.post"
	ServiceSalePost           = "service_sale.post"
	InvoiceIssuedPost         = "invoice_issued.post"
	BankReceiptPost           = "bank_receipt.post"
	InternalConsumptionPost   = "internal_consumption.post"
	WarehouseIssueOrderPost   = "warehouse_issue_order.post"
	SettlementRegistrarPost   = "settlement_registrar.post"
	OtherGoodsReceiptPost     = "other_goods_receipt.post"
	ServicePurchasePost       = "service_purchase.post"
	InvoiceReceivedPost       = "invoice_received.post"
	PaymentRequestPost        = "payment_request.post"
	BankPaymentPost           = "bank_payment.post"
	WarehouseReceiptOrderPost = "warehouse_receipt_order.post"
	AssetCommissioningPost    = "asset_commissioning.post"
	GoodsSaleWrite            = "goods_sale.write"
	GoodsSaleUnpost           = "goods_sale.unpost"
	GoodsSaleChange           = "goods_sale.change"
	GoodsReceiptChange        = "goods_receipt.change"
	InvoiceIssuedList         = "invoice_issued.list"
	BankReceiptList           = "bank_receipt.list"
	SettlementRegistrarList   = "settlement_registrar.list"
	ToShipReport              = "to_ship.report"
	SettlementsReport         = "settlements.report"
	AccountCardReport         = "account_card.report"
	GoodsSaleList             = "goods_sale.list"
	GoodsSaleCard             = "goods_sale.card"
	ItemsSearch               = "items.search"
	StockReport               = "stock.report"
	TrialBalanceReport        = "trial_balance.report"
)

// Operation is one key operation. Target is the T of Apdex; Priority 1 is what the business
// cannot do without; Weight is the share in the default mix (all weights sum to 100).
type Operation struct {
	ID       string
	Title    string
	Target   time.Duration
	Priority int
	Weight   float64
}

// PostingShare of the mix is posting of new documents; people look things up, and correct what they have written, as
// often.
const PostingShare = 50.0

// postings of new documents. Their weights here are thousands of documents in the base of claim C02, so that a type
// comes in the mix as often as it came there.
var postings = []Operation{
	{CustomerOrderPost, "Post a customer order", 1000 * time.Millisecond, 1, 724},
	{GoodsSalePost, "Post a goods sale", 1000 * time.Millisecond, 1, 334},
	{SupplierOrderPost, "Post a supplier order", 1000 * time.Millisecond, 1, 779},
	{GoodsReceiptPost, "Post a goods receipt", 1000 * time.Millisecond, 1, 778},
	{ServiceSalePost, "Post a sale of services", 1000 * time.Millisecond, 1, 136},
	{InvoiceIssuedPost, "Issue an invoice", 1000 * time.Millisecond, 1, 567},
	{BankReceiptPost, "Post a bank receipt", 1000 * time.Millisecond, 1, 537},
	{InternalConsumptionPost, "Post an internal consumption", 1000 * time.Millisecond, 2, 158},
	{WarehouseIssueOrderPost, "Look up what is to be shipped, then post a warehouse issue order",
		1500 * time.Millisecond, 1, 339},
	{SettlementRegistrarPost, "Post a settlement registrar", 1000 * time.Millisecond, 1, 1622},
	{OtherGoodsReceiptPost, "Post a goods receipt without a supplier", 1000 * time.Millisecond, 2, 137},
	{ServicePurchasePost, "Post a purchase of services", 1000 * time.Millisecond, 1, 207},
	{InvoiceReceivedPost, "Enter an invoice received", 1000 * time.Millisecond, 1, 1028},
	{PaymentRequestPost, "Open a purchase or an order and post a payment request for it",
		1500 * time.Millisecond, 1, 1068},
	{BankPaymentPost, "Post a bank payment", 1000 * time.Millisecond, 1, 1067},
	{WarehouseReceiptOrderPost, "Look up what is to be received, then post a warehouse receipt order",
		1500 * time.Millisecond, 1, 286},
	{AssetCommissioningPost, "Post the commissioning of a fixed asset", 1000 * time.Millisecond, 2, 129},
}

// others are what people do besides, weighed against each other.
var others = []Operation{
	{GoodsSaleWrite, "Write a goods sale without posting it", 1000 * time.Millisecond, 2, 2},
	{GoodsSaleUnpost, "Unpost a goods sale and post it again", 1500 * time.Millisecond, 2, 1},
	{GoodsSaleChange, "Open a goods sale, change it and repost it", 1500 * time.Millisecond, 2, 3},
	{GoodsReceiptChange, "Open a goods receipt, change it and repost it", 1500 * time.Millisecond, 2, 1},
	{GoodsSaleList, "List of goods sales", 500 * time.Millisecond, 2, 14},
	{InvoiceIssuedList, "List of invoices issued", 500 * time.Millisecond, 2, 3},
	{BankReceiptList, "List of bank receipts", 500 * time.Millisecond, 2, 3},
	{SettlementRegistrarList, "List of settlement registrars", 500 * time.Millisecond, 2, 2},
	{GoodsSaleCard, "Card of a goods sale", 500 * time.Millisecond, 2, 15},
	{ItemsSearch, "Search items by part of the name", 500 * time.Millisecond, 2, 14},
	{ToShipReport, "What is to be shipped", 1000 * time.Millisecond, 2, 1},
	{StockReport, "Stock on date", 2000 * time.Millisecond, 3, 4},
	{SettlementsReport, "Settlements on date", 2000 * time.Millisecond, 3, 3},
	{AccountCardReport, "Card of an account", 3000 * time.Millisecond, 3, 2},
	{TrialBalanceReport, "Trial balance", 3000 * time.Millisecond, 3, 2},
}

// all operations by priority.
var all = func() []Operation {
	mixed := append(shared(postings, PostingShare), shared(others, 100-PostingShare)...)
	slices.SortStableFunc(mixed, func(a, b Operation) int { return cmp.Compare(a.Priority, b.Priority) })
	return mixed
}()

// shared makes the weights of a list sum to its share.
func shared(list []Operation, share float64) []Operation {
	list, sum := slices.Clone(list), 0.0
	for _, op := range list {
		sum += op.Weight
	}
	for i := range list {
		list[i].Weight *= share / sum
	}
	return list
}

// All returns the key operations, most important first.
func All() []Operation { return append([]Operation(nil), all...) }

// Find returns the operation with this id.
func Find(id string) (Operation, bool) {
	for _, op := range all {
		if op.ID == id {
			return op, true
		}
	}
	return Operation{}, false
}
