// Package ledger owns accounting registers: double entry, and totals kept in the same statement.
// An entry debits one account and credits another with one amount, so the two sides cannot come apart. Totals are debit and credit turnovers by
// month and, in the period 'infinity', of all time; they are spread over splits that readers sum. An account may be kept by a hundred thousand contracts: so
// that who asks for the account need not sum them, there are turnovers of whole accounts too, by month.
package ledger

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
)

// Account is one side of an entry: an account of the chart and, in the order it says, what it is kept by.
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

// entriesUsual are what a document has.
const entriesUsual = 3

// Add appends an entry.
func (e *Entries) Add(debit, credit Account, sum amount.Money) {
	if e.Amount == nil {
		e.Debit, e.Credit, e.Amount = make([]Account, 0, entriesUsual), make([]Account, 0, entriesUsual), make([]amount.Money, 0, entriesUsual)
	}
	e.Debit, e.Credit, e.Amount = append(e.Debit, debit), append(e.Credit, credit), append(e.Amount, sum)
}

// Ledger reads and writes one accounting register; its statements are made once.
type Ledger struct {
	meta               *metadata.Accounting
	write, erase, read string
	classic            *classic

	readMany, eraseMany, insertMany, addMany, addAccounts string
}

// New makes the statements.
func New(meta *metadata.Accounting) *Ledger {
	l := &Ledger{
		meta: meta, write: writeSQL(meta), classic: newClassic(meta),
		erase: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table()),
		read:  fmt.Sprintf("SELECT %s, amount FROM %s WHERE recorder = $1 ORDER BY line", Columns, meta.Table()),
	}
	l.rewriterSQL(meta)
	return l
}

// Read queues the reading of a recorder's record set, in the order of its lines.
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

// balanceBy are the columns of a total that say whose it is.
const balanceBy = "account, analytic_1, analytic_2, analytic_3"

// sides are both sides of an entry e as totals see them.
const sides = `LATERAL (VALUES (e.debit, e.debit_1, e.debit_2, e.debit_3, e.amount, 0), (e.credit, e.credit_1, e.credit_2, e.credit_3, 0, e.amount)) AS s (` + balanceBy + `, debit, credit)`

// monthOfEntry e, whose turnovers it belongs to.
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
