package audit

import "plimsoll/platform/care/audit"

var bankPayment = []audit.Invariant{
	{
		ID: "bank_payment.ledger", Title: "Bank payment: header, cash, settlements, planned payments, payments, " +
			"bank reference and ledger agree",
		Checked: documents("bank_payment"),
		Wrong: compared("bank_payment", "c.amount = -d.amount AND s.amount = -d.amount AND p.amount = -d.amount "+
			"AND p.foreign_rows = 0 AND e.amount = d.amount AND n.stated = 1 AND i.amount = d.amount AND "+
			"i.foreign_rows = 0",
			`'cash=' || c.amount || '; settlements=' || s.amount || '; planned=' || p.amount
	|| ', of other requests ' || p.foreign_rows
	|| '; ledger=' || e.amount || '; references stated: ' || n.stated || '; payments=' || i.amount
		|| ', others ' || i.foreign_rows`,
			paid("bank_payment"),
			recorded("c", "acc_cash", "bank_payment", "sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount",
				"amount"),
			recorded("s", "acc_supplier_settlements", "bank_payment",
				"sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount", "amount"),
			recorded("p", "acc_payment_plan m JOIN (SELECT id AS document, request AS own, contract AS deal FROM "+
				"doc_bank_payment) o ON o.document = m.recorder", "bank_payment",
				"sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount, count(*) FILTER (WHERE request <> "+
					"own OR contract <> deal) AS foreign_rows", "amount", "foreign_rows"),
			recorded("e", "gl_general", "bank_payment",
				"sum(amount) FILTER (WHERE debit = '60' AND credit = '51') AS amount", "amount"),
			recorded("n", "inf_bank_references r JOIN (SELECT id, cash_account AS account, bank_reference AS named "+
				"FROM doc_bank_payment) o ON o.id = r.recorder AND o.account = r.cash_account AND o.named = "+
				"r.bank_reference",
				"bank_payment", "count(*) AS stated", "stated")),
	},
	{
		ID: "bank_payment.approved", Title: "Bank payment: approved by a posted request of the same contract",
		Checked: documents("bank_payment"),
		Wrong: `SELECT 'bank_payment ' || d.number || ' ' || d.id, 'a posted request of the contract ' || d.contract,
	coalesce('posted=' || r.posted || ' contract=' || r.contract, 'none')
FROM doc_bank_payment d LEFT JOIN doc_payment_request r ON r.id = d.request
WHERE d.posted AND ({document d.id} OR {document d.request}) AND (r.posted IS NOT TRUE OR r.contract <> d.contract)`,
	},
}
