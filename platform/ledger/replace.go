package ledger

import (
	"fmt"
	"time"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/metadata"
	"plimsoll/platform/register"
)

// Write queues the record set of a recorder that has none yet.
func (l *Ledger) Write(w *database.Work, by register.Recorder, e *Entries) {
	l.Replace(w, by, by.Period, &Entries{}, e)
}

// Replace queues the change of a recorder's record set, which was of the period was, into another one; an empty one removes it. Only
// entries that differ are written, and only turnovers that change. A connection always takes the same split, whichever split the turnover is in that is taken back:
// a single split means nothing, their sum does. The caller holds the recorder's document.
func (l *Ledger) Replace(w *database.Work, by register.Recorder, was time.Time, before, after *Entries) {
	c := differences(by, was, before, after)
	if len(c.erased) > 0 {
		w.Queue("take back from "+l.meta.Name, l.erase, by.ID, c.erased)
	}
	if len(c.lines) > 0 {
		split := int(w.Backend()) % l.meta.Splits
		args := columns(columns([]any{by.ID, by.Type, by.Organisation, split, c.lines, c.periods}, c.rows.Debit), c.rows.Credit)
		w.Queue("enter in "+l.meta.Name, l.write, append(args, c.rows.Amount)...).Besides(len(c.lines) - len(c.erased) + c.accounts())
	}
}

// change of a record set: what is taken back comes with the opposite sum, and is not kept (line 0); what is brought has its line.
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

func differences(by register.Recorder, was time.Time, before, after *Entries) (c change) {
	for row := range max(len(before.Amount), len(after.Amount)) {
		had, has := row < len(before.Amount), row < len(after.Amount)
		if had && has && was.Equal(by.Period) && before.Debit[row] == after.Debit[row] && before.Credit[row] == after.Credit[row] && before.Amount[row] == after.Amount[row] {
			continue
		}
		if had {
			c.erased = append(c.erased, int32(row+1))
			c.add(0, was, before, row, -before.Amount[row])
		}
		if has {
			c.add(row+1, by.Period, after, row, after.Amount[row])
		}
	}
	return c
}

// Turnovers by analytics go before those of whole accounts, each in the order of its key, in all that writes them.
func writeSQL(meta *metadata.Accounting) string {
	return fmt.Sprintf(`WITH moved AS MATERIALIZED (
	SELECT * FROM unnest($5::integer[], $6::timestamptz[], $7::text[], $8::uuid[], $9::uuid[], $10::uuid[], $11::text[], $12::uuid[], $13::uuid[], $14::uuid[], $15::numeric[])
		AS e (line, period, %[3]s, amount)
), written AS (
	INSERT INTO %[1]s (recorder, line, recorder_type, organisation, period, %[3]s, amount)
	SELECT $1, e.line, $2, $3, e.period, %[3]s, e.amount FROM moved e WHERE e.line > 0
), accounts AS (
	INSERT INTO %[6]s AS t (organisation, account, period, split, debit, credit)
	SELECT $3, account, %[7]s, $4, sum(s.debit), sum(s.credit)
	FROM moved e
	CROSS JOIN %[5]s
	GROUP BY account, %[7]s HAVING sum(s.debit) <> 0 OR sum(s.credit) <> 0 ORDER BY account, %[7]s
	ON CONFLICT (organisation, account, period, split) DO UPDATE SET debit = t.debit + excluded.debit, credit = t.credit + excluded.credit
)
INSERT INTO %[2]s AS t (organisation, %[4]s, period, split, debit, credit)
SELECT $3, %[4]s, p.of, $4, sum(s.debit), sum(s.credit)
FROM moved e
CROSS JOIN %[5]s
CROSS JOIN LATERAL (VALUES (%[7]s), ('infinity'::date)) AS p (of)
GROUP BY %[4]s, p.of HAVING sum(s.debit) <> 0 OR sum(s.credit) <> 0 ORDER BY %[4]s, p.of
ON CONFLICT (organisation, %[4]s, period, split) DO UPDATE SET debit = t.debit + excluded.debit, credit = t.credit + excluded.credit`,
		meta.Table(), meta.Totals(), Columns, balanceBy, sides, meta.AccountTotals(), monthOfEntry)
}

// TotalsSQL makes all turnovers of a ledger anew from its entries, in one split; its table of totals is empty.
func TotalsSQL(meta *metadata.Accounting) string {
	return fmt.Sprintf(`INSERT INTO %[1]s (organisation, %[3]s, period, split, debit, credit)
SELECT organisation, %[3]s, p.of, 0, sum(s.debit), sum(s.credit)
FROM %[2]s e
CROSS JOIN %[4]s
CROSS JOIN LATERAL (VALUES (%[5]s), ('infinity'::date)) AS p (of)
GROUP BY organisation, %[3]s, p.of`, meta.Totals(), meta.Table(), balanceBy, sides, monthOfEntry)
}

// AccountTotalsSQL makes the turnovers of whole accounts anew, as TotalsSQL does those by analytics.
func AccountTotalsSQL(meta *metadata.Accounting) string {
	return fmt.Sprintf(`INSERT INTO %[1]s (organisation, account, period, split, debit, credit)
SELECT organisation, account, %[4]s, 0, sum(s.debit), sum(s.credit)
FROM %[2]s e
CROSS JOIN %[3]s
GROUP BY organisation, account, %[4]s`, meta.AccountTotals(), meta.Table(), sides, monthOfEntry)
}

// Recalculate queues the making anew of all turnovers by analytics, as register.Recalculate does.
func (l *Ledger) Recalculate(w *database.Work, told func(int64) error) {
	register.Rebuild(w, l.meta.Totals(), TotalsSQL(l.meta), told)
}

// RecalculateAccounts is Recalculate of those of whole accounts. It is for another transaction: a statement that writes both tables
// takes them in no order of its own, so who held one of them and waited for the other could wait for ever.
func (l *Ledger) RecalculateAccounts(w *database.Work, told func(int64) error) {
	register.Rebuild(w, l.meta.AccountTotals(), AccountTotalsSQL(l.meta), told)
}
