package audit

import "plimsoll/platform/care/audit"

var serviceSale = []audit.Invariant{
	{
		ID: "service_sale.ledger", Title: "Sale of services: header, lines, settlements, VAT and ledger agree",
		Checked: documents("service_sale"),
		Wrong: compared("service_sale", `
	d.amount = l.amount AND d.vat = l.vat AND d.total = d.amount + d.vat AND s.total = d.total AND v.amount = d.amount
		AND v.vat = d.vat
	AND e.total = d.total AND e.vat = d.vat`,
			`'lines: amount=' || l.amount || ' vat=' || l.vat || '; settlements=' || s.total
	|| '; vat: amount=' || v.amount || ' vat=' || v.vat || '; ledger: total=' || e.total || ' vat=' || e.vat`,
			linesSum("service_sale", "amount", "vat"),
			recorded("s", "acc_customer_settlements", "service_sale",
				"sum(CASE WHEN expense THEN -amount ELSE amount END) AS total", "total"),
			recorded("v", "acc_output_vat", "service_sale", "sum(amount) AS amount, sum(vat) AS vat", "amount", "vat"),
			recorded("e", "gl_general", "service_sale", `
		sum(amount) FILTER (WHERE debit = '62' AND credit = '90') AS total,
			sum(amount) FILTER (WHERE debit = '90' AND credit = '68') AS vat`, "total", "vat")),
	},
}
