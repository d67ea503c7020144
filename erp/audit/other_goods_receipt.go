package audit

import "plimsoll/platform/care/audit"

var otherGoodsReceipt = []audit.Invariant{
	{
		ID: "other_goods_receipt.ledger", Title: "Other goods receipt: header, lines, stock, batches and ledger " +
			"agree, and every line has a cost",
		Checked: documents("other_goods_receipt"),
		Wrong: compared("other_goods_receipt", `
	d.amount = l.amount AND s.amount = d.amount AND b.amount = d.amount AND e.amount = d.amount
		AND l.quantity = s.quantity AND l.quantity = b.quantity AND n.costless = 0`,
			`'lines: amount=' || l.amount || ' quantity=' || l.quantity || '; stock: ' || s.amount
	|| ' of ' || s.quantity || '; batches: ' || b.amount || ' of ' || b.quantity
	|| '; ledger=' || e.amount || '; lines without a cost: ' || n.costless`,
			linesSum("other_goods_receipt", "amount", "quantity"),
			recorded("s", "acc_stock", "other_goods_receipt", "sum(CASE WHEN expense THEN -amount ELSE amount END) "+
				"AS amount, sum(CASE WHEN expense THEN -quantity ELSE quantity END) AS quantity", "amount", "quantity"),
			recorded("b", "acc_batches", "other_goods_receipt", "sum(CASE WHEN expense THEN -amount ELSE amount "+
				"END) AS amount, sum(CASE WHEN expense THEN -quantity ELSE quantity END) AS quantity", "amount",
				"quantity"),
			recorded("e", "gl_general", "other_goods_receipt",
				"sum(amount) FILTER (WHERE debit IN ('10', '41') AND credit = '91') AS amount", "amount"),
			joined("n", "SELECT document, count(*) AS costless FROM doc_other_goods_receipt_lines WHERE amount <= "+
				"0 AND {document document} GROUP BY document", "document", []string{"costless"})),
	},
}
