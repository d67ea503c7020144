package audit

import "plimsoll/platform/care/audit"

var goodsReceipt = []audit.Invariant{
	{
		ID: "goods_receipt.ledger", Title: "Goods receipt: header, lines, stock and ledger agree",
		Checked: documents("goods_receipt"),
		Wrong: documentSQL("goods_receipt", "amount", `
	sum(amount) FILTER (WHERE debit IN ('41', '10') AND credit = '60') AS goods,
	sum(amount) FILTER (WHERE debit = '19' AND credit = '60') AS vat, sum(amount) AS total`,
			"coalesce(e.goods, 0) <> d.amount OR coalesce(e.vat, 0) <> d.vat OR coalesce(e.total, 0) <> d.total"),
	},
}
