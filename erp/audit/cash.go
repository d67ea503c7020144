package audit

import "plimsoll/platform/care/audit"

// cash: what lies on an account is its balance in the ledger.
var cash = []audit.Invariant{
	{
		ID: "cash.ledger", Title: "Cash on bank accounts and in cash desks equals the balance of accounts 51 and 50",
		Checked: "SELECT count(*) FROM acc_cash_totals WHERE period = 'infinity' AND {key organisation, cash_account}",
		Wrong: `SELECT 'organisation=' || organisation || ' cash_account=' || cash_account,
	'50/51=' || coalesce(l.amount, 0), 'cash=' || coalesce(c.amount, 0)
FROM (SELECT c.organisation, c.cash_account, CASE WHEN a.bank THEN '51' ELSE '50' END AS account, c.amount
	FROM acc_cash_totals c JOIN cat_cash_accounts a ON a.id = c.cash_account
		WHERE c.period = 'infinity' AND {key c.organisation, c.cash_account}) c
FULL JOIN (SELECT organisation, analytic_1 AS cash_account, account, sum(debit - credit) AS amount
	FROM gl_general_totals
	WHERE period = 'infinity' AND account IN ('50', '51') AND {key organisation, analytic_1}
		GROUP BY 1, 2, 3) l USING (organisation, cash_account, account)
WHERE coalesce(c.amount, 0) <> coalesce(l.amount, 0)`,
	},
}

// paid joins to a payment d, as i, what an invoice of an advance may be made of.
func paid(name string) string {
	return recorded("i", "acc_payments m JOIN (SELECT id, contract AS deal FROM doc_"+name+
		") own ON own.id = m.recorder", name,
		"sum(amount) AS amount, count(*) FILTER (WHERE expense OR m.contract <> deal OR m.payment <> own.id) AS "+
			"foreign_rows", "amount", "foreign_rows")
}
