package audit

import "plimsoll/platform/care/audit"

var internalConsumption = []audit.Invariant{
	{
		ID: "internal_consumption.ledger", Title: "Internal consumption: header, lines, stock, batches and ledger " +
			"agree",
		Checked: documents("internal_consumption"),
		Wrong: compared("internal_consumption", `
	d.cost = l.cost AND s.amount = d.cost AND b.amount = d.cost AND e.amount = d.cost AND l.quantity = s.quantity
		AND l.quantity = b.quantity`,
			`'lines: cost=' || l.cost || ' quantity=' || l.quantity || '; stock: ' || s.amount || ' of ' || s.quantity
	|| '; batches: ' || b.amount || ' of ' || b.quantity || '; ledger=' || e.amount`,
			linesSum("internal_consumption", "cost", "quantity"),
			recorded("s", "acc_stock", "internal_consumption", "sum(amount) AS amount, sum(quantity) AS quantity",
				"amount", "quantity"),
			recorded("b", "acc_batches", "internal_consumption", "sum(amount) AS amount, sum(quantity) AS quantity",
				"amount", "quantity"),
			recorded("e", "gl_general", "internal_consumption",
				"sum(amount) FILTER (WHERE debit = '26' AND credit IN ('10', '41')) AS amount", "amount")),
	},
}
