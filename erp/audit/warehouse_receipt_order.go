package audit

import "plimsoll/platform/audit"

var warehouseReceiptOrder = []audit.Invariant{
	{
		ID: "warehouse_receipt_order.moves", Title: "Warehouse receipt order: lines, what came into the cells and what was received of the basis say the same",
		Checked: "SELECT count(*) FROM doc_warehouse_receipt_order",
		Wrong: compared("warehouse_receipt_order", "l.quantity = c.quantity AND l.quantity = s.quantity AND c.foreign_rows = 0 AND s.foreign_rows = 0",
			`'lines=' || l.quantity || '; cells=' || c.quantity || ', elsewhere ' || c.foreign_rows || '; received=' || s.quantity || ', of other documents ' || s.foreign_rows`,
			linesSum("warehouse_receipt_order", "quantity"),
			recorded("c", "acc_cells m JOIN cat_warehouse_cells k ON k.id = m.cell JOIN (SELECT id AS document, warehouse AS own FROM doc_warehouse_receipt_order) o ON o.document = m.recorder",
				"warehouse_receipt_order", "sum(quantity) AS quantity, count(*) FILTER (WHERE expense OR m.warehouse <> own OR k.warehouse <> own) AS foreign_rows", "quantity", "foreign_rows"),
			recorded("s", "acc_to_receive m JOIN (SELECT id AS document, basis AS own FROM doc_warehouse_receipt_order) o ON o.document = m.recorder",
				"warehouse_receipt_order", "sum(quantity) AS quantity, count(*) FILTER (WHERE NOT expense OR basis <> own) AS foreign_rows", "quantity", "foreign_rows")),
	},
}
