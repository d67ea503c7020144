package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/erp/audit"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/erp/monthclose"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/server"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// company with two receipts and a sale in its books.
func company(t *testing.T) *erptest.Company {
	c := erptest.New(t, 3)
	o := c.Organisations[0]
	u := erptest.Login(t, c.Worker(t, server.Config{}), o.User)
	lines := []erptest.Line{{Item: c.Items[0], Quantity: "10"}, {Item: c.Items[1], Quantity: "20"}}
	few := []erptest.Line{{Item: c.Items[0], Quantity: "1"}, {Item: c.Items[1], Quantity: "2"}}
	for _, d := range []struct {
		kind  string
		lines []erptest.Line
		date  string
	}{{"goods-receipt", lines, "2025-01-31T23:59:59Z"}, {"goods-receipt", lines, ""}, {"goods-sale", few, ""}} {
		a := u.Post(t, d.kind, "", erptest.Document{Warehouse: o.Warehouses[0], Counterparty: o.Counterparty,
			Lines: d.lines, Date: d.date})
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	order := erptest.Document{Warehouse: o.Warehouses[0], Counterparty: o.Counterparty, Lines: few}
	for _, kind := range []string{"customer-order", "supplier-order"} {
		order.SupplierNumber = map[string]string{"supplier-order": "S-1"}[kind]
		if a := u.Post(t, kind, "", order); a.Status != 201 {
			t.Fatalf("%s: %d %s", kind, a.Status, a.Body)
		}
	}
	deal := func(more erptest.Fields) erptest.Fields {
		more["counterparty"], more["contract"] = o.Counterparty, erptest.Contract(o.Counterparty)
		return more
	}
	post := func(kind string, f erptest.Fields) erptest.Answer {
		a := u.Post(t, kind, "", f)
		if a.Status != 201 {
			t.Fatalf("%s: %d %s", kind, a.Status, a.Body)
		}
		return a
	}
	services := post("service-sale", deal(
		erptest.Fields{"lines": []erptest.Fields{{"service": c.Services[0], "quantity": "2"}}}))
	post("invoice-issued", erptest.Fields{"basis": services.ID, "contract": erptest.Contract(o.Counterparty)})
	post("bank-receipt", deal(erptest.Fields{"cash_account": o.Bank, "bank_reference": "B-1", "amount": "7.00"}))
	post("internal-consumption", erptest.Fields{"warehouse": o.Warehouses[0], "department": o.Department,
		"expense_item": o.ExpenseItem, "lines": few})
	post("settlement-registrar", erptest.Fields{"lines": []erptest.Fields{
		{"contract": erptest.Contract(o.Counterparty), "supplier": true, "debit": "3.00"},
		{"contract": erptest.Contract(o.Counterparty), "credit": "3.00"},
	}})
	return c
}

func violated(t *testing.T, c *erptest.Company) (ids []string, report audit.Report) {
	report, err := audit.Run(t.Context(), c.Database)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, check := range report.Checks {
		if check.Violations > 0 {
			ids = append(ids, check.Invariant)
		}
		if (check.Violations > 0) != (len(check.Examples) > 0) {
			t.Errorf("%s: %d violations, %d named", check.Invariant, check.Violations, len(check.Examples))
		}
		sum += check.Violations
	}
	if sum != report.Violations || report.Clean() != (sum == 0) {
		t.Errorf("the sum is %d, the report says %d", sum, report.Violations)
	}
	return ids, report
}

func TestCleanBooksAreClean(t *testing.T) {
	looked := map[string]int64{}
	for _, c := range []*erptest.Company{company(t), purchases(t), paidAhead(t)} {
		ids, report := violated(t, c)
		if len(ids) > 0 {
			t.Errorf("violated: %v", ids)
		}
		for _, check := range report.Checks {
			looked[check.Invariant] += check.Checked
		}
	}
	for invariant, checked := range looked {
		generated := len(independent([]string{invariant})) == 0 // proven where damage is done
		closing := invariant == "groups.whole" || strings.HasPrefix(invariant, books.MonthClose+".")
		if checked == 0 && !generated && !closing { // those of the close are proven where months close
			t.Errorf("%s looked at nothing", invariant)
		}
	}
}

// Each corruption must be found by the invariants it breaks and by no other, and named by a subject.
func TestEveryKindOfCorruptionIsNamed(t *testing.T) {
	c := company(t)
	const sale = "(SELECT id FROM doc_goods_sale)"
	corrupted(t, c, map[string]corruption{
		"ATotalOfAMonth": {"UPDATE acc_stock_totals SET quantity = quantity + 1 WHERE period = '2025-01-01' " +
			"AND item = (SELECT id FROM cat_items WHERE code = 'I0')", "month=2025-01-01", []string{"stock.monthly"}},
		"ATotalLost": {"DELETE FROM acc_stock_totals WHERE period = '2025-01-01'", "month=2025-01-01",
			[]string{"stock.monthly"}},
		"ATotalOfNothing": {"INSERT INTO acc_stock_totals (organisation, period, warehouse, item, quantity) " +
			"SELECT organisation, '2020-01-01', warehouse, item, 1 FROM acc_stock_totals LIMIT 1", "month=2020-01-01",
			[]string{"stock.monthly"}},
		"ACurrentBalance": {"UPDATE acc_stock_totals SET quantity = quantity + 1 WHERE period = 'infinity'",
			"month=infinity", []string{"batches.stock", "stock.current"}},
		"ANegativeStock": {"UPDATE acc_stock_totals SET quantity = -1 WHERE period = 'infinity' AND item = " +
			"(SELECT id FROM cat_items WHERE code = 'I0')", "warehouse=",
			[]string{"batches.stock", "stock.controlled", "stock.covers", "stock.current"}},
		"AValueOfNothing": {"UPDATE acc_stock_totals SET quantity = 0 WHERE period = 'infinity'", "warehouse=",
			[]string{"batches.stock", "stock.controlled", "stock.covers", "stock.current"}},
		"AMovementLost": {"DELETE FROM acc_stock WHERE recorder = " + sale + " AND line = 1", "",
			[]string{"goods_sale.ledger", "stock.current", "stock.monthly"}},
		"AllMovementsLost": {"DELETE FROM acc_stock WHERE recorder = " + sale, "goods_sale GS-",
			[]string{"goods_sale.ledger", "goods_sale.posted", "stock.current", "stock.monthly"}},
		"AMovementChanged": {"UPDATE acc_stock SET amount = amount + 0.01 WHERE recorder = " + sale +
			" AND line = 1", "", []string{"goods_sale.ledger", "stock.current", "stock.monthly"}},
		"AMovementTwice": {"INSERT INTO acc_stock SELECT recorder, line + 100, recorder_type, organisation, " +
			"period, expense, warehouse, item, quantity, amount FROM acc_stock WHERE recorder = " + sale, "",
			[]string{"goods_sale.ledger", "stock.current", "stock.monthly"}},
		"ADocumentLost": {"DELETE FROM doc_goods_sale", "no document",
			[]string{"batches.recorders", "customer_settlements.recorders", "general.recorders",
				"goods_sale.operations", "output_vat.recorders", "stock.recorders"}},
		"ADocumentElsewhere": {"UPDATE doc_goods_sale SET date = date + interval '1 day'", "",
			[]string{"batches.recorders", "customer_settlements.recorders", "general.recorders", "output_vat.recorders",
				"stock.recorders"}},
		"AForeignMovement": {"UPDATE acc_stock SET organisation = gen_random_uuid() WHERE recorder = " + sale,
			"goods_sale ", []string{"stock.current", "stock.monthly", "stock.recorders"}},
		"AnUnknownRecorder": {"UPDATE gl_general SET recorder_type = 'none' WHERE recorder = " + sale, "none ",
			[]string{"general.recorders", "goods_sale.ledger", "goods_sale.posted"}},
		"AnUnpostedWithEntries": {"UPDATE doc_goods_sale SET posted = false", "goods_sale GS-",
			[]string{"goods_sale.posted"}},
		"ATurnoverOfTheLedger": {"UPDATE gl_general_totals SET debit = debit + 0.01 WHERE account = '62'",
			"account=62", []string{"customer_settlements.ledger", "general.accounts", "general.balanced",
				"general.current", "general.monthly"}},
		"ATurnoverOfAnAccount": {"UPDATE gl_general_accounts SET debit = debit + 0.01 WHERE account = '62'",
			"account=62 month=2", []string{"general.accounts"}},
		"AnAccountLost": {"DELETE FROM gl_general_accounts WHERE account = '41'", "account=41 month=2",
			[]string{"general.accounts"}},
		"BothSidesOfATurnover": {"UPDATE gl_general_totals SET debit = debit + 1, credit = credit + 1 WHERE " +
			"account = '62' AND period = 'infinity'", "account=62", []string{"general.current"}},
		"AnEntryChanged": {"UPDATE gl_general SET amount = amount + 0.01 WHERE recorder = " + sale +
			" AND credit = '68'", "", []string{"general.current", "general.monthly", "goods_sale.ledger"}},
		"AnEntryWithOneAccount": {"UPDATE gl_general SET credit = debit WHERE recorder = " + sale +
			" AND credit = '68'", "line 3", []string{"general.current", "general.entries", "general.monthly",
			"goods_sale.ledger"}},
		"AnUnknownAccount": {"UPDATE gl_general SET debit = '77' WHERE recorder = " + sale + " AND credit = '68'",
			"line 3", []string{"general.current", "general.entries", "general.monthly", "goods_sale.ledger"}},
		"ACostOfTheLedger": {"UPDATE gl_general_totals SET credit = credit + 5 WHERE account IN ('41') AND " +
			"period = 'infinity'", "organisation=", []string{"general.balanced", "general.current", "stock.valued"}},
		"ABatch": {"UPDATE acc_batches_totals SET quantity = quantity + 1 WHERE period = 'infinity' " +
			"AND quantity > 0", "warehouse=", []string{"batches.current", "batches.stock"}},
		"ANegativeBatch": {"UPDATE acc_batches_totals SET quantity = -1 WHERE period = 'infinity'", " receipt=",
			[]string{"batches.controlled", "batches.current", "batches.stock"}},
		"ABatchOfNoReceipt": {"UPDATE acc_batches SET receipt_line = receipt_line + 50 WHERE recorder = " + sale,
			"that brought it", []string{"batches.current", "batches.monthly", "batches.origin"}},
		"ADebt": {"UPDATE acc_customer_settlements_totals SET amount = amount + 1 WHERE period = " +
			"'infinity'", "contract=", []string{"customer_settlements.current", "customer_settlements.ledger"}},
		"ADebtToASupplier": {"UPDATE acc_supplier_settlements_totals SET amount = amount + 1 WHERE period = " +
			"'infinity'", "contract=", []string{"supplier_settlements.current", "supplier_settlements.ledger"}},
		"AContractOfTheLedger": {"UPDATE gl_general_totals SET analytic_2 = gen_random_uuid() WHERE account = " +
			"'62' AND period = 'infinity'", "contract=", []string{"customer_settlements.ledger", "general.current"}},
		"AnAnalyticTooMany": {"UPDATE gl_general SET debit_1 = gen_random_uuid() WHERE recorder = " + sale +
			" AND credit = '68'", "account 90", []string{"general.analytics", "general.current", "general.monthly"}},
		"AnInputVAT": {"UPDATE acc_input_vat_totals SET vat = vat + 1 WHERE period = 'infinity'",
			"organisation=", []string{"input_vat.current", "input_vat.ledger"}},
		"AnOutputVAT": {"UPDATE acc_output_vat_totals SET vat = vat + 1 WHERE period = 'infinity' AND " +
			"amount > 0", "organisation=", []string{"output_vat.current", "output_vat.ledger"}},
		"AReserve": {"UPDATE acc_reserves_totals SET quantity = quantity + 1000 WHERE period = 'infinity'",
			"warehouse=", []string{"reserves.current", "reserves.orders", "stock.covers"}},
		"AnOrder": {"UPDATE acc_customer_orders_totals SET quantity = -1 WHERE period = 'infinity'",
			"source_order=", []string{"customer_orders.controlled", "customer_orders.current"}},
		"AStatementTwice": {"DROP INDEX inf_supplier_numbers_key; INSERT INTO inf_supplier_numbers SELECT " +
			"recorder, 2, recorder_type, organisation, period, counterparty, supplier_number FROM inf_supplier_numbers",
			"supplier_number=S-1", []string{"supplier_numbers.keys"}},
		"AStatementOfNobody": {"UPDATE inf_supplier_numbers SET recorder = gen_random_uuid()", "no document",
			[]string{"supplier_numbers.recorders"}},
		"ASaleOfServices": {"UPDATE doc_service_sale SET total = total + 1", "service_sale SV-",
			[]string{"service_sale.ledger"}},
		"AnInvoice": {"UPDATE doc_invoice_issued SET vat = vat + 1", "invoice_issued II-",
			[]string{"invoice_issued.books"}},
		"AnInvoiceOfNothing": {"DELETE FROM inf_invoices", "stated=none",
			[]string{"invoice_issued.basis", "invoice_issued.posted"}},
		"AnInvoiceToAnother": {"UPDATE doc_invoice_issued SET counterparty = gen_random_uuid()",
			"of other counterparties 1", []string{"invoice_issued.basis", "invoice_issued.books"}},
		"AnInvoiceUnposted": {"UPDATE doc_service_sale SET posted = false", "invoice_issued II-",
			[]string{"invoice_issued.basis", "service_sale.posted"}},
		"ABankReceipt": {"UPDATE doc_bank_receipt SET amount = amount + 1", "bank_receipt BR-",
			[]string{"bank_receipt.ledger"}},
		"ABankReference": {"UPDATE inf_bank_references SET bank_reference = 'other'", "bank_receipt BR-",
			[]string{"bank_receipt.ledger"}},
		"ACashBalance": {"UPDATE acc_cash_totals SET amount = amount + 1 WHERE period = 'infinity'",
			"cash_account=", []string{"cash.current", "cash.ledger"}},
		"AConsumption": {"UPDATE doc_internal_consumption SET cost = cost + 1", "internal_consumption IC-",
			[]string{"internal_consumption.ledger"}},
		"AConsumedLine": {"UPDATE doc_internal_consumption_lines SET quantity = quantity + 1 WHERE line = 2",
			"internal_consumption IC-", []string{"internal_consumption.ledger"}},
		"ARegistrarsLine": {"UPDATE doc_settlement_registrar_lines SET debit = debit + 1 WHERE line = 1",
			"settlement_registrar SR-", []string{"settlement_registrar.total"}},
		"ARegistrarUnposted": {"UPDATE doc_settlement_registrar SET posted = false", "settlement_registrar SR-",
			[]string{"settlement_registrar.posted"}},
		"AnOrderOfNothing": {"INSERT INTO doc_warehouse_issue_order (id, organisation, number, date, author, " +
			"posted) SELECT id, organisation, 'WI-1', date, author, true FROM doc_goods_sale; INSERT INTO " +
			"doc_warehouse_issue_order_lines (document, line, organisation, quantity) SELECT id, 1, organisation, " +
			"5 FROM doc_goods_sale", "lines=5", []string{"warehouse_issue_order.moves",
			"warehouse_issue_order.posted"}},
		"AHeader": {"UPDATE doc_goods_receipt SET total = total + 1", "goods_receipt GR-",
			[]string{"goods_receipt.ledger"}},
		"ALine": {"UPDATE doc_goods_sale_lines SET quantity = quantity + 1 WHERE line = 1",
			"goods_sale GS-", []string{"goods_sale.ledger"}},
		"ANumberTwice": {"DROP INDEX doc_goods_receipt_number; UPDATE doc_goods_receipt SET number = 'GR-1'",
			"number=GR-1", []string{"goods_receipt.numbers"}},
	})
}

// A closed month is compared with what it was closed with.
func TestWhatComesToAClosedMonthIsNamed(t *testing.T) {
	c := company(t)
	arguments, _ := json.Marshal(monthclose.Arguments{Organisation: c.Organisations[0].ID, Month: "2025-01"})
	done, err := monthclose.Job(c.Database).Work(t.Context(), jobs.Task{Arguments: arguments})
	if closed, _ := done.([]monthclose.Closed); err != nil || len(closed) != 1 || !closed[0].Closed {
		t.Fatalf("%+v %v", done, err)
	}
	ids, report := violated(t, c)
	for _, check := range report.Checks {
		if strings.HasPrefix(check.Invariant, books.MonthClose+".") && check.Checked != 1 || len(ids) > 0 {
			t.Errorf("%s looked at %d; violated: %v", check.Invariant, check.Checked, ids)
		}
	}
	const late = "INSERT INTO doc_customer_order (id, organisation, number, date, posted, author) SELECT " +
		"gen_random_uuid(), organisation, 'L-1', '2025-01-01', false, author FROM doc_customer_order"
	const again = "INSERT INTO doc_month_close (id, organisation, number, date, posted, author, documents, " +
		"versions) SELECT gen_random_uuid(), organisation, 'MC-L', date, true, author, documents, versions FROM " +
		"doc_month_close"
	corrupted(t, c, map[string]corruption{
		"ADocumentThatCameLater": {late, "month_close MC-", []string{"month_close.counted"}},
		"AChangeMadeLater": {"UPDATE doc_goods_receipt SET version = version + 1 WHERE date < '2025-02-01'",
			"versions=2", []string{"month_close.counted"}},
		"ACostThatCameLater": {"INSERT INTO acc_batches_boundary (organisation, warehouse, item, moment) " +
			"SELECT organisation, warehouse, item, '2025-01-31' FROM acc_batches LIMIT 1", "boundaries=1",
			[]string{"month_close.counted"}},
		"AResult": {"UPDATE doc_month_close SET result = result + 1", "month_close MC-",
			[]string{"month_close.result"}},
		"AMonthClosedTwice": {again, "month=2025-01-01", []string{"month_close.once", "month_close.posted"}},
	})
}
