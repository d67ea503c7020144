package ledger

import (
	"fmt"

	"plimsoll/platform/metadata"
)

// BeforeSQL selects the debit and the credit of one account before a moment, in one row: the turnovers of the months before, and the entries of its month up to it. $1 is the
// organisation, $2 the account, $3 the moment; when filtered, $4 is an element that one of its analytics is.
func BeforeSQL(meta *metadata.Accounting, filtered bool) string {
	months, where := meta.AccountTotals(), ""
	if filtered {
		months, where = meta.Totals(), " AND $4::uuid IN (analytic_1, analytic_2, analytic_3)"
	}
	debit, credit := isAccount("debit", filtered, "$4"), isAccount("credit", filtered, "$4")
	return fmt.Sprintf(`SELECT coalesce(sum(debit), 0), coalesce(sum(credit), 0) FROM (
	SELECT debit, credit FROM %[1]s WHERE organisation = $1 AND account = $2 AND period < %[2]s::date%[3]s
	UNION ALL
	SELECT sum(amount) FILTER (WHERE %[4]s), sum(amount) FILTER (WHERE %[5]s) FROM %[6]s
	WHERE organisation = $1 AND period >= %[2]s AT TIME ZONE 'UTC' AND period < $3 AND (debit = $2 OR credit = $2)
) AS parts`, months, monthOf("$3"), where, debit, credit, meta.Table())
}

// monthOf a moment, as a time without zone.
func monthOf(moment string) string {
	return "date_trunc('month', " + moment + "::timestamptz AT TIME ZONE 'UTC')"
}

// BetweenSQL selects for each account that had any debit or credit before the moment until: account, debit and credit before the moment from, debit and credit
// before until. $1 is the organisation; the moments are expressions of the statement. Totals are read once for both. What came before from in its month is added to the months
// before; what came from until on in its month is taken off them, because most who ask mean now, and nothing comes after it.
func BetweenSQL(meta *metadata.Accounting, from, until string) string {
	entries := func(within, sums string) string {
		return fmt.Sprintf("SELECT s.* FROM (SELECT debit, credit, sum(amount) AS amount FROM %s WHERE organisation = $1 AND %s GROUP BY debit, credit) e CROSS JOIN LATERAL (VALUES %s) AS s",
			meta.Table(), within, sums)
	}
	return fmt.Sprintf(`SELECT account, coalesce(sum(opened_debit), 0), coalesce(sum(opened_credit), 0), sum(debit), sum(credit) FROM (
	SELECT account, CASE WHEN period < %[2]s::date THEN debit END AS opened_debit, CASE WHEN period < %[2]s::date THEN credit END AS opened_credit, debit, credit
	FROM %[1]s WHERE organisation = $1 AND period <= %[3]s::date
	UNION ALL
	%[4]s
	UNION ALL
	%[5]s
) AS parts GROUP BY account HAVING sum(debit) <> 0 OR sum(credit) <> 0`,
		meta.AccountTotals(), monthOf(from), monthOf(until),
		entries(fmt.Sprintf("period >= %s AT TIME ZONE 'UTC' AND period < %s", monthOf(from), from),
			"(e.debit, e.amount, NULL::numeric, NULL::numeric, NULL::numeric), (e.credit, NULL, e.amount, NULL, NULL)"),
		entries(fmt.Sprintf("period >= %s AND period < (%s + interval '1 month') AT TIME ZONE 'UTC'", until, monthOf(until)),
			"(e.debit, NULL::numeric, NULL::numeric, -e.amount, NULL::numeric), (e.credit, NULL, NULL, NULL, -e.amount)"))
}

// CardSQL selects the first entries of an account in the order of time, each from its side: period, recorder_type, recorder, line, the account and
// analytics of the other side, debit and credit. $1 is the organisation, $2 the account, $3 the first moment and $4 the one after the last; when
// filtered, $5 is an element that one of its analytics is. The limit is an expression: it ends the reading of each side as soon as that has enough.
func CardSQL(meta *metadata.Accounting, filtered bool, limit string) string {
	first := "ORDER BY period, recorder, line LIMIT " + limit
	side := func(of, other, debit, credit string) string {
		return fmt.Sprintf("(SELECT period, recorder_type, recorder, line, %[1]s_1 AS analytic_1, %[1]s_2 AS analytic_2, %[1]s_3 AS analytic_3, %[2]s AS other, %[3]s AS debit, %[4]s AS credit FROM %[5]s\n"+
			"WHERE organisation = $1 AND period >= $3 AND period < $4 AND %[6]s %[7]s)", of, other, debit, credit, meta.Table(), isAccount(of, filtered, "$5"), first)
	}
	return "SELECT * FROM (" + side("debit", "credit", "amount", "0::numeric") + "\nUNION ALL\n" + side("credit", "debit", "0::numeric", "amount") + ") AS sides " + first
}

// isAccount is the condition that a side is of the account $2, and when filtered by an element.
func isAccount(side string, filtered bool, element string) string {
	if !filtered {
		return side + " = $2"
	}
	return fmt.Sprintf("%[1]s = $2 AND %[2]s::uuid IN (%[1]s_1, %[1]s_2, %[1]s_3)", side, element)
}

// CardTotalsSQL selects what all entries that a card is of come to, beyond its limit too, in one row: entries, debit, credit. Its parameters are those of CardSQL.
func CardTotalsSQL(meta *metadata.Accounting, filtered bool) string {
	return fmt.Sprintf(`SELECT count(*) FILTER (WHERE %[1]s) + count(*) FILTER (WHERE %[2]s) AS entries,
	coalesce(sum(amount) FILTER (WHERE %[1]s), 0) AS debit, coalesce(sum(amount) FILTER (WHERE %[2]s), 0) AS credit
FROM %[3]s WHERE organisation = $1 AND period >= $3 AND period < $4 AND (debit = $2 OR credit = $2)`, isAccount("debit", filtered, "$5"), isAccount("credit", filtered, "$5"), meta.Table())
}
