package audit

import "plimsoll/platform/care/audit"

var invoiceIssued = []audit.Invariant{
	{
		ID: "invoice_issued.books", Title: "Invoice issued: header, VAT taken off its basis, sales book, advances " +
			"and ledger agree",
		Checked: documents("invoice_issued"),
		Wrong: compared("invoice_issued", setOffSays+`
	AND v.amount = d.amount * (d.advance = 0)::int AND v.vat = d.vat * (d.advance = 0)::int AND b.amount = d.amount
		AND b.vat = d.vat AND v.foreign_rows = 0 AND b.foreign_rows = 0
	AND e.charged = d.vat * (d.advance <> 0)::int AND e.set_off = d.set_off_vat`,
			`'vat: amount=' || v.amount || ' vat=' || v.vat || ', of other documents ' || v.foreign_rows
	|| '; sales book: amount=' || b.amount || ' vat=' || b.vat || ', of other counterparties ' || b.foreign_rows`+
				setOffFound+` || '; ledger: charged=' || e.charged || ' set off=' || e.set_off`,
			append(setOff("invoice_issued", "customer_advances", "purchase_book"),
				recorded("v", "acc_output_vat m JOIN (SELECT id, basis AS own FROM doc_invoice_issued) o ON o.id = "+
					"m.recorder", "invoice_issued",
					"sum(amount) AS amount, sum(vat) AS vat, count(*) FILTER (WHERE NOT expense OR basis <> own) "+
						"AS foreign_rows", "amount", "vat", "foreign_rows"),
				recorded("b", "acc_sales_book m JOIN (SELECT id, counterparty AS own FROM doc_invoice_issued) o ON "+
					"o.id = m.recorder", "invoice_issued",
					"sum(amount) AS amount, sum(vat) AS vat, count(*) FILTER (WHERE expense OR counterparty <> "+
						"own) AS foreign_rows", "amount", "vat", "foreign_rows"),
				recorded("e", "gl_general", "invoice_issued", `
		sum(amount) FILTER (WHERE debit = '76AV' AND credit = '68') AS charged,
			sum(amount) FILTER (WHERE debit = '68' AND credit = '76AV') AS set_off`, "charged", "set_off"))...),
	},
	{
		ID: "invoice_issued.basis", Title: "Invoice issued: its basis is a posted document of the same counterparty",
		Checked: "SELECT count(*) FROM inf_invoices WHERE recorder_type = 'invoice_issued' AND ({document " +
			"recorder} OR {document basis})",
		Wrong: `SELECT 'invoice_issued ' || d.number || ' ' || d.id,
	'a posted sale or receipt of ' || d.counterparty || ', stated as its basis',
	'stated=' || coalesce(i.basis::text, 'none') || ' counterparty=' || coalesce(b.counterparty::text, 'none')
FROM doc_invoice_issued d LEFT JOIN inf_invoices i ON i.recorder = d.id
LEFT JOIN (SELECT id, counterparty, posted FROM doc_goods_sale UNION ALL SELECT id, counterparty, posted
	FROM doc_service_sale
	UNION ALL SELECT id, counterparty, posted FROM doc_bank_receipt) b ON b.id = d.basis AND b.posted
WHERE d.posted AND ({document d.id} OR {document d.basis}) AND (i.basis IS DISTINCT FROM d.basis
	OR b.counterparty IS DISTINCT FROM d.counterparty)`,
	},
}
