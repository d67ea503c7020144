package ledger

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

// AnalyticTurnoverSQL is a subquery with the debit and credit of one account (an expression of the statement) before a moment, by its analytics: account, analytic_1,
// analytic_2, analytic_3, debit, credit; it is the turnovers of the months before, and the entries of its month up to it. $1 is the organisation; moment is an expression of the statement.
func AnalyticTurnoverSQL(meta *metadata.Accounting, moment, account string) string {
	month := monthOf(moment)
	within := fmt.Sprintf("organisation = $1 AND period >= %s AT TIME ZONE 'UTC' AND period < %s", month, moment)
	side := func(name string) string { return strings.ReplaceAll("@, @_1, @_2, @_3", "@", name) }
	return fmt.Sprintf(`(SELECT %[5]s, sum(debit) AS debit, sum(credit) AS credit FROM (
	SELECT %[5]s, debit, credit FROM %[1]s WHERE organisation = $1 AND period < %[2]s::date AND account = %[6]s
	UNION ALL
	SELECT %[7]s, amount, 0 FROM %[3]s WHERE %[4]s AND debit = %[6]s
	UNION ALL
	SELECT %[8]s, 0, amount FROM %[3]s WHERE %[4]s AND credit = %[6]s
) AS parts GROUP BY %[5]s HAVING sum(debit) <> 0 OR sum(credit) <> 0)`,
		meta.Totals(), month, meta.Table(), within, balanceBy, account, side("debit"), side("credit"))
}

// monthOf a moment, as a time without zone.
func monthOf(moment string) string {
	return "date_trunc('month', " + moment + "::timestamptz AT TIME ZONE 'UTC')"
}

// BetweenSQL selects for each account that had any debit or credit before the moment until: account, debit and credit before the moment from, debit and credit
// before until. $1 is the organisation; the moments are expressions of the statement. Totals are read once for both. What came before from in its month is added to the months
// before; what came from until on in its month is taken off them, because most who ask mean now, and nothing comes after it.
func BetweenSQL(meta *metadata.Accounting, from, until string) string {
	return fmt.Sprintf(`SELECT account, coalesce(sum(opened_debit), 0), coalesce(sum(opened_credit), 0), sum(debit), sum(credit) FROM (
	SELECT account, CASE WHEN period < %[3]s::date THEN debit END AS opened_debit, CASE WHEN period < %[3]s::date THEN credit END AS opened_credit, debit, credit
	FROM %[1]s WHERE organisation = $1 AND period <= %[4]s::date
	UNION ALL
	SELECT debit, amount, NULL, NULL, NULL FROM %[2]s WHERE %[5]s
	UNION ALL
	SELECT credit, NULL, amount, NULL, NULL FROM %[2]s WHERE %[5]s
	UNION ALL
	SELECT debit, NULL, NULL, -amount, NULL FROM %[2]s WHERE %[6]s
	UNION ALL
	SELECT credit, NULL, NULL, NULL, -amount FROM %[2]s WHERE %[6]s
) AS parts GROUP BY account HAVING sum(debit) <> 0 OR sum(credit) <> 0`,
		meta.Totals(), meta.Table(), monthOf(from), monthOf(until),
		fmt.Sprintf("organisation = $1 AND period >= %s AT TIME ZONE 'UTC' AND period < %s", monthOf(from), from),
		fmt.Sprintf("organisation = $1 AND period >= %s AND period < (%s + interval '1 month') AT TIME ZONE 'UTC'", until, monthOf(until)))
}

// CardSQL selects the first entries of an account in the order of time, each from its side: period, recorder_type, recorder, line, the account and
// analytics of the other side, debit and credit. $1 is the organisation, $2 the account, $3 the first moment and $4 the one after the last; when
// filtered, $5 is an element that one of its analytics is. The limit is an expression: it ends the reading of each side as soon as that has enough.
func CardSQL(meta *metadata.Accounting, filtered bool, limit string) string {
	first := "ORDER BY period, recorder, line LIMIT " + limit
	side := func(of, other, debit, credit string) string {
		return fmt.Sprintf("(SELECT period, recorder_type, recorder, line, %[1]s_1 AS analytic_1, %[1]s_2 AS analytic_2, %[1]s_3 AS analytic_3, %[2]s AS other, %[3]s AS debit, %[4]s AS credit FROM %[5]s\n"+
			"WHERE organisation = $1 AND period >= $3 AND period < $4 AND %[6]s %[7]s)", of, other, debit, credit, meta.Table(), isAccount(of, filtered), first)
	}
	return "SELECT * FROM (" + side("debit", "credit", "amount", "0::numeric") + "\nUNION ALL\n" + side("credit", "debit", "0::numeric", "amount") + ") AS sides " + first
}

// isAccount is the condition that a side is of the account that a card asks for.
func isAccount(side string, filtered bool) string {
	if !filtered {
		return side + " = $2"
	}
	return fmt.Sprintf("%[1]s = $2 AND $5::uuid IN (%[1]s_1, %[1]s_2, %[1]s_3)", side)
}

// CardTotalsSQL selects what all entries that a card is of come to, beyond its limit too, in one row: entries, debit, credit. Its parameters are those of CardSQL.
func CardTotalsSQL(meta *metadata.Accounting, filtered bool) string {
	return fmt.Sprintf(`SELECT count(*) FILTER (WHERE %[1]s) + count(*) FILTER (WHERE %[2]s) AS entries,
	coalesce(sum(amount) FILTER (WHERE %[1]s), 0) AS debit, coalesce(sum(amount) FILTER (WHERE %[2]s), 0) AS credit
FROM %[3]s WHERE organisation = $1 AND period >= $3 AND period < $4 AND (debit = $2 OR credit = $2)`, isAccount("debit", filtered), isAccount("credit", filtered), meta.Table())
}
