package audit

import (
	"fmt"

	"plimsoll/platform/metadata"
)

func accounting(r *metadata.Accounting) []Invariant {
	const current, monthly = "period = 'infinity'", "period < 'infinity'"
	var accounts []string
	for _, a := range r.Accounts {
		accounts = append(accounts, a.Code)
	}
	return []Invariant{
		{
			ID: r.Name + ".entries", Title: r.Title + ": every entry has a debit and a credit account of the chart, and a sum",
			Checked: count(r.Table(), "true"), Args: []any{accounts},
			Wrong: fmt.Sprintf(`SELECT recorder_type || ' ' || recorder || ' line ' || line, 'two accounts of the chart, amount >= 0',
	'debit=' || debit || ' credit=' || credit || ' amount=' || amount
FROM %s WHERE debit = credit OR amount < 0 OR debit <> ALL ($1::text[]) OR credit <> ALL ($1::text[])`, r.Table()),
		},
		{
			ID: r.Name + ".balanced", Title: r.Title + ": debit equals credit in every period of every organisation",
			Checked: fmt.Sprintf("SELECT count(*) FROM (SELECT DISTINCT organisation, period FROM %s) p", r.Totals()),
			Wrong: fmt.Sprintf(`SELECT 'organisation=' || organisation || ' month=' || period, 'debit=' || sum(debit), 'credit=' || sum(credit)
FROM %s GROUP BY organisation, period HAVING sum(debit) <> sum(credit)`, r.Totals()),
		},
		{
			ID: r.Name + ".current", Title: r.Title + ": turnovers of all time equal all entries",
			Checked: count(r.Totals(), current), Wrong: turnoversSQL(r, current, "'infinity'::date"),
		},
		{
			ID: r.Name + ".monthly", Title: r.Title + ": turnovers of each month equal its entries",
			Checked: count(r.Totals(), monthly), Wrong: turnoversSQL(r, monthly, "date_trunc('month', period AT TIME ZONE 'UTC')::date"),
		},
	}
}

func turnoversSQL(r *metadata.Accounting, which, period string) string {
	return fmt.Sprintf(`SELECT 'organisation=' || organisation || ' account=' || account || ' month=' || of,
	'debit=' || coalesce(m.debit, 0) || ' credit=' || coalesce(m.credit, 0), 'debit=' || coalesce(t.debit, 0) || ' credit=' || coalesce(t.credit, 0)
FROM (SELECT organisation, account, period AS of, sum(debit) AS debit, sum(credit) AS credit FROM %[1]s WHERE %[2]s GROUP BY organisation, account, of) t
FULL JOIN (SELECT organisation, s.account, %[3]s AS of, sum(s.debit) AS debit, sum(s.credit) AS credit
	FROM %[4]s e CROSS JOIN LATERAL (VALUES (e.debit, e.amount, 0), (e.credit, 0, e.amount)) AS s (account, debit, credit)
	GROUP BY organisation, s.account, of) m USING (organisation, account, of)
WHERE coalesce(t.debit, 0) <> coalesce(m.debit, 0) OR coalesce(t.credit, 0) <> coalesce(m.credit, 0)`,
		r.Totals(), which, period, r.Table())
}
