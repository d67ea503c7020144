package audit

import "plimsoll/platform/audit"

// trade are the invariants of this ERP.
var trade = []audit.Invariant{
	{
		ID: "stock.controlled", Title: "Stock is never below zero, and nothing is worth nothing",
		Checked: "SELECT count(*) FROM acc_stock_totals WHERE period = 'infinity'",
		Wrong: `SELECT 'organisation=' || organisation || ' warehouse=' || warehouse || ' item=' || item,
	'quantity >= 0, amount >= 0, no amount without quantity', 'quantity=' || quantity || ' amount=' || amount
FROM acc_stock_totals WHERE period = 'infinity' AND (quantity < 0 OR amount < 0 OR quantity = 0 AND amount <> 0)`,
	},
	{
		ID: "batches.controlled", Title: "No cost batch is below zero, and none is worth something when nothing is left of it",
		Checked: "SELECT count(*) FROM acc_batches_totals WHERE period = 'infinity'",
		Wrong: `SELECT 'warehouse=' || warehouse || ' item=' || item || ' receipt=' || receipt || ' line=' || receipt_line,
	'quantity >= 0, amount >= 0, no amount without quantity', 'quantity=' || quantity || ' amount=' || amount
FROM acc_batches_totals WHERE period = 'infinity' AND (quantity < 0 OR amount < 0 OR quantity = 0 AND amount <> 0)`,
	},
	{
		ID: "batches.stock", Title: "Stock is made of its cost batches: the same quantity and value at every warehouse",
		Checked: "SELECT count(*) FROM acc_stock_totals WHERE period = 'infinity'",
		Wrong: `SELECT 'organisation=' || organisation || ' warehouse=' || warehouse || ' item=' || item,
	'quantity=' || coalesce(s.quantity, 0) || ' amount=' || coalesce(s.amount, 0), 'batches: quantity=' || coalesce(b.quantity, 0) || ' amount=' || coalesce(b.amount, 0)
FROM (SELECT organisation, warehouse, item, quantity, amount FROM acc_stock_totals WHERE period = 'infinity') s
FULL JOIN (SELECT organisation, warehouse, item, sum(quantity) AS quantity, sum(amount) AS amount FROM acc_batches_totals
	WHERE period = 'infinity' GROUP BY organisation, warehouse, item) b USING (organisation, warehouse, item)
WHERE coalesce(s.quantity, 0) <> coalesce(b.quantity, 0) OR coalesce(s.amount, 0) <> coalesce(b.amount, 0)`,
	},
	{
		ID: "batches.origin", Title: "Every cost batch was brought by the line of the document it names",
		Checked: "SELECT count(*) FROM acc_batches",
		Wrong: `SELECT m.recorder_type || ' ' || m.recorder || ' line ' || m.line, 'a movement of ' || m.receipt || ' line ' || m.receipt_line || ' that brought it', 'none'
FROM acc_batches m LEFT JOIN acc_batches o ON o.recorder = m.receipt AND o.line = m.receipt_line AND NOT o.expense
	AND o.organisation = m.organisation AND o.warehouse = m.warehouse AND o.item = m.item AND o.receipt = o.recorder AND o.receipt_line = o.line
WHERE o.recorder IS NULL`,
	},
	{
		ID: "batches.boundary", Title: "Where goods left before they came, the boundary says so",
		Checked: "SELECT count(*) FROM acc_batches WHERE expense",
		Wrong: `SELECT m.recorder_type || ' ' || m.recorder || ' line ' || m.line, 'a boundary of its warehouse and item at ' || m.period || ' or before',
	coalesce('boundary ' || b.moment, 'none') || ', taken from ' || o.recorder || ' of ' || o.period
FROM acc_batches m JOIN acc_batches o ON o.recorder = m.receipt AND o.line = m.receipt_line AND (o.period, o.recorder) > (m.period, m.recorder)
LEFT JOIN acc_batches_boundary b ON b.organisation = m.organisation AND b.warehouse = m.warehouse AND b.item = m.item
WHERE m.expense AND (b.moment IS NULL OR b.moment > m.period)`,
	},
	{
		ID: "stock.valued", Title: "The value of stock is the balance of account 41",
		Checked: "SELECT count(*) FROM cat_organisations",
		Wrong: `SELECT 'organisation=' || organisation, '41=' || coalesce(l.balance, 0), 'stock=' || coalesce(s.amount, 0)
FROM (SELECT organisation, sum(amount) AS amount FROM acc_stock_totals WHERE period = 'infinity' GROUP BY organisation) s
FULL JOIN (SELECT organisation, sum(debit) - sum(credit) AS balance FROM gl_general_totals
	WHERE period = 'infinity' AND account = '41' GROUP BY organisation) l USING (organisation)
WHERE coalesce(l.balance, 0) <> coalesce(s.amount, 0)`,
	},
	{
		ID: "goods_receipt.ledger", Title: "Goods receipt: header, lines, stock and ledger say the same",
		Checked: "SELECT count(*) FROM doc_goods_receipt",
		Wrong: documentSQL("goods_receipt", "amount", `
	sum(amount) FILTER (WHERE debit = '41' AND credit = '60') AS goods,
	sum(amount) FILTER (WHERE debit = '19' AND credit = '60') AS vat, sum(amount) AS total`,
			"coalesce(e.goods, 0) <> d.amount OR coalesce(e.vat, 0) <> d.vat OR coalesce(e.total, 0) <> d.total"),
	},
	{
		ID: "goods_sale.ledger", Title: "Goods sale: header, lines, stock and ledger say the same",
		Checked: "SELECT count(*) FROM doc_goods_sale",
		Wrong: documentSQL("goods_sale", "cost", `
	sum(amount) FILTER (WHERE debit = '90' AND credit = '41') AS goods,
	sum(amount) FILTER (WHERE debit = '90' AND credit = '68') AS vat, sum(amount) FILTER (WHERE debit = '62' AND credit = '90') AS total`,
			"coalesce(e.goods, 0) <> d.cost OR coalesce(e.vat, 0) <> d.vat OR coalesce(e.total, 0) <> d.total"),
	},
}

// documentSQL compares a posted document's header with its lines, its stock movements (which carry the
// attribute value of the lines) and its ledger entries.
func documentSQL(name, value, entries, wrong string) string {
	return `SELECT '` + name + ` ' || d.number || ' ' || d.id,
	'` + value + `=' || d.` + value + ` || ' vat=' || d.vat || ' total=' || d.total,
	'lines: ` + value + `=' || coalesce(l.value, 0) || ' vat=' || coalesce(l.vat, 0) || ' quantity=' || coalesce(l.quantity, 0) ||
	'; stock: quantity=' || coalesce(s.quantity, 0) || ' amount=' || coalesce(s.amount, 0) ||
	'; ledger: goods=' || coalesce(e.goods, 0) || ' vat=' || coalesce(e.vat, 0) || ' total=' || coalesce(e.total, 0)
FROM doc_` + name + ` d
LEFT JOIN (SELECT document, sum(` + value + `) AS value, sum(amount) AS amount, sum(vat) AS vat, sum(quantity) AS quantity
	FROM doc_` + name + `_lines GROUP BY document) l ON l.document = d.id
LEFT JOIN (SELECT recorder, sum(quantity) AS quantity, sum(amount) AS amount FROM acc_stock
	WHERE recorder_type = '` + name + `' GROUP BY recorder) s ON s.recorder = d.id
LEFT JOIN (SELECT recorder, ` + entries + ` FROM gl_general WHERE recorder_type = '` + name + `' GROUP BY recorder) e ON e.recorder = d.id
WHERE d.posted AND (coalesce(l.value, 0) <> d.` + value + ` OR coalesce(l.amount, 0) <> d.amount OR coalesce(l.vat, 0) <> d.vat OR d.amount + d.vat <> d.total
	OR coalesce(l.quantity, 0) <> coalesce(s.quantity, 0) OR coalesce(s.amount, 0) <> d.` + value + ` OR ` + wrong + `)`
}
