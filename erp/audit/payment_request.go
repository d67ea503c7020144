package audit

import "plimsoll/platform/care/audit"

var paymentRequest = []audit.Invariant{
	{
		ID: "payment_request.plan", Title: "Payment request: the plan has its amount under its contract, and its " +
			"basis is stated",
		Checked: documents("payment_request"),
		Wrong: compared("payment_request", `
	p.amount = d.amount AND p.foreign_rows = 0 AND n.stated = CASE WHEN d.basis = '00000000-0000-0000-0000-000000000000'
		THEN 0 ELSE 1 END`,
			`'planned=' || p.amount || ', of others ' || p.foreign_rows || '; bases stated: ' || n.stated`,
			recorded("p", "acc_payment_plan m JOIN (SELECT id AS document, contract AS own FROM "+
				"doc_payment_request) o ON o.document = m.recorder", "payment_request",
				"sum(amount) AS amount, count(*) FILTER (WHERE expense OR request <> recorder OR contract <> own) "+
					"AS foreign_rows", "amount", "foreign_rows"),
			recorded("n", "inf_payment_requests r JOIN (SELECT id AS document, basis AS own FROM "+
				"doc_payment_request) o ON o.document = r.recorder AND o.own = r.basis", "payment_request",
				"count(*) AS stated", "stated")),
	},
	{
		ID: "payment_request.limit", Title: "Payment request: the requested and unpaid amount of a contract is " +
			"within its limit",
		Checked: "SELECT count(*) FROM acc_payment_plan_totals WHERE period = 'infinity' AND {key contract}",
		Wrong: `SELECT 'contract=' || contract, 'at most ' || payment_limit, planned::text
FROM (SELECT contract, sum(amount) AS planned FROM acc_payment_plan_totals WHERE period = 'infinity' AND {key contract}
	GROUP BY contract) p JOIN cat_contracts c ON c.id = p.contract
WHERE payment_limit > 0 AND planned > payment_limit`,
	},
}
