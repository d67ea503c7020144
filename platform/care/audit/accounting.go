package audit

import (
	"fmt"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

func accounting(r *metadata.Accounting) []Invariant {
	const current, monthly = "period = 'infinity'", "period < 'infinity'"
	var accounts []string
	var analytics []int32
	for _, a := range r.Accounts {
		accounts, analytics = append(accounts, a.Code), append(analytics, int32(len(a.Analytics)))
	}
	return []Invariant{
		{
			ID: r.Name + ".entries", Title: r.Title +
				": every entry has a debit and a credit account of the chart, and an amount",
			Checked: count(r.Table(), "{document recorder}"), Args: []any{accounts},
			Wrong: statement.SQL(`SELECT recorder_type || ' ' || recorder || ' line ' || line,
	'two accounts of the chart, or one by different analytics, amount >= 0',
	'debit=' || debit || ' credit=' || credit || ' amount=' || amount
FROM {entries} WHERE {document recorder} AND (
	(debit, debit_1, debit_2, debit_3) = (credit, credit_1, credit_2, credit_3) OR amount < 0
	OR debit <> ALL ($1::text[]) OR credit <> ALL ($1::text[]))`, statement.Names{"entries": r.Table()}),
		},
		{
			ID: r.Name + ".analytics", Title: r.Title +
				": every side of an entry has the analytics of its account, and no others",
			Checked: count(r.Table(), "{document recorder}"), Args: []any{accounts, analytics}, Wrong: analyticsSQL(r),
		},
		{
			ID: r.Name + ".balanced", Title: r.Title + ": debit equals credit in every period of every organisation",
			Checked: fmt.Sprintf("SELECT count(*) FROM (SELECT DISTINCT organisation, period FROM %s WHERE {key "+
				"organisation, period}) p", r.Totals()),
			Wrong: statement.SQL(`SELECT 'organisation=' || organisation || ' month=' || period,
	'debit=' || sum(debit), 'credit=' || sum(credit)
FROM {totals} WHERE {key organisation, period}
GROUP BY organisation, period HAVING sum(debit) <> sum(credit)`, statement.Names{"totals": r.Totals()}),
		},
		{
			ID: r.Name + ".current", Title: r.Title + ": turnovers of all time equal all entries",
			Checked: count(r.Totals(), current+" AND "+ofTurnover), Wrong: turnoversSQL(r, current, "'infinity'::date"),
			Changed: turnoversOfMonthsSQL(r),
		},
		{
			ID: r.Name + ".splits", Title: r.Title +
				": turnovers of all time equal those of the months, in each of the rows that a turnover is spread over",
			Checked: count(r.Totals(), current+" AND "+ofTurnover), Wrong: turnoversOfMonthsSQL(r),
			Changed: nothingSQL(r.Totals()),
		},
		{
			ID: r.Name + ".monthly", Title: r.Title + ": turnovers of each month equal its entries",
			Checked: count(r.Totals(), monthly+" AND "+ofTurnover+" AND "+ofMonth),
			Wrong:   turnoversSQL(r, monthly, "date_trunc('month', period AT TIME ZONE 'UTC')::date"),
		},
		{
			ID: r.Name + ".accounts", Title: r.Title +
				": turnovers of whole accounts equal the sums of those by analytics",
			Checked: count(r.AccountTotals(), ofAccount), Wrong: accountsSQL(r),
		},
	}
}

const (
	balanceBy = "account, analytic_1, analytic_2, analytic_3"
	sides     = `LATERAL (VALUES (e.debit, e.debit_1, e.debit_2, e.debit_3, e.amount, 0),
	(e.credit, e.credit_1, e.credit_2, e.credit_3, 0, e.amount)) AS s (` + balanceBy + `, debit, credit)`
	ofTurnover = "{key organisation, " + balanceBy + "}"
	ofMonth    = "{month organisation, period}"
	ofAccount  = "{key organisation, account} AND " + ofMonth

	turnoverSubject = `'organisation=' || organisation || ' account=' || account ||
	' ' || analytic_1 || ' ' || analytic_2 || ' ' || analytic_3 || ' month='`
)

var turnoverNames = []string{"debit", "credit"}

// Turnovers t, compared with the expected ones, m.
const (
	expectedTurnover = "'debit=' || coalesce(m.debit, 0) || ' credit=' || coalesce(m.credit, 0)"
	foundTurnover    = "'debit=' || coalesce(t.debit, 0) || ' credit=' || coalesce(t.credit, 0)"
	turnoverDiffers  = "coalesce(t.debit, 0) <> coalesce(m.debit, 0) OR coalesce(t.credit, 0) <> coalesce(m.credit, 0)"
)

// nothingSQL selects nothing: since a clean point another check covers this one.
func nothingSQL(totals string) string { return "SELECT '', '', '' FROM " + totals + " WHERE false" }

func analyticsSQL(r *metadata.Accounting) string {
	return statement.SQL(`SELECT recorder_type || ' ' || recorder || ' line ' || line || ' account ' || account,
	a.analytics || ' analytics', analytic_1 || ' ' || analytic_2 || ' ' || analytic_3
FROM {entries} e CROSS JOIN {sides} JOIN unnest($1::text[], $2::integer[]) AS a (account, analytics) USING (account)
WHERE {document recorder} AND ((analytic_1 <> {empty}) <> (a.analytics >= 1)
	OR (analytic_2 <> {empty}) <> (a.analytics >= 2)
		OR (analytic_3 <> {empty}) <> (a.analytics >= 3))`, statement.Names{
		"entries": r.Table(), "sides": sides, "empty": metadata.Attribute{Type: metadata.Reference}.Zero(),
	})
}

func turnoversSQL(r *metadata.Accounting, which, period string) string {
	return statement.SQL(`SELECT {subject} || of{field}, {expected}, {found}
FROM (SELECT organisation, {key}, period AS of, sum(debit) AS debit, sum(credit) AS credit
	FROM {totals} WHERE {which} AND {within} GROUP BY organisation, {key}, of) t
FULL JOIN (SELECT organisation, {key}, {period} AS of, sum(s.debit) AS debit, sum(s.credit) AS credit
	FROM {entries} e CROSS JOIN {sides}
	WHERE {within} GROUP BY organisation, {key}, of) m USING (organisation, {key}, of)
WHERE {differs}`, statement.Names{
		"subject": turnoverSubject, "expected": expectedTurnover, "found": foundTurnover, "differs": turnoverDiffers,
		"key": balanceBy, "totals": r.Totals(), "which": which, "within": ofTurnover + " AND " + ofMonth,
		"period": period, "entries": r.Table(), "sides": sides,
		"field": fieldsSQL(turnoverNames, "coalesce(t.{name}, 0) <> coalesce(m.{name}, 0)"),
	})
}

// accountsSQL compares totals of accounts with totals by analytics; other invariants compare those with the entries.
// Both are written under the same split, so that sums which cancel out over the splits differ all the same.
func accountsSQL(r *metadata.Accounting) string {
	sums := func(table string) string {
		return statement.SQL(`(SELECT organisation, account, period, split, sum(debit) AS debit, sum(credit) AS credit
	FROM {table} WHERE period < 'infinity' AND {within} GROUP BY 1, 2, 3, 4)`, statement.Names{
			"table": table, "within": ofAccount,
		})
	}
	return statement.SQL(`SELECT 'organisation=' || organisation || ' account=' || account || ' month=' || period
	|| ' split=' || split{field}, {expected}, {found}
FROM {accounts} t FULL JOIN {totals} m USING (organisation, account, period, split)
WHERE {differs}`, statement.Names{
		"field":    fieldsSQL(turnoverNames, "coalesce(t.{name}, 0) <> coalesce(m.{name}, 0)"),
		"accounts": sums(r.AccountTotals()), "totals": sums(r.Totals()),
		"expected": expectedTurnover, "found": foundTurnover, "differs": turnoverDiffers,
	})
}

// turnoversOfMonthsSQL compares all-time turnovers with the sums of the months, in one pass over the totals: split by
// split, since whatever writes one writes the other.
func turnoversOfMonthsSQL(r *metadata.Accounting) string {
	side := func(name, which string) string {
		return fmt.Sprintf("coalesce(sum(%s) FILTER (WHERE period %s 'infinity'), 0)", name, which)
	}
	return statement.SQL(`SELECT {subject} || 'infinity split=' || split{mark}' || concat_ws(', ',
	CASE WHEN {debit} <> {months_debit} THEN 'debit' END, CASE WHEN {credit} <> {months_credit} THEN 'credit' END,
	CASE WHEN split NOT BETWEEN 0 AND {last} THEN 'split' END),
	'debit=' || {months_debit} || ' credit=' || {months_credit} || ', a split from 0 to {last}',
	'debit=' || {debit} || ' credit=' || {credit}
FROM {totals} WHERE {within} GROUP BY organisation, {key}, split
HAVING {debit} <> {months_debit} OR {credit} <> {months_credit} OR split NOT BETWEEN 0 AND {last}`, statement.Names{
		"mark": markSQL, "within": ofTurnover, "last": fmt.Sprint(r.Splits - 1),
		"subject": turnoverSubject, "totals": r.Totals(), "key": balanceBy,
		"months_debit": side("debit", "<"), "months_credit": side("credit", "<"),
		"debit": side("debit", "="), "credit": side("credit", "="),
	})
}
