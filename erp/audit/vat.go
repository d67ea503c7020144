package audit

import "plimsoll/platform/care/audit"

// vat: what suppliers charge lies on account 19 until their invoice comes; account 68 has what may be deducted in the
// debit and what has been charged to customers, invoiced or not, in the credit.
var vat = []audit.Invariant{
	{
		ID: "input_vat.ledger", Title: "VAT charged by suppliers equals the balance of account 19, by counterparty",
		Checked: "SELECT count(*) FROM acc_input_vat_totals WHERE period = 'infinity' AND {key organisation, " +
			"counterparty}",
		Wrong: `SELECT 'organisation=' || organisation || ' counterparty=' || counterparty, '19=' || coalesce(l.vat, 0),
	'input_vat=' || coalesce(r.vat, 0)
FROM (SELECT organisation, counterparty, sum(vat) AS vat FROM acc_input_vat_totals
	WHERE period = 'infinity' AND {key organisation, counterparty} GROUP BY 1, 2) r
FULL JOIN (SELECT organisation, analytic_1 AS counterparty, sum(debit - credit) AS vat FROM gl_general_totals
	WHERE period = 'infinity' AND account = '19' AND {key organisation, analytic_1}
		GROUP BY 1, 2) l USING (organisation, counterparty)
WHERE coalesce(l.vat, 0) <> coalesce(r.vat, 0)`,
	},
	{
		ID: "output_vat.ledger", Title: "VAT charged to customers, plus the sales book, less the purchase book, " +
			"equals the balance of account 68",
		Checked: "SELECT count(*) FROM acc_output_vat_totals WHERE period = 'infinity' AND {key organisation}",
		Wrong: `SELECT 'organisation=' || organisation, '68=' || coalesce(l.vat, 0),
	'output_vat + sales_book - purchase_book=' || coalesce(r.vat, 0)
FROM (SELECT organisation, sum(vat) AS vat FROM (
	SELECT organisation, vat FROM acc_output_vat_totals WHERE period = 'infinity' AND {key organisation}
	UNION ALL SELECT organisation, vat FROM acc_sales_book_totals WHERE {key organisation}
	UNION ALL SELECT organisation, -vat FROM acc_purchase_book_totals WHERE {key organisation}) parts GROUP BY 1) r
FULL JOIN (SELECT organisation, sum(credit - debit) AS vat FROM gl_general_totals
	WHERE period = 'infinity' AND account = '68' AND {key organisation} GROUP BY 1) l USING (organisation)
WHERE coalesce(l.vat, 0) <> coalesce(r.vat, 0)`,
	},
}
