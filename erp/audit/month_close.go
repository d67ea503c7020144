package audit

import (
	"strings"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/platform/care/audit"
)

// inMonth are the versions of all documents of the month that d closes.
func inMonth() string {
	var each []string
	for _, meta := range erp.Metadata().Documents {
		if meta.Name != books.MonthClose {
			each = append(each, "SELECT version FROM "+meta.Table()+
				` o WHERE o.organisation = d.organisation AND o.date <= d.date
		AND o.date >= date_trunc('month', d.date AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`)
		}
	}
	return strings.Join(each, " UNION ALL ")
}

// monthClose: nothing is written into a closed month; what was, against the rules, shows here.
var monthClose = []audit.Invariant{
	{
		ID: "month_close.result", Title: "Month close: the result of a closed month is the result of its sales",
		Checked: "SELECT count(*) FROM doc_month_close WHERE posted AND {month organisation, date} AND {key " +
			"organisation}",
		Wrong: `SELECT 'month_close ' || d.number || ' ' || d.id,
	'result=' || coalesce(s.sales, 0) || ' balance of 90 at the end=' || 0,
	'result=' || d.result || ' balance of 90 at the end=' || coalesce(s.sales, 0) - d.result
FROM doc_month_close d LEFT JOIN LATERAL (
	SELECT sum(CASE WHEN credit = '90' THEN amount ELSE -amount END) AS sales FROM gl_general e
	WHERE e.organisation = d.organisation AND e.period >= date_trunc('month',
		d.date AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AND e.period <= d.date
		AND (e.debit = '90') <> (e.credit = '90') AND e.recorder_type <> 'month_close') s ON true
WHERE d.posted AND {month d.organisation, d.date} AND {key d.organisation} AND coalesce(s.sales, 0) <> d.result`,
	},
	{
		ID: "month_close.counted", Title: "Month close: the documents of a closed month are unchanged, and their " +
			"costs are in order",
		Checked: "SELECT count(*) FROM doc_month_close WHERE posted",
		Wrong: `SELECT 'month_close ' || d.number || ' ' || d.id,
	'documents=' || d.documents || ' versions=' || d.versions || ' boundaries=0',
	'documents=' || found.documents || ' versions=' || found.versions || ' boundaries=' || found.boundaries
FROM doc_month_close d CROSS JOIN LATERAL (
	SELECT count(*) AS documents, coalesce(sum(m.version), 0) AS versions,
		(SELECT count(*) FROM acc_batches_boundary b
			WHERE b.organisation = d.organisation AND b.moment <= d.date) AS boundaries
	FROM (` + inMonth() + `) m) found
WHERE d.posted AND (found.documents <> d.documents OR found.versions <> d.versions OR found.boundaries > 0)`,
	},
	{
		ID: "month_close.once", Title: "Month close: no month is closed twice",
		Checked: "SELECT count(*) FROM doc_month_close WHERE posted AND {month organisation, date} AND {key " +
			"organisation}",
		Wrong: `SELECT 'organisation=' || organisation
	|| ' month=' || date_trunc('month', date AT TIME ZONE 'UTC')::date, '1', count(*)::text
FROM doc_month_close WHERE posted AND {month organisation, date} AND {key organisation}
	GROUP BY organisation, date_trunc('month', date AT TIME ZONE 'UTC') HAVING count(*) > 1`,
	},
}
