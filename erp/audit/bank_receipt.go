package audit

import "plimsoll/platform/care/audit"

var bankReceipt = []audit.Invariant{
	{
		ID: "bank_receipt.ledger", Title: "Bank receipt: header, cash, settlements, payments, bank reference and " +
			"ledger agree",
		Checked: documents("bank_receipt"),
		Wrong: compared("bank_receipt", "c.amount = d.amount AND s.amount = -d.amount AND e.amount = d.amount AND "+
			"n.stated = 1 AND i.amount = d.amount AND i.foreign_rows = 0",
			"'cash=' || c.amount || '; settlements=' || s.amount || '; ledger=' || e.amount || '; references "+
				"stated: ' || n.stated || '; payments=' || i.amount || ', others ' || i.foreign_rows",
			paid("bank_receipt"),
			recorded("c", "acc_cash", "bank_receipt", "sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount",
				"amount"),
			recorded("s", "acc_customer_settlements", "bank_receipt",
				"sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount", "amount"),
			recorded("e", "gl_general", "bank_receipt",
				"sum(amount) FILTER (WHERE debit = '51' AND credit = '62') AS amount", "amount"),
			recorded("n", "inf_bank_references r JOIN (SELECT id, cash_account AS account, bank_reference AS named "+
				"FROM doc_bank_receipt) o ON o.id = r.recorder AND o.account = r.cash_account AND o.named = "+
				"r.bank_reference",
				"bank_receipt", "count(*) AS stated", "stated")),
	},
}
