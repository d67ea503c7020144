package audit

import "plimsoll/platform/care/audit"

var servicePurchase = []audit.Invariant{
	{
		ID: "service_purchase.ledger", Title: "Purchase of services: header, lines, settlements, VAT, investments " +
			"and ledger agree",
		Checked: documents("service_purchase"),
		Wrong: compared("service_purchase", `
	d.amount = l.amount AND d.vat = l.vat AND d.total = d.amount + d.vat AND s.total = d.total AND v.amount = d.amount
		AND v.vat = d.vat
	AND e.spent = d.amount AND e.vat = d.vat AND i.invested = CASE WHEN d.asset = '00000000-0000-0000-0000-000000000000'
		THEN 0 ELSE d.amount END AND i.invested = e.capital`,
			`'lines: amount=' || l.amount || ' vat=' || l.vat || '; settlements=' || s.total
	|| '; vat: amount=' || v.amount || ' vat=' || v.vat
	|| '; investments=' || i.invested || '; ledger: spent=' || e.spent || ', of that capital=' || e.capital
		|| ' vat=' || e.vat`,
			linesSum("service_purchase", "amount", "vat"),
			recorded("s", "acc_supplier_settlements", "service_purchase",
				"sum(CASE WHEN expense THEN -amount ELSE amount END) AS total", "total"),
			recorded("v", "acc_input_vat", "service_purchase", "sum(amount) AS amount, sum(vat) AS vat", "amount",
				"vat"),
			recorded("i", "acc_asset_investments m JOIN (SELECT id AS document, asset AS own FROM "+
				"doc_service_purchase) o ON o.document = m.recorder", "service_purchase",
				"sum(amount) FILTER (WHERE NOT expense AND asset = own) AS invested", "invested"),
			recorded("e", "gl_general", "service_purchase",
				`sum(amount) FILTER (WHERE debit IN ('26', '08') AND credit = '60') AS spent,
		sum(amount) FILTER (WHERE debit = '08' AND credit = '60') AS capital,
			sum(amount) FILTER (WHERE debit = '19' AND credit = '60') AS vat`, "spent", "capital", "vat")),
	},
}
