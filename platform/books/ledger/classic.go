package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// classic writes a ledger as platforms of this kind do, like register.ReplaceByRow.
type classic struct {
	before, changed                      temptable.Structure
	keep, sum, see, seeAccounts          statement.Template
	eraseAll, enter, total, accountTotal string
}

func newClassic(meta *metadata.Accounting) *classic {
	period, money := temptable.Column{Name: "period", Type: "timestamptz"}, func(name string) temptable.Column {
		return temptable.Column{Name: name, Type: "numeric(18,2)"}
	}
	entry, key := columnsOf(Columns), columnsOf(balanceBy)
	c := &classic{
		before: temptable.MustDefine(append(append([]temptable.Column{period}, entry...), money("amount"))),
		changed: temptable.MustDefine(append(key, temptable.Column{Name: "month", Type: "date"}, money("debit"),
			money("credit")), "account", "month"),
		eraseAll: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1", meta.Table()),
	}
	c.keep = statement.Late("INSERT INTO {kept} SELECT period, {columns}, amount FROM {entries} WHERE recorder = $1",
		statement.Names{"columns": Columns, "entries": meta.Table()}, "kept")
	c.enter = statement.SQL(`INSERT INTO {entries}
	(recorder, recorder_type, organisation, period, line, {columns}, amount)
VALUES ({values})`, statement.Names{
		"entries": meta.Table(), "columns": Columns, "values": parameters(6 + len(entry)),
	})
	c.sum = statement.Late(`INSERT INTO {changed} SELECT {key}, p.of, sum(s.debit), sum(s.credit) FROM (
	SELECT period, {columns}, amount FROM {entries} WHERE recorder = $1
	UNION ALL
	SELECT period, {columns}, -amount FROM {kept}
) AS e
CROSS JOIN {sides}
CROSS JOIN LATERAL (VALUES ({month}), ('infinity'::date)) AS p (of)
GROUP BY {key}, p.of HAVING {any_sum}`, statement.Names{
		"columns": Columns, "key": balanceBy, "entries": meta.Table(), "sides": sides, "month": monthOfEntry,
		"any_sum": anySum,
	}, "changed", "kept")
	c.totalsSQL(meta, len(key))
	return c
}

// totalsSQL makes the statements for turnovers with so many key columns.
func (c *classic) totalsSQL(meta *metadata.Accounting, key int) {
	c.see = statement.Late("SELECT {key}, month::text, debit, credit FROM {changed} ORDER BY {key}, month",
		statement.Names{"key": balanceBy}, "changed")
	c.total = statement.SQL(`INSERT INTO {totals} AS t (organisation, split, {key}, period, debit, credit)
VALUES ({values})
ON CONFLICT (organisation, {key}, period, split) DO UPDATE SET {add}`, statement.Names{
		"totals": meta.Totals(), "key": balanceBy, "values": parameters(5 + key), "add": addExcluded,
	})
	c.seeAccounts = statement.Late(`SELECT account, month::text, sum(debit), sum(credit) FROM {changed}
WHERE month < 'infinity'
GROUP BY account, month HAVING sum(debit) <> 0 OR sum(credit) <> 0 ORDER BY account, month`, nil, "changed")
	c.accountTotal = statement.SQL(`INSERT INTO {totals} AS t (organisation, split, account, period, debit, credit)
VALUES ({values})
ON CONFLICT (organisation, account, period, split) DO UPDATE SET {add}`, statement.Names{
		"totals": meta.AccountTotals(), "values": parameters(6), "add": addExcluded,
	})
}

// columnsOf a list of names: analytics are references, the others accounts.
func columnsOf(list string) (columns []temptable.Column) {
	for _, name := range strings.Split(list, ", ") {
		c := temptable.Column{Name: name, Type: "text"}
		if strings.Contains(name, "_") {
			c.Type = "uuid"
		}
		columns = append(columns, c)
	}
	return columns
}

func parameters(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(all, ", ")
}

// ReplaceByRow is Replace in the classic way: the record set is deleted and inserted again, and turnovers are changed,
// by one statement per row. It flushes the queue, and queues more.
func (l *Ledger) ReplaceByRow(ctx context.Context, w *database.Work, recorder register.Recorder, after *Entries) error {
	t, err := w.Temp(ctx, l.classic.before, l.classic.changed)
	if err != nil {
		return err
	}
	kept, changed := t[0], t[1]
	w.Fill(kept, "keep entries of "+l.meta.Name, l.classic.keep.SQL(kept.Name()), recorder.ID)
	w.Analyze(kept)
	w.Queue("erase "+l.meta.Name, l.classic.eraseAll, recorder.ID)
	for row := range after.Amount {
		args := after.Credit[row].Values(after.Debit[row].Values(
			[]any{recorder.ID, recorder.Type, recorder.Organisation, recorder.Period, row + 1}))
		w.Queue("enter in "+l.meta.Name, l.classic.enter, append(args, after.Amount[row])...)
	}
	w.Fill(changed, "sum change of "+l.meta.Name, l.classic.sum.SQL(changed.Name(), kept.Name()), recorder.ID)
	w.Analyze(changed)
	return l.totalsByRow(ctx, w, recorder, changed)
}

// totalsByRow changes turnovers in the order that everybody uses.
func (l *Ledger) totalsByRow(ctx context.Context, w *database.Work, recorder register.Recorder,
	changed *temptable.Table) error {
	var all, accounts [][]any
	w.Queue("read change of "+l.meta.Name, l.classic.see.SQL(changed.Name())).Rows(func(r pgx.Rows) error {
		var account Account
		var month string
		var debit, credit amount.Money
		err := r.Scan(append(account.targets(), &month, &debit, &credit)...)
		all = append(all, append(account.Values(nil), month, debit, credit))
		return err
	})
	w.Queue("read change of accounts of "+l.meta.Name,
		l.classic.seeAccounts.SQL(changed.Name())).Rows(func(r pgx.Rows) error {
		var account, month string
		var debit, credit amount.Money
		err := r.Scan(&account, &month, &debit, &credit)
		accounts = append(accounts, []any{account, month, debit, credit})
		return err
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	split := int(w.Backend()) % l.meta.Splits
	for _, row := range all {
		w.Queue("total of "+l.meta.Name, l.classic.total, append([]any{recorder.Organisation, split}, row...)...)
	}
	for _, row := range accounts {
		w.Queue("total of accounts of "+l.meta.Name, l.classic.accountTotal,
			append([]any{recorder.Organisation, split}, row...)...)
	}
	return nil
}
