package audit

import "plimsoll/platform/care/audit"

var goodsSale = []audit.Invariant{
	{
		ID: "goods_sale.ledger", Title: "Goods sale: header, lines, stock and ledger agree",
		Checked: documents("goods_sale"),
		Wrong: documentSQL("goods_sale", "cost", `
	sum(amount) FILTER (WHERE debit = '90' AND credit IN ('41', '10')) AS goods,
	sum(amount) FILTER (WHERE debit = '90' AND credit = '68') AS vat,
		sum(amount) FILTER (WHERE debit = '62' AND credit = '90') AS total`,
			"coalesce(e.goods, 0) <> d.cost OR coalesce(e.vat, 0) <> d.vat OR coalesce(e.total, 0) <> d.total"),
	},
}
