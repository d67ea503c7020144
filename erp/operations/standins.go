package operations

// standIns are carried out in place of an operation that has nothing to act on: people who find no document to work on
// make one.
var standIns = map[string]string{
	GoodsSaleCard:             GoodsSaleList,
	GoodsSaleChange:           GoodsSalePost,
	GoodsSaleUnpost:           GoodsSalePost,
	GoodsReceiptChange:        GoodsReceiptPost,
	InvoiceIssuedPost:         ServiceSalePost,
	InvoiceReceivedPost:       ServicePurchasePost,
	PaymentRequestPost:        ServicePurchasePost,
	BankPaymentPost:           PaymentRequestPost,
	AssetCommissioningPost:    InternalConsumptionPost,
	WarehouseIssueOrderPost:   GoodsSalePost,
	WarehouseReceiptOrderPost: GoodsReceiptPost,
}

// StandIn is carried out in place of an operation that has nothing to act on; it may itself have none. Empty: the
// operation needs nothing that could be missing.
func StandIn(id string) string { return standIns[id] }
