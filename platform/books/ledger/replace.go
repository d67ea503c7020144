package ledger

import (
	"time"

	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Write queues the record set of a recorder that has none yet.
func (l *Ledger) Write(w *database.Work, recorder register.Recorder, e *Entries) {
	l.Replace(w, recorder, recorder.Period, &Entries{}, e)
}

// Replace queues changing a recorder's record set from was, with its period, to another one; an empty one removes it.
// Only entries that differ and turnovers that change are written. A connection always uses the same split, even if the
// old turnover is in another: only the sum of the splits matters. The caller has locked the recorder's document.
func (l *Ledger) Replace(w *database.Work, recorder register.Recorder, was time.Time, before, after *Entries) {
	c := differences(recorder, was, before, after)
	if len(c.erased) > 0 {
		w.Queue("delete from "+l.meta.Name, l.erase, recorder.ID, c.erased)
	}
	if len(c.lines) > 0 {
		split := int(w.Backend()) % l.meta.Splits
		args := columns(columns([]any{recorder.ID, recorder.Type, recorder.Organisation, split, c.lines, c.periods},
			c.rows.Debit),
			c.rows.Credit)
		w.Queue("enter in "+l.meta.Name, l.write,
			append(args, c.rows.Amount)...).Besides(len(c.lines) - len(c.erased) + c.accounts())
	}
}

// change of a record set: removed entries have the opposite amount and are not stored (line 0); added ones have their
// line.
type change struct {
	erased, lines []int32
	periods       []time.Time
	rows          Entries
}

func (c *change) add(line int, period time.Time, e *Entries, row int, sum amount.Money) {
	c.lines, c.periods = append(c.lines, int32(line)), append(c.periods, period)
	c.rows.Add(e.Debit[row], e.Credit[row], sum)
}

// accounts is how many turnovers of whole accounts the change touches.
func (c *change) accounts() (n int) {
	type turnover struct {
		account string
		year    int
		month   time.Month
	}
	all := make(map[turnover]sums, 2*len(c.lines))
	for i, sum := range c.rows.Amount {
		period := c.periods[i].UTC()
		debit := turnover{c.rows.Debit[i].Code, period.Year(), period.Month()}
		credit := turnover{c.rows.Credit[i].Code, period.Year(), period.Month()}
		all[debit] = sums{all[debit].debit + sum, all[debit].credit}
		all[credit] = sums{all[credit].debit, all[credit].credit + sum}
	}
	for _, s := range all {
		if s != (sums{}) {
			n++
		}
	}
	return n
}

func differences(recorder register.Recorder, was time.Time, before, after *Entries) (c change) {
	for row := range max(len(before.Amount), len(after.Amount)) {
		had, has := row < len(before.Amount), row < len(after.Amount)
		if had && has && was.Equal(recorder.Period) && before.Debit[row] == after.Debit[row] &&
			before.Credit[row] == after.Credit[row] && before.Amount[row] == after.Amount[row] {
			continue
		}
		if had {
			c.erased = append(c.erased, int32(row+1))
			c.add(0, was, before, row, -before.Amount[row])
		}
		if has {
			c.add(row+1, recorder.Period, after, row, after.Amount[row])
		}
	}
	return c
}

// Turnovers by analytics come before those of whole accounts, each in the order of its key, in everything that writes
// them.
func writeSQL(meta *metadata.Accounting) string {
	return statement.SQL(`WITH moved AS MATERIALIZED (
	SELECT * FROM unnest($5::integer[], $6::timestamptz[], $7::text[], $8::uuid[], $9::uuid[], $10::uuid[],
		$11::text[], $12::uuid[], $13::uuid[], $14::uuid[], $15::numeric[]) AS e (line, period, {columns}, amount)
), written AS (
	INSERT INTO {entries} (recorder, line, recorder_type, organisation, period, {columns}, amount)
	SELECT $1, e.line, $2, $3, e.period, {columns}, e.amount FROM moved e WHERE e.line > 0
), accounts AS (
	INSERT INTO {account_totals} AS t (organisation, account, period, split, debit, credit)
	SELECT $3, account, {month}, $4, sum(s.debit), sum(s.credit)
	FROM moved e
	CROSS JOIN {sides}
	GROUP BY account, {month} HAVING {any_sum} ORDER BY account, {month}
	ON CONFLICT (organisation, account, period, split) DO UPDATE SET {add}
)
INSERT INTO {totals} AS t (organisation, {key}, period, split, debit, credit)
SELECT $3, {key}, p.of, $4, sum(s.debit), sum(s.credit)
FROM moved e
CROSS JOIN {sides}
CROSS JOIN LATERAL (VALUES ({month}), ('infinity'::date)) AS p (of)
GROUP BY {key}, p.of HAVING {any_sum} ORDER BY {key}, p.of
ON CONFLICT (organisation, {key}, period, split) DO UPDATE SET {add}`, statement.Names{
		"entries": meta.Table(), "totals": meta.Totals(), "account_totals": meta.AccountTotals(),
		"columns": Columns, "key": balanceBy, "sides": sides, "month": monthOfEntry, "any_sum": anySum,
		"add": addExcluded,
	})
}

// TotalsSQL recomputes all turnovers of a ledger from its entries, in one split; its table of totals is empty.
func TotalsSQL(meta *metadata.Accounting) string {
	return statement.SQL(`INSERT INTO {totals} (organisation, {key}, period, split, debit, credit)
SELECT organisation, {key}, p.of, 0, sum(s.debit), sum(s.credit)
FROM {entries} e
CROSS JOIN {sides}
CROSS JOIN LATERAL (VALUES ({month}), ('infinity'::date)) AS p (of)
GROUP BY organisation, {key}, p.of`, statement.Names{
		"totals": meta.Totals(), "entries": meta.Table(), "key": balanceBy, "sides": sides, "month": monthOfEntry,
	})
}

// AccountTotalsSQL recomputes the turnovers of whole accounts, as TotalsSQL does those by analytics.
func AccountTotalsSQL(meta *metadata.Accounting) string {
	return statement.SQL(`INSERT INTO {totals} (organisation, account, period, split, debit, credit)
SELECT organisation, account, {month}, 0, sum(s.debit), sum(s.credit)
FROM {entries} e
CROSS JOIN {sides}
GROUP BY organisation, account, {month}`, statement.Names{
		"totals": meta.AccountTotals(), "entries": meta.Table(), "sides": sides, "month": monthOfEntry,
	})
}

// Recalculate queues recomputing all turnovers by analytics, like register.Recalculate.
func (l *Ledger) Recalculate(w *database.Work, report func(int64) error) {
	register.Rebuild(w, l.meta.Totals(), TotalsSQL(l.meta), report)
}

// RecalculateAccounts queues recomputing the turnovers of whole accounts from those by analytics, under the same
// splits: documents are posted between the two transactions, and write both under one split. It needs another
// transaction, for a statement that writes both tables locks them in no fixed order, which could deadlock.
func (l *Ledger) RecalculateAccounts(w *database.Work, report func(int64) error) {
	register.Rebuild(w, l.meta.AccountTotals(), accountsOfTotalsSQL(l.meta), report)
}

func accountsOfTotalsSQL(meta *metadata.Accounting) string {
	return statement.SQL(`INSERT INTO {accounts} (organisation, account, period, split, debit, credit)
SELECT organisation, account, period, split, sum(debit), sum(credit)
FROM {totals} WHERE period < 'infinity'
GROUP BY organisation, account, period, split`, statement.Names{
		"accounts": meta.AccountTotals(), "totals": meta.Totals(),
	})
}
