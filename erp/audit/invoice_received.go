package audit

import "plimsoll/platform/care/audit"

var invoiceReceived = []audit.Invariant{
	{
		ID: "invoice_received.books", Title: "Invoice received: header, VAT taken off its basis, purchase book, " +
			"advances and ledger agree",
		Checked: documents("invoice_received"),
		Wrong: compared("invoice_received", setOffSays+`
	AND v.amount = d.amount * (d.advance = 0)::int AND v.vat = d.vat * (d.advance = 0)::int AND b.amount = d.amount
		AND b.vat = d.vat AND v.foreign_rows = 0 AND b.foreign_rows = 0
	AND e.vat = d.vat * (d.advance = 0)::int AND e.charged = d.vat * (d.advance <> 0)::int
		AND e.set_off = d.set_off_vat`,
			`'vat: amount=' || v.amount || ' vat=' || v.vat || ', of other documents ' || v.foreign_rows
	|| '; purchase book: amount=' || b.amount || ' vat=' || b.vat || ', of other counterparties ' || b.foreign_rows`+
				setOffFound+` || '; ledger: vat=' || e.vat || ' charged=' || e.charged || ' set off=' || e.set_off`,
			append(setOff("invoice_received", "supplier_advances", "sales_book"),
				recorded("v", "acc_input_vat m JOIN (SELECT id, basis AS own FROM doc_invoice_received) o ON o.id "+
					"= m.recorder", "invoice_received",
					"sum(amount) AS amount, sum(vat) AS vat, count(*) FILTER (WHERE NOT expense OR basis <> own) "+
						"AS foreign_rows", "amount", "vat", "foreign_rows"),
				recorded("b", "acc_purchase_book m JOIN (SELECT id, counterparty AS own FROM doc_invoice_received) "+
					"o ON o.id = m.recorder", "invoice_received",
					"sum(amount) AS amount, sum(vat) AS vat, count(*) FILTER (WHERE expense OR counterparty <> "+
						"own) AS foreign_rows", "amount", "vat", "foreign_rows"),
				recorded("e", "gl_general", "invoice_received",
					`sum(amount) FILTER (WHERE debit = '68' AND credit = '19') AS vat,
		sum(amount) FILTER (WHERE debit = '68' AND credit = '76VA') AS charged,
			sum(amount) FILTER (WHERE debit = '76VA' AND credit = '68') AS set_off`, "vat", "charged", "set_off"))...),
	},
	{
		ID: "invoice_received.basis", Title: "Invoice received: its number is stated, and its basis is a " +
			"posted document of the same counterparty",
		Checked: "SELECT count(*) FROM inf_invoices WHERE recorder_type = 'invoice_received' AND ({document " +
			"recorder} OR {document basis})",
		Wrong: `SELECT 'invoice_received ' || d.number || ' ' || d.id,
	'a posted purchase or payment of ' || d.counterparty
	|| ', stated as its basis, with the number ' || d.invoice_number,
	'stated=' || coalesce(i.basis::text, 'none') || ' counterparty=' || coalesce(b.counterparty::text, 'none')
		|| ' number=' || coalesce(n.invoice_number, 'none')
FROM doc_invoice_received d LEFT JOIN inf_invoices i ON i.recorder = d.id
	LEFT JOIN inf_invoice_numbers n ON n.recorder = d.id
LEFT JOIN (SELECT id, counterparty, posted FROM doc_goods_receipt UNION ALL SELECT id, counterparty, posted
	FROM doc_service_purchase
	UNION ALL SELECT id, counterparty, posted FROM doc_bank_payment) b ON b.id = d.basis AND b.posted
WHERE d.posted AND ({document d.id} OR {document d.basis}) AND (i.basis IS DISTINCT FROM d.basis
	OR b.counterparty IS DISTINCT FROM d.counterparty
	OR (n.counterparty, n.invoice_number) IS DISTINCT FROM (d.counterparty, d.invoice_number))`,
	},
}
