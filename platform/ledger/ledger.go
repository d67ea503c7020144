// Package ledger owns accounting registers: double entry, and totals kept in the same statement.
// An entry debits one account and credits another with one amount, so the two sides cannot come apart. Totals are debit and credit turnovers by
// month and, in the period 'infinity', of all time; they are spread over splits that readers sum.
package ledger

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
)

// Entries is the record set of one recorder: columns of equal length.
type Entries struct {
	Ledger        string
	Debit, Credit []string
	Amount        []amount.Money
}

// Add appends an entry.
func (e *Entries) Add(debit, credit string, sum amount.Money) {
	e.Debit, e.Credit, e.Amount = append(e.Debit, debit), append(e.Credit, credit), append(e.Amount, sum)
}

// Ledger reads and writes one accounting register; its statements are made once.
type Ledger struct {
	meta               *metadata.Accounting
	write, erase, read string

	readMany, eraseMany, insertMany, addMany string
}

// New makes the statements.
func New(meta *metadata.Accounting) *Ledger {
	l := &Ledger{
		meta: meta, write: writeSQL(meta),
		erase: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table()),
		read:  fmt.Sprintf("SELECT debit, credit, amount FROM %s WHERE recorder = $1 ORDER BY line", meta.Table()),
	}
	l.rewriterSQL(meta)
	return l
}

// Read queues the reading of a recorder's record set, in the order of its lines.
func (l *Ledger) Read(w *database.Work, recorder id.ID) *Entries {
	e := &Entries{Ledger: l.meta.Name}
	w.Queue("read entries in "+l.meta.Name, l.read, recorder).Rows(func(r pgx.Rows) error {
		var debit, credit string
		var sum amount.Money
		err := r.Scan(&debit, &credit, &sum)
		e.Add(debit, credit, sum)
		return err
	})
	return e
}

// TurnoverSQL is a subquery with the debit and credit of each account that had any before a moment: the
// turnovers of the months before, and the entries of its month up to it. $1 is the organisation; moment is an expression of the statement.
func TurnoverSQL(meta *metadata.Accounting, moment string) string {
	month := "date_trunc('month', " + moment + "::timestamptz AT TIME ZONE 'UTC')"
	within := fmt.Sprintf("organisation = $1 AND period >= %s AT TIME ZONE 'UTC' AND period < %s", month, moment)
	return fmt.Sprintf(`(SELECT account, sum(debit) AS debit, sum(credit) AS credit FROM (
	SELECT account, debit, credit FROM %[1]s WHERE organisation = $1 AND period < %[2]s::date
	UNION ALL
	SELECT debit, amount, 0 FROM %[3]s WHERE %[4]s
	UNION ALL
	SELECT credit, 0, amount FROM %[3]s WHERE %[4]s
) AS parts GROUP BY account HAVING sum(debit) <> 0 OR sum(credit) <> 0)`, meta.Totals(), month, meta.Table(), within)
}
