// Package ledger owns accounting registers: double entry, with totals kept in the same statement. An entry debits one
// account and credits another with one amount, so the two sides cannot differ. Totals are debit and credit turnovers by
// month and, in the period 'infinity', of all time; they are spread over splits that readers sum. An account may have a
// hundred thousand contracts; so that reading the account does not sum them all, there are also turnovers of whole
// accounts, by month.
package ledger

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Account is one side of an entry: an account of the chart and its analytics, in the chart's order.
type Account struct {
	Code      string
	Analytics [metadata.AnalyticsMax]id.ID
}

// At is an account with its analytics.
func At(code string, analytics ...id.ID) (a Account) {
	a.Code = code
	copy(a.Analytics[:], analytics)
	return a
}

// Entries is the record set of one recorder: columns of equal length.
type Entries struct {
	Ledger        string
	Debit, Credit []Account
	Amount        []amount.Money
}

// entriesUsual is the usual number of entries of a document.
const entriesUsual = 3

// Add appends an entry.
func (e *Entries) Add(debit, credit Account, sum amount.Money) {
	if e.Amount == nil {
		e.Debit = make([]Account, 0, entriesUsual)
		e.Credit = make([]Account, 0, entriesUsual)
		e.Amount = make([]amount.Money, 0, entriesUsual)
	}
	e.Debit, e.Credit, e.Amount = append(e.Debit, debit), append(e.Credit, credit), append(e.Amount, sum)
}

// Ledger reads and writes one accounting register; its statements are built once.
type Ledger struct {
	meta               *metadata.Accounting
	write, erase, read string
	classic            *classic

	readMany, eraseMany, insertMany, addMany, addAccounts string
}

// New builds the statements.
func New(meta *metadata.Accounting) *Ledger {
	l := &Ledger{
		meta: meta, write: writeSQL(meta), classic: newClassic(meta),
		erase: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table()),
		read:  fmt.Sprintf("SELECT %s, amount FROM %s WHERE recorder = $1 ORDER BY line", Columns, meta.Table()),
	}
	l.rewriterSQL(meta)
	return l
}

// Read queues reading a recorder's record set, in the order of its lines.
func (l *Ledger) Read(w *database.Work, recorder id.ID) *Entries {
	e := &Entries{Ledger: l.meta.Name}
	w.Queue("read entries in "+l.meta.Name, l.read, recorder).Rows(func(r pgx.Rows) error {
		var debit, credit Account
		var sum amount.Money
		err := r.Scan(append(append(debit.targets(), credit.targets()...), &sum)...)
		e.Add(debit, credit, sum)
		return err
	})
	return e
}

// Columns of an entry, without its amount: the debit side, then the credit side.
const Columns = "debit, debit_1, debit_2, debit_3, credit, credit_1, credit_2, credit_3"

// balanceBy are the key columns of a total.
const balanceBy = "account, analytic_1, analytic_2, analytic_3"

// sides are both sides of an entry e as totals see them.
const sides = `LATERAL (VALUES (e.debit, e.debit_1, e.debit_2, e.debit_3, e.amount, 0),
	(e.credit, e.credit_1, e.credit_2, e.credit_3, 0, e.amount)) AS s (` + balanceBy + `, debit, credit)`

// addExcluded is how an upsert changes a turnover t.
const addExcluded = "debit = t.debit + excluded.debit, credit = t.credit + excluded.credit"

// anySum is true for a group of sides with a non-zero sum.
const anySum = "sum(s.debit) <> 0 OR sum(s.credit) <> 0"

// monthOfEntry is the month of entry e, to whose turnovers it belongs.
const monthOfEntry = "date_trunc('month', e.period AT TIME ZONE 'UTC')::date"

func (a *Account) targets() []any {
	targets := []any{&a.Code}
	for i := range a.Analytics {
		targets = append(targets, &a.Analytics[i])
	}
	return targets
}

// columns of one side, each as an array, in the order of Columns.
func columns(args []any, accounts []Account) []any {
	codes := make([]string, len(accounts))
	var analytics [metadata.AnalyticsMax][]id.ID
	for n := range analytics {
		analytics[n] = make([]id.ID, len(accounts))
	}
	for row, a := range accounts {
		codes[row] = a.Code
		for n, v := range a.Analytics {
			analytics[n][row] = v
		}
	}
	args = append(args, codes)
	for _, column := range analytics {
		args = append(args, column)
	}
	return args
}

// Values of one side of an entry, in the order of Columns.
func (a Account) Values(args []any) []any {
	args = append(args, a.Code)
	for _, v := range a.Analytics {
		args = append(args, v)
	}
	return args
}
