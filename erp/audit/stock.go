package audit

import "plimsoll/platform/care/audit"

// stock: its quantity, its cost batches, its value, and its reserves.
var stock = []audit.Invariant{
	{
		ID: "batches.stock", Title: "Cost batches add up to the stock, in quantity and value, at every warehouse",
		Checked: "SELECT count(*) FROM acc_stock_totals WHERE period = 'infinity' AND {key organisation, " +
			"warehouse, item}",
		Wrong: `SELECT 'organisation=' || organisation || ' warehouse=' || warehouse || ' item=' || item,
	'quantity=' || coalesce(s.quantity, 0) || ' amount=' || coalesce(s.amount, 0),
		'batches: quantity=' || coalesce(b.quantity, 0) || ' amount=' || coalesce(b.amount, 0)
FROM (SELECT organisation, warehouse, item, quantity, amount FROM acc_stock_totals
	WHERE period = 'infinity' AND {key organisation, warehouse, item}) s
FULL JOIN (SELECT organisation, warehouse, item, sum(quantity) AS quantity, sum(amount) AS amount
	FROM acc_batches_totals
	WHERE period = 'infinity' AND {key organisation, warehouse, item}
		GROUP BY organisation, warehouse, item) b USING (organisation, warehouse, item)
WHERE coalesce(s.quantity, 0) <> coalesce(b.quantity, 0) OR coalesce(s.amount, 0) <> coalesce(b.amount, 0)`,
	},
	{
		// What o brought names o itself. That is compared by way of m: the planner takes two columns of one row to be
		// equal in a few rows only, and joins a million with those few by a loop.
		ID: "batches.origin", Title: "Every cost batch was brought by the line of the document it names",
		Checked: "SELECT count(*) FROM acc_batches WHERE {document recorder} OR {document receipt}",
		Wrong: `SELECT m.recorder_type || ' ' || m.recorder || ' line ' || m.line,
	'a movement of ' || m.receipt || ' line ' || m.receipt_line || ' that brought it', 'none'
FROM acc_batches m LEFT JOIN acc_batches o ON o.recorder = m.receipt AND o.line = m.receipt_line AND NOT o.expense
	AND o.organisation = m.organisation AND o.warehouse = m.warehouse AND o.item = m.item AND o.receipt = m.receipt
		AND o.receipt_line = m.receipt_line
WHERE ({document m.recorder} OR {document m.receipt}) AND o.recorder IS NULL`,
	},
	{
		ID: "batches.boundary", Title: "The boundary of costs covers all goods that left before they arrived",
		Checked: "SELECT count(*) FROM acc_batches WHERE expense AND ({document recorder} OR {document receipt})",
		Wrong: `SELECT m.recorder_type || ' ' || m.recorder || ' line ' || m.line,
	'a boundary of its warehouse and item at ' || m.period || ' or before',
	coalesce('boundary ' || b.moment, 'none') || ', taken from ' || o.recorder || ' of ' || o.period
FROM acc_batches m JOIN acc_batches o ON o.recorder = m.receipt AND o.line = m.receipt_line
	AND (o.period, o.recorder) > (m.period, m.recorder)
LEFT JOIN acc_batches_boundary b ON b.organisation = m.organisation AND b.warehouse = m.warehouse AND b.item = m.item
WHERE m.expense AND ({document m.recorder} OR {document m.receipt}) AND (b.moment IS NULL OR b.moment > m.period)`,
	},
	{
		ID: "stock.valued", Title: "The value of stock equals the balance of account 41, of materials that of " +
			"account 10, at every warehouse",
		Checked: "SELECT count(*) FROM cat_warehouses WHERE {key organisation, id}",
		Wrong: `SELECT 'organisation=' || organisation || ' account=' || account || ' warehouse=' || warehouse,
	'ledger=' || coalesce(l.balance, 0), 'stock=' || coalesce(s.amount, 0)
FROM (SELECT s.organisation, s.warehouse, coalesce(nullif(i.account, ''), '41') AS account, sum(s.amount) AS amount
	FROM acc_stock_totals s JOIN cat_items i ON i.id = s.item
		WHERE s.period = 'infinity' AND {key s.organisation, s.warehouse} GROUP BY 1, 2, 3) s
FULL JOIN (SELECT organisation, account, analytic_1 AS warehouse, sum(debit) - sum(credit) AS balance
	FROM gl_general_totals
	WHERE period = 'infinity' AND account IN ('41', '10') AND {key organisation, analytic_1}
		GROUP BY 1, 2, 3) l USING (organisation, account, warehouse)
WHERE coalesce(l.balance, 0) <> coalesce(s.amount, 0)`,
	},
	{
		ID: "cells.stock", Title: "At warehouses with cells, stock equals the contents of the cells, plus what is " +
			"still to be put there, less what is still to be taken out",
		Checked: "SELECT count(*) FROM acc_cells_totals WHERE period = 'infinity' AND {key organisation, " +
			"warehouse, item}",
		Wrong: `SELECT 'organisation=' || organisation || ' warehouse=' || warehouse || ' item=' || item,
	'stock=' || coalesce(s.quantity, 0), 'cells + to_receive - to_ship=' || coalesce(p.quantity, 0)
FROM (SELECT t.organisation, t.warehouse, t.item, t.quantity FROM acc_stock_totals t
	JOIN cat_warehouses w ON w.id = t.warehouse AND w.addressed
	WHERE t.period = 'infinity' AND {key t.organisation, t.warehouse, t.item}) s
FULL JOIN (SELECT organisation, warehouse, item, sum(quantity) AS quantity FROM (
	SELECT organisation, warehouse, item, quantity FROM acc_cells_totals
		WHERE period = 'infinity' AND {key organisation, warehouse, item}
	UNION ALL SELECT organisation, warehouse, item, quantity FROM acc_to_receive_totals
		WHERE period = 'infinity' AND {key organisation, warehouse, item}
	UNION ALL SELECT organisation, warehouse, item, -quantity FROM acc_to_ship_totals
		WHERE period = 'infinity' AND {key organisation, warehouse, item}) parts
		GROUP BY 1, 2, 3) p USING (organisation, warehouse, item)
WHERE coalesce(s.quantity, 0) <> coalesce(p.quantity, 0)`,
	},
	{
		ID: "reserves.orders", Title: "Reserved quantities equal those that open customer orders have reserved",
		Checked: "SELECT count(*) FROM acc_customer_orders_totals WHERE period = 'infinity' AND {key organisation, " +
			"source_order}",
		Wrong: `SELECT 'organisation=' || organisation || ' warehouse=' || warehouse || ' item=' || item,
	'orders=' || coalesce(o.quantity, 0), 'reserves=' || coalesce(r.quantity, 0)
FROM (SELECT organisation, warehouse, item, quantity FROM acc_reserves_totals
	WHERE period = 'infinity' AND {key organisation, warehouse, item}) r
FULL JOIN (SELECT t.organisation, d.warehouse, t.item, sum(t.reserved) AS quantity FROM acc_customer_orders_totals t
	JOIN doc_customer_order d ON d.id = t.source_order
	WHERE t.period = 'infinity' AND {key t.organisation, d.warehouse, t.item}
		GROUP BY 1, 2, 3) o USING (organisation, warehouse, item)
WHERE coalesce(r.quantity, 0) <> coalesce(o.quantity, 0)`,
	},
}
