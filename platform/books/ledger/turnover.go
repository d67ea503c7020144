package ledger

import (
	"fmt"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// AccountSQL selects of one account, in one row: debit and credit before the moment from, debit and credit before
// until. $1 is the organisation, $2 the account, $3 from and $4 until; when filtered, $5 is an element among its
// analytics. As in BetweenSQL, entries are read of from's month before from and of until's month from until on.
func AccountSQL(meta *metadata.Accounting, filtered bool) string {
	months, where := meta.AccountTotals(), ""
	if filtered {
		months, where = meta.Totals(), "AND $5::uuid IN (analytic_1, analytic_2, analytic_3)"
	}
	names := statement.Names{
		"months": months, "first_month": monthOf("$3"), "last_month": monthOf("$4"), "where": where,
		"entries": meta.Table(), "debit": ofSide("debit", filtered), "credit": ofSide("credit", filtered),
	}
	return statement.SQL(`SELECT coalesce(sum(opened_debit), 0), coalesce(sum(opened_credit), 0),
	coalesce(sum(debit), 0), coalesce(sum(credit), 0) FROM (
	SELECT CASE WHEN period < {first_month}::date THEN debit END AS opened_debit,
		CASE WHEN period < {first_month}::date THEN credit END AS opened_credit, debit, credit
	FROM {months} WHERE organisation = $1 AND account = $2 AND period <= {last_month}::date {where}
	UNION ALL
	SELECT {debit}, {credit}, NULL, NULL FROM {entries}
	WHERE organisation = $1 AND period >= {first_month} AT TIME ZONE 'UTC' AND period < $3
		AND (debit = $2 OR credit = $2)
	UNION ALL
	SELECT NULL, NULL, -{debit}, -{credit} FROM {entries}
	WHERE organisation = $1 AND period >= $4 AND period < ({last_month} + interval '1 month') AT TIME ZONE 'UTC'
		AND (debit = $2 OR credit = $2)
) AS parts`, names)
}

// ofSide sums the amounts of the entries that have the account on a side.
func ofSide(side string, filtered bool) string {
	return "sum(amount) FILTER (WHERE " + isAccount(side, filtered) + ")"
}

// monthOf a moment, as a timestamp without time zone.
func monthOf(moment string) string {
	return "date_trunc('month', " + moment + "::timestamptz AT TIME ZONE 'UTC')"
}

// BetweenSQL selects, for each account with entries before the moment until: account, debit and credit before the
// moment from, debit and credit before until. $1 is the organisation; the moments are expressions of the statement.
// Totals are read once for both. Entries of from's month before from are added to the earlier months; entries of
// until's month from until on are subtracted from them, because most callers ask for now, after which there are none.
func BetweenSQL(meta *metadata.Accounting, from, until string) string {
	entries := func(within, sums string) string {
		return statement.SQL(`SELECT s.* FROM (
		SELECT debit, credit, sum(amount) AS amount FROM {entries}
		WHERE organisation = $1 AND {within} GROUP BY debit, credit
	) e CROSS JOIN LATERAL (VALUES {sums}) AS s`, statement.Names{
			"entries": meta.Table(), "within": within, "sums": sums,
		})
	}
	return statement.SQL(`SELECT account, coalesce(sum(opened_debit), 0), coalesce(sum(opened_credit), 0),
	sum(debit), sum(credit) FROM (
	SELECT account, CASE WHEN period < {first_month}::date THEN debit END AS opened_debit,
		CASE WHEN period < {first_month}::date THEN credit END AS opened_credit, debit, credit
	FROM {totals} WHERE organisation = $1 AND period <= {last_month}::date
	UNION ALL
	{before_from}
	UNION ALL
	{after_until}
) AS parts GROUP BY account HAVING sum(debit) <> 0 OR sum(credit) <> 0`, statement.Names{
		"totals": meta.AccountTotals(), "first_month": monthOf(from), "last_month": monthOf(until),
		"before_from": entries(fmt.Sprintf("period >= %s AT TIME ZONE 'UTC' AND period < %s", monthOf(from), from),
			`(e.debit, e.amount, NULL::numeric, NULL::numeric, NULL::numeric),
		(e.credit, NULL, e.amount, NULL, NULL)`),
		"after_until": entries(fmt.Sprintf("period >= %s AND period < (%s + interval '1 month') AT TIME ZONE 'UTC'",
			until, monthOf(until)),
			`(e.debit, NULL::numeric, NULL::numeric, -e.amount, NULL::numeric),
		(e.credit, NULL, NULL, NULL, -e.amount)`),
	})
}

// CardSQL selects the first entries of an account in the order of time, each from its side: period, recorder_type,
// recorder, line, its analytics, the other account, debit and credit. $1 is the organisation, $2 the account, $3 the
// first moment and $4 the first one after the last; when filtered, $5 is an element among its analytics. The limit is
// an expression: reading stops when it has enough. Both sides are read at once, since a search for the credits alone of
// an account that is hardly ever credited reads all entries.
func CardSQL(meta *metadata.Accounting, filtered bool, limit string) string {
	return statement.SQL(`SELECT * FROM (SELECT e.period, e.recorder_type, e.recorder, e.line,
	s.analytic_1, s.analytic_2, s.analytic_3, s.other, s.debit, s.credit
FROM (SELECT * FROM {entries}
	WHERE organisation = $1 AND period >= $3 AND period < $4 AND ({is_debit} OR {is_credit}) {first}
) AS e CROSS JOIN LATERAL (
	SELECT {debit_analytics}, e.credit AS other, e.amount AS debit, 0::numeric AS credit WHERE {is_debit}
	UNION ALL
	SELECT {credit_analytics}, e.debit, 0::numeric, e.amount WHERE {is_credit}
) AS s) AS sides {first}`, statement.Names{
		"entries": meta.Table(), "first": "ORDER BY period, recorder, line LIMIT " + limit,
		"is_debit": isAccount("debit", filtered), "is_credit": isAccount("credit", filtered),
		"debit_analytics":  "e.debit_1 AS analytic_1, e.debit_2 AS analytic_2, e.debit_3 AS analytic_3",
		"credit_analytics": "e.credit_1, e.credit_2, e.credit_3",
	})
}

// isAccount is the condition that a side has the account $2 and, when filtered, the element $5.
func isAccount(side string, filtered bool) string {
	if !filtered {
		return side + " = $2"
	}
	return statement.SQL("{side} = $2 AND $5::uuid IN ({side}_1, {side}_2, {side}_3)", statement.Names{"side": side})
}
