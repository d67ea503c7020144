package audit

import "plimsoll/platform/care/audit"

var assetCommissioning = []audit.Invariant{
	{
		ID: "asset_commissioning.ledger", Title: "Commissioning: header, lines, stock, investments, state and cost " +
			"of the asset and ledger agree",
		Checked: documents("asset_commissioning"),
		Wrong: compared("asset_commissioning", `
	d.total = d.invested + d.cost AND l.cost = d.cost AND s.cost = d.cost AND s.quantity = l.quantity
		AND b.cost = d.cost AND b.quantity = l.quantity AND i.invested = d.invested
	AND c.total = d.total AND e.cost = d.cost AND e.total = d.total AND n.stated = 1`,
			`'lines: cost=' || l.cost || ' quantity=' || l.quantity || '; stock: ' || s.cost || ' of ' || s.quantity
	|| '; batches: ' || b.cost || ' of ' || b.quantity || '; investments=' || i.invested
	|| '; cost of the asset=' || c.total || '; ledger: from stock=' || e.cost || ' in use=' || e.total
		|| '; states as the header says: ' || n.stated`,
			linesSum("asset_commissioning", "cost", "quantity"),
			recorded("s", "acc_stock", "asset_commissioning",
				"sum(amount) FILTER (WHERE expense) AS cost, sum(quantity) AS quantity", "cost", "quantity"),
			recorded("b", "acc_batches", "asset_commissioning",
				"sum(amount) FILTER (WHERE expense) AS cost, sum(quantity) AS quantity", "cost", "quantity"),
			recorded("i", "acc_asset_investments m JOIN (SELECT id AS document, asset AS own FROM "+
				"doc_asset_commissioning) o ON o.document = m.recorder", "asset_commissioning",
				"sum(amount) FILTER (WHERE expense AND asset = own) AS invested", "invested"),
			recorded("c", "acc_asset_costs m JOIN (SELECT id AS document, asset AS own FROM "+
				"doc_asset_commissioning) o ON o.document = m.recorder", "asset_commissioning",
				"sum(amount) FILTER (WHERE NOT expense AND asset = own) AS total", "total"),
			recorded("e", "gl_general", "asset_commissioning",
				"sum(amount) FILTER (WHERE debit = '08' AND credit IN ('10', '41')) AS cost, sum(amount) FILTER "+
					"(WHERE debit = '01' AND credit = '08') AS total", "cost", "total"),
			recorded("n", `inf_asset_states r
	JOIN (SELECT id AS document, asset AS own, department AS place, useful_months AS months, date
	FROM doc_asset_commissioning) o
	ON o.document = r.recorder AND o.own = r.asset AND o.place = r.department AND o.months = r.useful_months
		AND o.date = r.since`,
				"asset_commissioning", "count(*) AS stated", "stated")),
	},
	ofAssets("asset_investments", "08", "Investments in an asset not yet in use equal its balance of account 08"),
	ofAssets("asset_costs", "01", "The cost of an asset in use equals its balance of account 01"),
}

// ofAssets: a register by asset is an account.
func ofAssets(register, account, title string) audit.Invariant {
	return audit.Invariant{
		ID: register + ".ledger", Title: title,
		Checked: "SELECT count(*) FROM acc_" + register +
			"_totals WHERE period = 'infinity' AND {key organisation, asset}",
		Wrong: `SELECT 'organisation=' || organisation || ' asset=' || asset, '` + account +
			`=' || coalesce(l.amount, 0), '` + register + `=' || coalesce(r.amount, 0)
FROM (SELECT organisation, asset, amount FROM acc_` + register + `_totals
	WHERE period = 'infinity' AND {key organisation, asset}) r
FULL JOIN (SELECT organisation, analytic_1 AS asset, sum(debit - credit) AS amount FROM gl_general_totals
	WHERE period = 'infinity' AND account = '` + account + `' AND {key organisation, analytic_1}
		GROUP BY 1, 2) l USING (organisation, asset)
WHERE coalesce(r.amount, 0) <> coalesce(l.amount, 0)`,
	}
}
