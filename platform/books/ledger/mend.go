package ledger

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Erase queues deleting everything that a recorder has in the ledger, wherever it lies. Totals stay; see Resum.
func (l *Ledger) Erase(w *database.Work, recorder id.ID) {
	w.Queue("delete from "+l.meta.Name, "DELETE FROM "+l.meta.Table()+" WHERE recorder = $1", recorder)
}

// Insert queues a record set of a recorder that has none. Totals stay; see Resum.
func (l *Ledger) Insert(w *database.Work, recorder register.Recorder, e *Entries) {
	x := l.Rewriter()
	x.Replace(recorder, recorder.Period, &Entries{}, e)
	x.Write(w)
}

// AccountsOf are the keys of totals that record sets are summed in, each once.
func (l *Ledger) AccountsOf(sets ...*Entries) (all []Account) {
	seen := map[Account]bool{}
	for _, e := range sets {
		if e == nil {
			continue
		}
		for row := range e.Amount {
			for _, a := range []Account{e.Debit[row], e.Credit[row]} {
				if !seen[a] {
					seen[a] = true
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// Weigh is register.Register.Weigh for turnovers.
func (l *Ledger) Weigh(w *database.Work, recorder register.Recorder, before, after *Entries) *register.Weighed {
	x, found := l.Rewriter(), &register.Weighed{}
	x.Replace(recorder, recorder.Period, before, after)
	first, next := register.Month(recorder.Period)
	var accounts []Account
	var debits, credits []amount.Money
	for key, s := range x.turnovers {
		if key.month == first.Format(time.DateOnly) && *s != (sums{}) {
			accounts = append(accounts, key.account)
			debits, credits = append(debits, s.debit), append(credits, s.credit)
		}
	}
	if found.Keys = len(accounts); found.Keys == 0 {
		return found
	}
	w.Queue("weigh turnovers of "+l.meta.Name, l.weighSQL(),
		columns([]any{recorder.Organisation, first, next, debits, credits}, accounts)...).
		Rows(func(rows pgx.Rows) error { return rows.Scan(&found.Stored, &found.Made) })
	return found
}

// Follow is register.Register.Follow for turnovers.
func (l *Ledger) Follow(w *database.Work, recorder register.Recorder, before, after *Entries) {
	x := l.Rewriter()
	x.Replace(recorder, recorder.Period, before, after)
	x.WriteTotals(w)
}

func (l *Ledger) weighSQL() string {
	return statement.SQL(`WITH d AS (
	SELECT * FROM unnest($4::numeric[], $5::numeric[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[])
		AS d (debit, credit, {key})
), m AS (
	SELECT {key}, sum(s.debit) AS debit, sum(s.credit) AS credit FROM {entries} e CROSS JOIN {sides}
	WHERE e.organisation = $1 AND e.period >= $2 AND e.period < $3 GROUP BY {key}
), t AS (
	SELECT {key}, sum(t.debit) AS debit, sum(t.credit) AS credit FROM {totals} t
	WHERE t.organisation = $1 AND t.period = ($2::timestamptz AT TIME ZONE 'UTC')::date GROUP BY {key}
)
SELECT count(*) FILTER (WHERE coalesce(t.debit, 0) = coalesce(m.debit, 0)
	AND coalesce(t.credit, 0) = coalesce(m.credit, 0)),
	count(*) FILTER (WHERE coalesce(t.debit, 0) = coalesce(m.debit, 0) + d.debit
	AND coalesce(t.credit, 0) = coalesce(m.credit, 0) + d.credit)
FROM d LEFT JOIN t USING ({key}) LEFT JOIN m USING ({key})`, statement.Names{
		"key": balanceBy, "entries": l.meta.Table(), "sides": sides, "totals": l.meta.Totals(),
	})
}

// Resum queues making the turnovers of accounts those of the entries, from a month up to another one, and those of all
// time and of whole accounts the sums of the months, split by split. Of the splits of a month's turnover one takes the
// difference; those that are no longer written are dropped. The caller has locked both tables of totals with
// register.LockTotals.
func (l *Ledger) Resum(w *database.Work, organisation id.ID, first, next time.Time, accounts []Account) {
	if len(accounts) == 0 {
		return
	}
	for _, sql := range l.resumSQL() {
		w.Queue("sum "+l.meta.Totals(), sql, columns([]any{organisation, first, next}, accounts)...)
	}
}

const (
	mendKeys = `WITH k AS (SELECT * FROM unnest($4::text[], $5::uuid[], $6::uuid[], $7::uuid[]) AS k ({key}),
	(SELECT ($2::timestamptz AT TIME ZONE 'UTC')::date AS first,
		($3::timestamptz AT TIME ZONE 'UTC')::date AS next) b)
`
	dropSplits = `DELETE FROM {totals} t USING unnest($4::text[], $5::uuid[], $6::uuid[], $7::uuid[]) AS k ({key})
WHERE t.organisation = $1 AND {matches} AND t.split NOT BETWEEN 0 AND {last}
	AND (t.period = 'infinity' OR t.period >= ($2::timestamptz AT TIME ZONE 'UTC')::date
	AND t.period < ($3::timestamptz AT TIME ZONE 'UTC')::date)`
	mendTurnovers = mendKeys + `INSERT INTO {totals} AS t (organisation, {key}, period, split, debit, credit)
SELECT $1, {key}, period, coalesce(min(split), 0), sum(debit), sum(credit) FROM (
	SELECT {key}, {month} AS period, NULL::integer AS split, s.debit, s.credit
	FROM {entries} e CROSS JOIN {sides} JOIN k USING ({key})
	WHERE e.organisation = $1 AND e.period >= $2 AND e.period < $3
	UNION ALL
	SELECT {key}, period, split, -debit, -credit FROM {totals} JOIN k USING ({key})
	WHERE organisation = $1 AND period >= k.first AND period < k.next
) AS s GROUP BY {key}, period HAVING sum(debit) <> 0 OR sum(credit) <> 0
ON CONFLICT (organisation, {key}, period, split) DO UPDATE SET {add}`
	mendAllTime = mendKeys + `INSERT INTO {totals} AS t (organisation, {key}, period, split, debit, credit)
SELECT $1, {key}, 'infinity', split,
	sum(CASE WHEN period = 'infinity' THEN -debit ELSE debit END),
	sum(CASE WHEN period = 'infinity' THEN -credit ELSE credit END)
FROM {totals} JOIN k USING ({key}) WHERE organisation = $1 GROUP BY {key}, split
HAVING sum(CASE WHEN period = 'infinity' THEN -debit ELSE debit END) <> 0
	OR sum(CASE WHEN period = 'infinity' THEN -credit ELSE credit END) <> 0
ON CONFLICT (organisation, {key}, period, split) DO UPDATE SET {add}`
	mendAccounts = mendKeys + `INSERT INTO {accounts} AS t (organisation, account, period, split, debit, credit)
SELECT $1, account, period, split, sum(debit), sum(credit) FROM (
	SELECT account, period, split, debit, credit FROM {totals}
	WHERE organisation = $1 AND account IN (SELECT account FROM k)
		AND period >= (SELECT first FROM k LIMIT 1) AND period < (SELECT next FROM k LIMIT 1)
	UNION ALL
	SELECT account, period, split, -debit, -credit FROM {accounts}
	WHERE organisation = $1 AND account IN (SELECT account FROM k)
		AND period >= (SELECT first FROM k LIMIT 1) AND period < (SELECT next FROM k LIMIT 1)
) AS s GROUP BY account, period, split HAVING sum(debit) <> 0 OR sum(credit) <> 0
ON CONFLICT (organisation, account, period, split) DO UPDATE SET {add}`
)

func (l *Ledger) resumSQL() []string {
	last := fmt.Sprint(l.meta.Splits - 1)
	return []string{
		statement.SQL(dropSplits, statement.Names{"key": balanceBy, "totals": l.meta.Totals(), "last": last,
			"matches": "(t.account, t.analytic_1, t.analytic_2, t.analytic_3) = (k.account, k.analytic_1, " +
				"k.analytic_2, k.analytic_3)"}),
		statement.SQL(mendTurnovers, statement.Names{"key": balanceBy, "totals": l.meta.Totals(), "month": monthOfEntry,
			"entries": l.meta.Table(), "sides": sides, "add": addExcluded}),
		statement.SQL(mendAllTime, statement.Names{"key": balanceBy, "totals": l.meta.Totals(), "add": addExcluded}),
		statement.SQL(mendAccounts, statement.Names{"key": balanceBy, "totals": l.meta.Totals(),
			"accounts": l.meta.AccountTotals(), "add": addExcluded}),
	}
}

// Mismatched queues finding the accounts whose turnovers are not the sums of their entries, by organisation.
func (l *Ledger) Mismatched(w *database.Work) map[id.ID][]Account {
	found := map[id.ID][]Account{}
	w.Queue("compare turnovers of "+l.meta.Name, statement.SQL(`SELECT DISTINCT organisation, {key} FROM (
	SELECT organisation, {key} FROM (
		SELECT e.organisation, {key}, p.of AS period, s.debit, s.credit FROM {entries} e CROSS JOIN {sides}
		CROSS JOIN LATERAL (VALUES ({month}), ('infinity'::date)) AS p (of)
		UNION ALL SELECT organisation, {key}, period, -debit, -credit FROM {totals}
	) AS s GROUP BY organisation, {key}, period HAVING sum(debit) <> 0 OR sum(credit) <> 0
	UNION ALL
	SELECT organisation, {key} FROM {totals} GROUP BY organisation, {key}, split
	HAVING sum(CASE WHEN period = 'infinity' THEN -debit ELSE debit END) <> 0
		OR sum(CASE WHEN period = 'infinity' THEN -credit ELSE credit END) <> 0 OR split NOT BETWEEN 0 AND {last}
	UNION ALL
	SELECT organisation, account, {none}, {none}, {none} FROM (
		SELECT organisation, account, period, split, debit, credit FROM {totals} WHERE period < 'infinity'
		UNION ALL SELECT organisation, account, period, split, -debit, -credit FROM {accounts}
	) AS a GROUP BY organisation, account, period, split HAVING sum(debit) <> 0 OR sum(credit) <> 0
) AS m`, statement.Names{"key": balanceBy, "last": fmt.Sprint(l.meta.Splits - 1),
		"entries": l.meta.Table(), "sides": sides, "month": monthOfEntry,
		"totals": l.meta.Totals(), "accounts": l.meta.AccountTotals(),
		"none": "'00000000-0000-0000-0000-000000000000'::uuid"})).Rows(func(rows pgx.Rows) error {
		var organisation id.ID
		var a Account
		err := rows.Scan(append([]any{&organisation}, a.targets()...)...)
		found[organisation] = append(found[organisation], a)
		return err
	})
	return found
}

// TotalsUnder selects the turnovers t of accounts of an organisation, for a digest of them.
func (l *Ledger) TotalsUnder(organisation id.ID, accounts []Account) (from string, args []any) {
	from = statement.SQL("unnest($2::text[], $3::uuid[], $4::uuid[], $5::uuid[]) AS k ({key}) JOIN {totals} t "+
		"USING ({key})", statement.Names{"key": balanceBy, "totals": l.meta.Totals()})
	return from, columns([]any{organisation}, accounts)
}

// Meta describes the ledger.
func (l *Ledger) Meta() *metadata.Accounting { return l.meta }
