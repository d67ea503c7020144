package audit

import (
	"fmt"

	"plimsoll/platform/metadata"
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
			ID: r.Name + ".entries", Title: r.Title + ": every entry has a debit and a credit account of the chart, and a sum",
			Checked: count(r.Table(), "{document recorder}"), Args: []any{accounts},
			Wrong: fmt.Sprintf(`SELECT recorder_type || ' ' || recorder || ' line ' || line, 'two accounts of the chart, or one by different analytics, amount >= 0',
	'debit=' || debit || ' credit=' || credit || ' amount=' || amount
FROM %s WHERE {document recorder} AND ((debit, debit_1, debit_2, debit_3) = (credit, credit_1, credit_2, credit_3) OR amount < 0
	OR debit <> ALL ($1::text[]) OR credit <> ALL ($1::text[]))`, r.Table()),
		},
		{
			ID: r.Name + ".analytics", Title: r.Title + ": every side of an entry has the analytics of its account, and no others",
			Checked: count(r.Table(), "{document recorder}"), Args: []any{accounts, analytics}, Wrong: analyticsSQL(r),
		},
		{
			ID: r.Name + ".balanced", Title: r.Title + ": debit equals credit in every period of every organisation",
			Checked: fmt.Sprintf("SELECT count(*) FROM (SELECT DISTINCT organisation, period FROM %s WHERE {key organisation, period}) p", r.Totals()),
			Wrong: fmt.Sprintf(`SELECT 'organisation=' || organisation || ' month=' || period, 'debit=' || sum(debit), 'credit=' || sum(credit)
FROM %s WHERE {key organisation, period} GROUP BY organisation, period HAVING sum(debit) <> sum(credit)`, r.Totals()),
		},
		{
			ID: r.Name + ".current", Title: r.Title + ": turnovers of all time equal all entries",
			Checked: count(r.Totals(), current+" AND "+ofTurnover), Wrong: turnoversSQL(r, current, "'infinity'::date"), Changed: turnoversOfMonthsSQL(r),
		},
		{
			ID: r.Name + ".monthly", Title: r.Title + ": turnovers of each month equal its entries",
			Checked: count(r.Totals(), monthly+" AND "+ofTurnover+" AND "+ofMonth),
			Wrong:   turnoversSQL(r, monthly, "date_trunc('month', period AT TIME ZONE 'UTC')::date"),
		},
		{
			ID: r.Name + ".accounts", Title: r.Title + ": turnovers of whole accounts equal the sums of those by analytics",
			Checked: count(r.AccountTotals(), ofAccount), Wrong: accountsSQL(r),
		},
	}
}

const (
	balanceBy  = "account, analytic_1, analytic_2, analytic_3"
	sides      = `LATERAL (VALUES (e.debit, e.debit_1, e.debit_2, e.debit_3, e.amount, 0), (e.credit, e.credit_1, e.credit_2, e.credit_3, 0, e.amount)) AS s (` + balanceBy + `, debit, credit)`
	ofTurnover = "{key organisation, " + balanceBy + "}"
	ofMonth    = "{month organisation, period}"
	ofAccount  = "{key organisation, account} AND " + ofMonth

	turnoverSubject = `'organisation=' || organisation || ' account=' || account || ' ' || analytic_1 || ' ' || analytic_2 || ' ' || analytic_3 || ' month='`
)

func analyticsSQL(r *metadata.Accounting) string {
	empty := metadata.Attribute{Type: metadata.Reference}.Zero()
	return fmt.Sprintf(`SELECT recorder_type || ' ' || recorder || ' line ' || line || ' account ' || account, a.analytics || ' analytics',
	analytic_1 || ' ' || analytic_2 || ' ' || analytic_3
FROM %s e CROSS JOIN %s JOIN unnest($1::text[], $2::integer[]) AS a (account, analytics) USING (account)
WHERE {document recorder} AND ((analytic_1 <> %[3]s) <> (a.analytics >= 1) OR (analytic_2 <> %[3]s) <> (a.analytics >= 2) OR (analytic_3 <> %[3]s) <> (a.analytics >= 3))`,
		r.Table(), sides, empty)
}

func turnoversSQL(r *metadata.Accounting, which, period string) string {
	return fmt.Sprintf(`SELECT %[7]s || of,
	'debit=' || coalesce(m.debit, 0) || ' credit=' || coalesce(m.credit, 0), 'debit=' || coalesce(t.debit, 0) || ' credit=' || coalesce(t.credit, 0)
FROM (SELECT organisation, %[5]s, period AS of, sum(debit) AS debit, sum(credit) AS credit FROM %[1]s WHERE %[2]s AND %[8]s GROUP BY organisation, %[5]s, of) t
FULL JOIN (SELECT organisation, %[5]s, %[3]s AS of, sum(s.debit) AS debit, sum(s.credit) AS credit
	FROM %[4]s e CROSS JOIN %[6]s
	WHERE %[8]s GROUP BY organisation, %[5]s, of) m USING (organisation, %[5]s, of)
WHERE coalesce(t.debit, 0) <> coalesce(m.debit, 0) OR coalesce(t.credit, 0) <> coalesce(m.credit, 0)`,
		r.Totals(), which, period, r.Table(), balanceBy, sides, turnoverSubject, ofTurnover+" AND "+ofMonth)
}

// accountsSQL compares totals with totals: that those by analytics are those of the entries, others look at.
func accountsSQL(r *metadata.Accounting) string {
	sums := func(table string) string {
		return fmt.Sprintf("(SELECT organisation, account, period, sum(debit) AS debit, sum(credit) AS credit FROM %s WHERE period < 'infinity' AND %s GROUP BY 1, 2, 3)", table, ofAccount)
	}
	return fmt.Sprintf(`SELECT 'organisation=' || organisation || ' account=' || account || ' month=' || period,
	'debit=' || coalesce(m.debit, 0) || ' credit=' || coalesce(m.credit, 0), 'debit=' || coalesce(t.debit, 0) || ' credit=' || coalesce(t.credit, 0)
FROM %s t FULL JOIN %s m USING (organisation, account, period)
WHERE coalesce(t.debit, 0) <> coalesce(m.debit, 0) OR coalesce(t.credit, 0) <> coalesce(m.credit, 0)`, sums(r.AccountTotals()), sums(r.Totals()))
}

// turnoversOfMonthsSQL compares the turnovers of all time with those of the months, in one pass over the totals.
func turnoversOfMonthsSQL(r *metadata.Accounting) string {
	side := func(name, which string) string {
		return fmt.Sprintf("coalesce(sum(%s) FILTER (WHERE period %s 'infinity'), 0)", name, which)
	}
	shown := func(which string) string {
		return "'debit=' || " + side("debit", which) + " || ' credit=' || " + side("credit", which)
	}
	return fmt.Sprintf(`SELECT %s || 'infinity', %s, %s
FROM %s GROUP BY organisation, %s
HAVING %s <> %s OR %s <> %s`, turnoverSubject, shown("<"), shown("="), r.Totals(), balanceBy,
		side("debit", "="), side("debit", "<"), side("credit", "="), side("credit", "<"))
}
