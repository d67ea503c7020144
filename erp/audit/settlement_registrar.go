package audit

import "plimsoll/platform/care/audit"

var settlementRegistrar = []audit.Invariant{
	{
		ID: "settlement_registrar.total", Title: "Settlement registrar: debits equal credits, settlements move by " +
			"the lines, and the total owed does not change",
		Checked: documents("settlement_registrar"),
		Wrong: compared("settlement_registrar", `
	l.debit = d.amount AND l.credit = d.amount AND c.moved + s.moved = 2 * d.amount AND c.amount = s.amount`,
			`'lines: debit=' || l.debit || ' credit=' || l.credit || '; moved=' || c.moved + s.moved
	|| '; customers=' || c.amount || ' suppliers=' || s.amount`,
			linesSum("settlement_registrar", "debit", "credit"),
			recorded("c", "acc_customer_settlements", "settlement_registrar",
				"sum(amount) AS moved, sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount", "moved",
				"amount"),
			recorded("s", "acc_supplier_settlements", "settlement_registrar",
				"sum(amount) AS moved, sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount", "moved",
				"amount")),
	},
}
