package ledger

import (
	"context"
	"fmt"

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
}

func newClassic(meta *metadata.Accounting) *classic {
	text, money := func(name string) temptable.Column { return temptable.Column{Name: name, Type: "text"} },
		func(name string) temptable.Column { return temptable.Column{Name: name, Type: "numeric(18,2)"} }
	return &classic{
		before:   temptable.MustDefine([]temptable.Column{{Name: "period", Type: "timestamptz"}, text("debit"), text("credit"), money("amount")}),
		changed:  temptable.MustDefine([]temptable.Column{text("account"), {Name: "month", Type: "date"}, money("debit"), money("credit")}, "account", "month"),
		keep:     fmt.Sprintf("INSERT INTO %%s SELECT period, debit, credit, amount FROM %s WHERE recorder = $1", meta.Table()),
		eraseAll: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1", meta.Table()),
		enter: fmt.Sprintf(`INSERT INTO %s (recorder, recorder_type, organisation, period, line, debit, credit, amount)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, meta.Table()),
		sum: fmt.Sprintf(`INSERT INTO %%s SELECT s.account, p.of, sum(s.debit), sum(s.credit) FROM (
	SELECT period, debit, credit, amount FROM %[1]s WHERE recorder = $1
	UNION ALL
	SELECT period, debit, credit, -amount FROM %%s
) AS e
CROSS JOIN LATERAL (VALUES (e.debit, e.amount, 0), (e.credit, 0, e.amount)) AS s (account, debit, credit)
CROSS JOIN LATERAL (VALUES (date_trunc('month', e.period AT TIME ZONE 'UTC')::date), ('infinity'::date)) AS p (of)
GROUP BY s.account, p.of HAVING sum(s.debit) <> 0 OR sum(s.credit) <> 0`, meta.Table()),
		see: "SELECT account, month::text, debit, credit FROM %s ORDER BY account, month",
		total: fmt.Sprintf(`INSERT INTO %s AS t (organisation, split, account, period, debit, credit) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (organisation, account, period, split) DO UPDATE SET debit = t.debit + excluded.debit, credit = t.credit + excluded.credit`, meta.Totals()),
	}
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
		w.Queue("enter in "+l.meta.Name, l.classic.enter, by.ID, by.Type, by.Organisation, by.Period, row+1, after.Debit[row], after.Credit[row], after.Amount[row])
	}
	w.Fill(changed, "sum change of "+l.meta.Name, fmt.Sprintf(l.classic.sum, changed.Name(), kept.Name()), by.ID)
	w.Analyze(changed)
	return l.totalsByRow(ctx, w, by, changed)
}

// totalsByRow writes the changes of turnovers in the order in which everybody does.
func (l *Ledger) totalsByRow(ctx context.Context, w *database.Work, by register.Recorder, changed *temptable.Table) error {
	var all [][]any
	w.Queue("read change of "+l.meta.Name, fmt.Sprintf(l.classic.see, changed.Name())).Rows(func(r pgx.Rows) error {
		var account, month string
		var debit, credit amount.Money
		err := r.Scan(&account, &month, &debit, &credit)
		all = append(all, []any{account, month, debit, credit})
		return err
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	split := int(w.Backend()) % l.meta.Splits
	for _, row := range all {
		w.Queue("total of "+l.meta.Name, l.classic.total, append([]any{by.Organisation, split}, row...)...)
	}
	return nil
}
