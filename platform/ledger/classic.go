package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/metadata"
	"plimsoll/platform/register"
	"plimsoll/platform/temptable"
)

// classic is a ledger as platforms of this kind write it, in the manner of register.ReplaceByRow.
type classic struct {
	before, changed                        temptable.Structure
	keep, eraseAll, enter, sum, see, total string
	seeAccounts, accountTotal              string
}

func newClassic(meta *metadata.Accounting) *classic {
	period, money := temptable.Column{Name: "period", Type: "timestamptz"}, func(name string) temptable.Column {
		return temptable.Column{Name: name, Type: "numeric(18,2)"}
	}
	entry, whose := columnsOf(Columns), columnsOf(balanceBy)
	return &classic{
		before:   temptable.MustDefine(append(append([]temptable.Column{period}, entry...), money("amount"))),
		changed:  temptable.MustDefine(append(whose, temptable.Column{Name: "month", Type: "date"}, money("debit"), money("credit")), "account", "month"),
		keep:     fmt.Sprintf("INSERT INTO %%s SELECT period, %s, amount FROM %s WHERE recorder = $1", Columns, meta.Table()),
		eraseAll: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1", meta.Table()),
		enter: fmt.Sprintf("INSERT INTO %s (recorder, recorder_type, organisation, period, line, %s, amount) VALUES (%s)",
			meta.Table(), Columns, parameters(6+len(entry))),
		sum: fmt.Sprintf(`INSERT INTO %%s SELECT %[2]s, p.of, sum(s.debit), sum(s.credit) FROM (
	SELECT period, %[1]s, amount FROM %[3]s WHERE recorder = $1
	UNION ALL
	SELECT period, %[1]s, -amount FROM %%s
) AS e
CROSS JOIN %[4]s
CROSS JOIN LATERAL (VALUES (date_trunc('month', e.period AT TIME ZONE 'UTC')::date), ('infinity'::date)) AS p (of)
GROUP BY %[2]s, p.of HAVING sum(s.debit) <> 0 OR sum(s.credit) <> 0`, Columns, balanceBy, meta.Table(), sides),
		see: fmt.Sprintf("SELECT %[1]s, month::text, debit, credit FROM %%s ORDER BY %[1]s, month", balanceBy),
		total: fmt.Sprintf(`INSERT INTO %[1]s AS t (organisation, split, %[2]s, period, debit, credit) VALUES (%[3]s)
ON CONFLICT (organisation, %[2]s, period, split) DO UPDATE SET debit = t.debit + excluded.debit, credit = t.credit + excluded.credit`,
			meta.Totals(), balanceBy, parameters(5+len(whose))),
		seeAccounts: `SELECT account, month::text, sum(debit), sum(credit) FROM %s WHERE month < 'infinity'
GROUP BY account, month HAVING sum(debit) <> 0 OR sum(credit) <> 0 ORDER BY account, month`,
		accountTotal: fmt.Sprintf(`INSERT INTO %s AS t (organisation, split, account, period, debit, credit) VALUES (%s)
ON CONFLICT (organisation, account, period, split) DO UPDATE SET debit = t.debit + excluded.debit, credit = t.credit + excluded.credit`,
			meta.AccountTotals(), parameters(6)),
	}
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

// ReplaceByRow is Replace in the classic manner: the record set deleted and entered anew, and turnovers changed, by a statement for each row. It
// sends what is queued, and queues more.
func (l *Ledger) ReplaceByRow(ctx context.Context, w *database.Work, by register.Recorder, after *Entries) error {
	t, err := w.Temp(ctx, l.classic.before, l.classic.changed)
	if err != nil {
		return err
	}
	kept, changed := t[0], t[1]
	w.Fill(kept, "keep entries of "+l.meta.Name, fmt.Sprintf(l.classic.keep, kept.Name()), by.ID)
	w.Analyze(kept)
	w.Queue("erase "+l.meta.Name, l.classic.eraseAll, by.ID)
	for row := range after.Amount {
		args := after.Credit[row].Values(after.Debit[row].Values([]any{by.ID, by.Type, by.Organisation, by.Period, row + 1}))
		w.Queue("enter in "+l.meta.Name, l.classic.enter, append(args, after.Amount[row])...)
	}
	w.Fill(changed, "sum change of "+l.meta.Name, fmt.Sprintf(l.classic.sum, changed.Name(), kept.Name()), by.ID)
	w.Analyze(changed)
	return l.totalsByRow(ctx, w, by, changed)
}

// totalsByRow writes the changes of turnovers in the order in which everybody does.
func (l *Ledger) totalsByRow(ctx context.Context, w *database.Work, by register.Recorder, changed *temptable.Table) error {
	var all, accounts [][]any
	w.Queue("read change of "+l.meta.Name, fmt.Sprintf(l.classic.see, changed.Name())).Rows(func(r pgx.Rows) error {
		var of Account
		var month string
		var debit, credit amount.Money
		err := r.Scan(append(of.targets(), &month, &debit, &credit)...)
		all = append(all, append(of.Values(nil), month, debit, credit))
		return err
	})
	w.Queue("read change of accounts of "+l.meta.Name, fmt.Sprintf(l.classic.seeAccounts, changed.Name())).Rows(func(r pgx.Rows) error {
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
		w.Queue("total of "+l.meta.Name, l.classic.total, append([]any{by.Organisation, split}, row...)...)
	}
	for _, row := range accounts {
		w.Queue("total of accounts of "+l.meta.Name, l.classic.accountTotal, append([]any{by.Organisation, split}, row...)...)
	}
	return nil
}
