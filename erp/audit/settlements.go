package audit

import "plimsoll/platform/care/audit"

// settlements: by contract they are accounts 60 and 62, where a debt to a supplier stands in the credit.
var settlements = []audit.Invariant{
	settled("customer_settlements", "62", "debit - credit"),
	settled("supplier_settlements", "60", "credit - debit"),
}

func settled(register, account, balance string) audit.Invariant {
	return byContract(register, "amount", account, balance,
		"Debts by contract equal the balance of account "+account+", under the contract's counterparty")
}

// byContract compares a resource of a register by contract with an account that is kept by counterparty and contract.
func byContract(register, resource, account, balance, title string) audit.Invariant {
	return audit.Invariant{
		ID: register + ".ledger", Title: title,
		Checked: "SELECT count(*) FROM acc_" + register +
			"_totals WHERE period = 'infinity' AND {key organisation, contract}",
		Wrong: `SELECT 'organisation=' || organisation || ' contract=' || contract || ' counterparty=' || counterparty,
	'` + account + `=' || coalesce(l.sum, 0), '` + register + `=' || coalesce(s.sum, 0)
FROM (SELECT s.organisation, s.contract, c.counterparty, sum(s.` + resource + `) AS sum
	FROM acc_` + register + `_totals s JOIN cat_contracts c ON c.id = s.contract
	WHERE s.period = 'infinity' AND {key s.organisation, s.contract} GROUP BY 1, 2, 3) s
FULL JOIN (SELECT organisation, analytic_2 AS contract, analytic_1 AS counterparty, sum(` + balance + `) AS sum
	FROM gl_general_totals
	WHERE period = 'infinity' AND account = '` + account + `' AND {key organisation, analytic_2}
		GROUP BY 1, 2, 3) l USING (organisation, contract, counterparty)
WHERE coalesce(s.sum, 0) <> coalesce(l.sum, 0)`,
	}
}
