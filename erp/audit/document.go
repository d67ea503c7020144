package audit

import "strings"

// documentSQL compares a posted document's header with its lines, its stock movements (which carry the
// attribute value of the lines) and its ledger entries.
func documentSQL(name, value, entries, wrong string) string {
	return `SELECT '` + name + ` ' || d.number || ' ' || d.id,
	'` + value + `=' || d.` + value + ` || ' vat=' || d.vat || ' total=' || d.total,
	'lines: ` + value + `=' || coalesce(l.value, 0) || ' vat=' || coalesce(l.vat, 0)
		|| ' quantity=' || coalesce(l.quantity, 0) ||
	'; stock: quantity=' || coalesce(s.quantity, 0) || ' amount=' || coalesce(s.amount, 0) ||
	'; ledger: goods=' || coalesce(e.goods, 0) || ' vat=' || coalesce(e.vat, 0) || ' total=' || coalesce(e.total, 0)
FROM doc_` + name + ` d
LEFT JOIN (SELECT document, sum(` + value + `) AS value, sum(amount) AS amount, sum(vat) AS vat,
	sum(quantity) AS quantity
	FROM doc_` + name + `_lines WHERE {document document} GROUP BY document) l ON l.document = d.id
LEFT JOIN (SELECT recorder, sum(quantity) AS quantity, sum(amount) AS amount FROM acc_stock
	WHERE recorder_type = '` + name + `' AND {document recorder} GROUP BY recorder) s ON s.recorder = d.id
LEFT JOIN (SELECT recorder, ` + entries + ` FROM gl_general WHERE recorder_type = '` + name + `' AND {document recorder}
	GROUP BY recorder) e ON e.recorder = d.id
WHERE d.posted AND {document d.id} AND (coalesce(l.value, 0) <> d.` + value + ` OR coalesce(l.amount, 0) <> d.amount
	OR coalesce(l.vat, 0) <> d.vat OR d.amount + d.vat <> d.total
	OR coalesce(l.quantity, 0) <> coalesce(s.quantity, 0) OR coalesce(s.amount, 0) <> d.` + value + ` OR ` + wrong + `)`
}

// compared are posted documents of a type of which something does not hold: says is a condition on the header d and
// on the sides joined to it, found tells what they say.
func compared(name, says, found string, joined ...string) string {
	return `SELECT '` + name + ` ' || d.number || ' ' || d.id, 'the same as the header: ' || row_to_json(d), ` + found +
		`
FROM doc_` + name + ` d` + strings.Join(joined, "") + `
WHERE d.posted AND {document d.id} AND NOT (` + says + `)`
}

// documents of a type are counted.
func documents(name string) string {
	return "SELECT count(*) FROM doc_" + name + " WHERE {document id}"
}

// linesSum joins sums of a document's lines as l.
func linesSum(name string, columns ...string) string {
	var sums []string
	for _, column := range columns {
		sums = append(sums, "sum("+column+") AS "+column)
	}
	return joined("l", "SELECT document, "+strings.Join(sums, ", ")+" FROM doc_"+name+
		"_lines WHERE {document document} GROUP BY document", "document", columns)
}

// recorded joins sums of what documents of a type have recorded in a table.
func recorded(alias, table, name, sums string, columns ...string) string {
	return joined(alias, "SELECT recorder, "+sums+" FROM "+table+" WHERE recorder_type = '"+name+
		"' AND {document recorder} GROUP BY recorder", "recorder", columns)
}

// joined by the document; what there is none of is zero.
func joined(alias, query, key string, columns []string) string {
	var shown []string
	for _, column := range columns {
		shown = append(shown, "coalesce(q."+column+", 0) AS "+column)
	}
	return `
LEFT JOIN (` + query + `) ` + alias + `_ ON ` + alias + `_.` + key + ` = d.id
CROSS JOIN LATERAL (SELECT ` + strings.ReplaceAll(strings.Join(shown, ", "), "q.", alias+"_.") + `) ` + alias
}
