package audit

import "plimsoll/platform/care/audit"

var (
	warehouseIssueOrder = cellOrder("warehouse_issue_order",
		"Warehouse issue order: lines, what left the cells and what was shipped of the basis agree",
		"acc_to_ship", "shipped", "NOT expense")
	warehouseReceiptOrder = cellOrder("warehouse_receipt_order",
		"Warehouse receipt order: lines, what came into the cells and what was received of the basis agree",
		"acc_to_receive", "received", "expense")
)

// cellOrder: what an order of a warehouse moves in cells, it works off what waits of its basis; no movement in cells
// goes the wrong way.
func cellOrder(kind, title, waiting, done, wrongWay string) []audit.Invariant {
	return []audit.Invariant{{
		ID: kind + ".moves", Title: title, Checked: documents(kind),
		Wrong: compared(kind, "l.quantity = c.quantity AND l.quantity = s.quantity AND c.foreign_rows = 0 AND "+
			"s.foreign_rows = 0",
			`'lines=' || l.quantity || '; cells=' || c.quantity || ', elsewhere ' || c.foreign_rows || '; `+done+
				`=' || s.quantity || ', of other documents ' || s.foreign_rows`,
			linesSum(kind, "quantity"),
			recorded("c", "acc_cells m JOIN cat_warehouse_cells k ON k.id = m.cell JOIN (SELECT id AS document, "+
				"warehouse AS own FROM doc_"+kind+") o ON o.document = m.recorder",
				kind, "sum(quantity) AS quantity, count(*) FILTER (WHERE "+wrongWay+
					" OR m.warehouse <> own OR k.warehouse <> own) AS foreign_rows", "quantity", "foreign_rows"),
			recorded("s", waiting+" m JOIN (SELECT id AS document, basis AS own FROM doc_"+kind+
				") o ON o.document = m.recorder",
				kind, "sum(quantity) AS quantity, count(*) FILTER (WHERE NOT expense OR basis <> own) AS foreign_rows",
				"quantity", "foreign_rows")),
	}}
}
