package audit_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

// purchases is a company with all kinds of documents of buying, paying and keeping in its books, and an addressed
// warehouse.
func purchases(t *testing.T) *erptest.Company {
	d := erptest.NewDesk(t, 2)
	cells := func(basis id.ID, quantity string) erptest.Fields {
		return d.WarehouseOrder(basis, d.Org.Cells[0], quantity)
	}
	receipt := d.Posted(t, "goods-receipt", d.AddressedGoods("10"))
	d.Posted(t, "warehouse-receipt-order", cells(receipt, "4"))
	d.Posted(t, "other-goods-receipt", d.FoundGoods(erptest.Line{Item: d.Items[0], Quantity: "5"}))
	spent := d.Posted(t, "service-purchase", d.ServicePurchase("2"))
	d.Posted(t, "service-purchase", d.Investment(d.Org.Assets[0], "2").With("supplier_number", "S-9"))
	d.Posted(t, "service-purchase", d.Investment(d.Org.Assets[1], "2"))
	d.Posted(t, "invoice-received", d.InvoiceReceived(spent, "F-1"))
	request := d.Posted(t, "payment-request", d.PaymentRequest(receipt, "10.00"))
	d.Posted(t, "bank-receipt", d.Payment("70.00", "B-1"))
	d.Posted(t, "bank-payment", d.PaymentBy(request, "6.00", "B-2"))
	used := d.Posted(t, "asset-commissioning", erptest.Fields{"asset": d.Org.Assets[0],
		"department": d.Org.Department, "warehouse": d.Org.Addressed, "lines": d.Goods("3").Lines})
	d.Posted(t, "warehouse-issue-order", cells(used, "1"))
	return d.Company
}

func TestEveryCorruptionOfPurchasesIsNamed(t *testing.T) {
	corrupted(t, purchases(t), map[string]corruption{
		"AFoundLine": {"UPDATE doc_other_goods_receipt_lines SET quantity = quantity + 1",
			"other_goods_receipt OR-", []string{"other_goods_receipt.ledger"}},
		"AFoundLineOfNoCost": {"UPDATE doc_other_goods_receipt_lines SET amount = 0", "lines without a cost: 1",
			[]string{"other_goods_receipt.ledger"}},
		"AFoundHeader": {"UPDATE doc_other_goods_receipt SET amount = amount + 1", "other_goods_receipt OR-",
			[]string{"other_goods_receipt.ledger"}},
		"AFoundEntry": {"UPDATE gl_general SET credit = '90' WHERE credit = '91'", "account=90",
			[]string{"general.current", "general.monthly", "other_goods_receipt.ledger"}},
		"APurchase": {"UPDATE doc_service_purchase SET amount = amount + 1, total = total + 1",
			"service_purchase SP-", []string{"service_purchase.ledger"}},
		"APurchaseOfAnother": {"UPDATE doc_service_purchase SET asset = (SELECT id FROM cat_fixed_assets LIMIT 1) " +
			"WHERE supplier_number = '' AND posted AND asset = '00000000-0000-0000-0000-000000000000'",
			"service_purchase SP-", []string{"service_purchase.ledger"}},
		"AnOverheadOfAnAsset": {"UPDATE gl_general SET debit = '26' WHERE debit = '08' AND credit = '60'", "account=26",
			[]string{"general.analytics", "general.current", "general.monthly", "service_purchase.ledger"}},
		"AnInvestment": {"UPDATE acc_asset_investments_totals SET amount = amount + 1 WHERE period = " +
			"'infinity' AND amount > 0", "asset=", []string{"asset_investments.current", "asset_investments.ledger"}},
		"AnInvestmentBelow": {"UPDATE acc_asset_investments_totals SET amount = -1 WHERE period = 'infinity' AND " +
			"amount > 0", "amount=-1.00", []string{"asset_investments.controlled", "asset_investments.current",
			"asset_investments.ledger"}},
		"AnInvoice": {"UPDATE doc_invoice_received SET vat = vat + 1, total = total + 1",
			"invoice_received IR-", []string{"invoice_received.books"}},
		"ABooking": {"UPDATE acc_purchase_book SET vat = vat + 1; UPDATE acc_purchase_book_totals SET " +
			"vat = vat + 1", "purchase book: amount=10.00 vat=3.00",
			[]string{"invoice_received.books", "output_vat.ledger"}},
		"AnInvoiceOfAnother": {"UPDATE doc_invoice_received SET counterparty = gen_random_uuid()",
			"of other counterparties 1", []string{"invoice_received.basis", "invoice_received.books"}},
		"AnInvoiceOfNothing": {"DELETE FROM inf_invoices", "stated=none",
			[]string{"invoice_received.basis", "invoice_received.posted"}},
		"AnInvoiceNumber": {"UPDATE inf_invoice_numbers SET invoice_number = 'other'", "number=other",
			[]string{"invoice_received.basis"}},
		"AnInvoiceUnposted": {"UPDATE doc_service_purchase SET posted = false WHERE id = (SELECT basis FROM " +
			"doc_invoice_received)", "invoice_received IR-",
			[]string{"invoice_received.basis", "service_purchase.posted"}},
		"AVATOfAnother": {"UPDATE acc_input_vat_totals SET counterparty = (SELECT id FROM cat_counterparties " +
			"WHERE name = 'Partner 1') WHERE amount > 0", "counterparty=",
			[]string{"input_vat.current", "input_vat.ledger", "input_vat.monthly"}},
		"ARequest": {"UPDATE doc_payment_request SET amount = amount + 1", "payment_request PR-",
			[]string{"payment_request.plan"}},
		"ARequestOfNothing": {"DELETE FROM inf_payment_requests", "bases stated: 0",
			[]string{"payment_request.plan"}},
		"AContractOfARequest": {"UPDATE acc_payment_plan SET contract = gen_random_uuid()", "of others 1",
			[]string{"bank_payment.ledger", "payment_plan.current", "payment_plan.monthly", "payment_request.plan"}},
		"APayment": {"UPDATE doc_bank_payment SET amount = amount + 1", "bank_payment BP-",
			[]string{"bank_payment.ledger"}},
		"APaymentsReference": {"UPDATE inf_bank_references SET bank_reference = 'other' WHERE recorder_type = " +
			"'bank_payment'", "references stated: 0", []string{"bank_payment.ledger"}},
		"APaymentsAccount": {"UPDATE gl_general SET credit = '50' WHERE credit = '51'", "account=50",
			[]string{"bank_payment.ledger", "general.current", "general.monthly"}},
		"ARequestWithdrawn": {"UPDATE doc_payment_request SET posted = false", "bank_payment BP-",
			[]string{"bank_payment.approved", "payment_request.posted"}},
		"AReceiptOrdersLine": {"UPDATE doc_warehouse_receipt_order_lines SET quantity = quantity + 1",
			"warehouse_receipt_order WR-", []string{"warehouse_receipt_order.moves"}},
		"ACell": {"UPDATE acc_cells_totals SET quantity = quantity + 1 WHERE period = 'infinity'",
			"cell=", []string{"cells.current", "cells.stock"}},
		"ACommissioning": {"UPDATE doc_asset_commissioning SET total = total + 1, invested = invested + 1",
			"asset_commissioning FC-", []string{"asset_commissioning.ledger"}},
		"ACommissionedLine": {"UPDATE doc_asset_commissioning_lines SET quantity = quantity + 1",
			"asset_commissioning FC-", []string{"asset_commissioning.ledger"}},
		"AState": {"UPDATE inf_asset_states SET useful_months = 1", "states as the header says: 0",
			[]string{"asset_commissioning.ledger"}},
		"AStateLost": {"DELETE FROM inf_asset_states", "asset_commissioning FC-",
			[]string{"asset_commissioning.ledger", "asset_commissioning.posted"}},
		"ACostOfAnAsset": {"UPDATE acc_asset_costs_totals SET amount = amount + 1 WHERE period = 'infinity'",
			"asset=", []string{"asset_costs.current", "asset_costs.ledger"}},
		"AnAssetOfTheLedger": {"UPDATE gl_general_totals SET analytic_1 = gen_random_uuid() WHERE account = '01'",
			"asset=", []string{"asset_costs.ledger", "general.current", "general.monthly"}},
	})
}

// A contract's payment limit is of the catalog, which a corruption of the books leaves alone.
func TestAnExceededPaymentLimitIsNamed(t *testing.T) {
	c := purchases(t)
	c.Exec(t, "UPDATE cat_contracts SET payment_limit = 3.99")
	if ids, _ := violated(t, c); len(ids) != 1 || ids[0] != "payment_request.limit" {
		t.Errorf("violated %v", ids)
	}
}
