package books

import (
	"plimsoll/platform/books/posting"
	"plimsoll/platform/model/metadata"
)

// DocumentType is a type of document: how it is described, and the rules by which it is posted.
type DocumentType struct {
	metadata.Document
	Rules posting.Rules
}

// Names of the types.
const (
	CustomerOrder         = "customer_order"
	SupplierOrder         = "supplier_order"
	GoodsReceipt          = "goods_receipt"
	GoodsSale             = "goods_sale"
	ServiceSale           = "service_sale"
	InvoiceIssued         = "invoice_issued"
	BankReceipt           = "bank_receipt"
	InternalConsumption   = "internal_consumption"
	WarehouseIssueOrder   = "warehouse_issue_order"
	SettlementRegistrar   = "settlement_registrar"
	OtherGoodsReceipt     = "other_goods_receipt"
	ServicePurchase       = "service_purchase"
	InvoiceReceived       = "invoice_received"
	PaymentRequest        = "payment_request"
	BankPayment           = "bank_payment"
	WarehouseReceiptOrder = "warehouse_receipt_order"
	AssetCommissioning    = "asset_commissioning"
	MonthClose            = "month_close"
)
