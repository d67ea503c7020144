package operations

import "math"

// brought says whose documents an operation acts on, each once. Of sales and receipts only those at warehouses with
// cells are carried, which are few and differ from base to base: for warehouse orders nothing is counted on.
var brought = map[string][]string{
	WarehouseIssueOrderPost:   nil,
	WarehouseReceiptOrderPost: nil,
	InvoiceIssuedPost:         {GoodsSalePost, ServiceSalePost},
	InvoiceReceivedPost:       {GoodsReceiptPost, ServicePurchasePost},
	PaymentRequestPost:        {GoodsReceiptPost, ServicePurchasePost, SupplierOrderPost},
	BankPaymentPost:           {PaymentRequestPost},
}

// Lack is how many documents must wait for an operation before n operations of a mix, so that there is always one to
// act on. It is what the operation takes beyond what others bring, n·(t − b), and three standard deviations of that
// difference, 3·√(n·(t + b)): which operation comes is chance.
func Lack(id string, mix map[string]float64, n float64) int {
	sum := 0.0
	for _, weight := range mix {
		sum += weight
	}
	from, acts := brought[id]
	if !acts || sum <= 0 || mix[id] <= 0 {
		return 0
	}
	takes, brings := mix[id]/sum, 0.0
	for _, other := range from {
		brings += mix[other] / sum
	}
	return int(math.Ceil(max(0, n*(takes-brings)+3*math.Sqrt(n*(takes+brings)))))
}
