// Package operations owns the published key operations of the ERP: what users do, how
// soon they expect it done, and how often they do it. A load tool knows them by id only.
package operations

import "time"

// Ids of the key operations.
const (
	GoodsSalePost      = "goods_sale.post"
	GoodsReceiptPost   = "goods_receipt.post"
	CustomerOrderPost  = "customer_order.post"
	SupplierOrderPost  = "supplier_order.post"
	GoodsSaleChange    = "goods_sale.change"
	GoodsSaleList      = "goods_sale.list"
	GoodsSaleCard      = "goods_sale.card"
	ItemsSearch        = "items.search"
	StockReport        = "stock.report"
	TrialBalanceReport = "trial_balance.report"
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

// all lists the operations by priority. Sales outnumber receipts as they do in trade, and
// people look things up about as often as they post.
var all = []Operation{
	{GoodsSalePost, "Post a goods sale", 1000 * time.Millisecond, 1, 23},
	{GoodsReceiptPost, "Post a goods receipt", 1000 * time.Millisecond, 1, 14},
	{CustomerOrderPost, "Post a customer order", 1000 * time.Millisecond, 1, 2},
	{SupplierOrderPost, "Post a supplier order", 1000 * time.Millisecond, 1, 1},
	{GoodsSaleChange, "Open a goods sale, change it and post it anew", 1500 * time.Millisecond, 2, 3},
	{GoodsSaleList, "List of goods sales", 500 * time.Millisecond, 2, 22},
	{GoodsSaleCard, "Card of a goods sale", 500 * time.Millisecond, 2, 15},
	{ItemsSearch, "Search of items by a part of the name", 500 * time.Millisecond, 2, 14},
	{StockReport, "Stock on date", 2000 * time.Millisecond, 3, 4},
	{TrialBalanceReport, "Trial balance", 3000 * time.Millisecond, 3, 2},
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
