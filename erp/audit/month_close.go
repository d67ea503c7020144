package audit

import "plimsoll/platform/audit"

// monthClose: what came to a closed month afterwards shows here until the month is closed anew.
var monthClose = []audit.Invariant{
	{
		ID: "month_close.result", Title: "A closed month is closed by what its sales have brought",
		Checked: "SELECT count(*) FROM doc_month_close WHERE posted AND {month organisation, date} AND {key organisation}",
		Wrong: `SELECT 'month_close ' || d.number || ' ' || d.id, 'result=' || coalesce(s.sales, 0) || ' balance of 90 at the end=' || 0,
	'result=' || d.result || ' balance of 90 at the end=' || coalesce(s.sales, 0) - d.result
FROM doc_month_close d LEFT JOIN LATERAL (
	SELECT sum(CASE WHEN credit = '90' THEN amount ELSE -amount END) AS sales FROM gl_general e
	WHERE e.organisation = d.organisation AND e.period >= date_trunc('month', d.date AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AND e.period <= d.date
		AND (e.debit = '90') <> (e.credit = '90') AND e.recorder_type <> 'month_close') s ON true
WHERE d.posted AND {month d.organisation, d.date} AND {key d.organisation} AND coalesce(s.sales, 0) <> d.result`,
	},
	{
		ID: "month_close.once", Title: "A month is closed once",
		Checked: "SELECT count(*) FROM doc_month_close WHERE posted AND {month organisation, date} AND {key organisation}",
		Wrong: `SELECT 'organisation=' || organisation || ' month=' || date_trunc('month', date AT TIME ZONE 'UTC')::date, '1', count(*)::text
FROM doc_month_close WHERE posted AND {month organisation, date} AND {key organisation} GROUP BY organisation, date_trunc('month', date AT TIME ZONE 'UTC') HAVING count(*) > 1`,
	},
}
