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

// ReadMany queues reading the record sets of many recorders. Recorders without entries are left out.
func (l *Ledger) ReadMany(w *database.Work, recorders []id.ID) map[id.ID]*Entries {
	all := make(map[id.ID]*Entries, len(recorders))
	w.Queue("read entries in "+l.meta.Name, l.readMany, recorders).Rows(func(r pgx.Rows) error {
		var recorder id.ID
		var debit, credit Account
		var sum amount.Money
		err := r.Scan(append(append(append([]any{&recorder}, debit.targets()...), credit.targets()...), &sum)...)
		if all[recorder] == nil {
			all[recorder] = &Entries{Ledger: l.meta.Name}
		}
		all[recorder].Add(debit, credit, sum)
		return err
	})
	return all
}

// Rewriter gathers changes of many recorders' record sets, like register.Rewriter: each turnover, which everybody
// shares, is changed once, at the end.
type Rewriter struct {
	ledger *Ledger
	erased struct {
		recorders []id.ID
		lines     []int32
	}
	brought struct {
		recorders, organisations []id.ID
		types                    []string
		lines                    []int32
		periods                  []time.Time
		rows                     Entries
	}
	turnovers map[turnover]*sums
}

type turnover struct {
	organisation id.ID
	account      Account
	month        string
}

type sums struct{ debit, credit amount.Money }

// Rewriter makes an empty one.
func (l *Ledger) Rewriter() *Rewriter { return &Rewriter{ledger: l, turnovers: map[turnover]*sums{}} }

// Replace is a buffered Ledger.Replace.
func (x *Rewriter) Replace(recorder register.Recorder, was time.Time, before, after *Entries) {
	c := differences(recorder, was, before, after)
	for _, line := range c.erased {
		x.erased.recorders, x.erased.lines = append(x.erased.recorders, recorder.ID), append(x.erased.lines, line)
	}
	b := &x.brought
	for i, line := range c.lines {
		for _, month := range []string{c.periods[i].UTC().Format("2006-01") + "-01", "infinity"} {
			x.turnover(recorder.Organisation, c.rows.Debit[i], month).debit += c.rows.Amount[i]
			x.turnover(recorder.Organisation, c.rows.Credit[i], month).credit += c.rows.Amount[i]
		}
		if line > 0 { // removed entries are deleted, not stored
			b.recorders, b.organisations, b.types = append(b.recorders, recorder.ID),
				append(b.organisations, recorder.Organisation), append(b.types, recorder.Type)
			b.lines, b.periods = append(b.lines, line), append(b.periods, c.periods[i])
			b.rows.Add(c.rows.Debit[i], c.rows.Credit[i], c.rows.Amount[i])
		}
	}
}

func (x *Rewriter) turnover(organisation id.ID, account Account, month string) *sums {
	key := turnover{organisation, account, month}
	if x.turnovers[key] == nil {
		x.turnovers[key] = &sums{}
	}
	return x.turnovers[key]
}

// Entries is how many rows Write would write.
func (x *Rewriter) Entries() int { return len(x.erased.lines) + len(x.brought.lines) }

// Write queues the entries gathered so far; turnovers stay gathered.
func (x *Rewriter) Write(w *database.Work) {
	if len(x.erased.lines) > 0 {
		w.Queue("delete from "+x.ledger.meta.Name, x.ledger.eraseMany, x.erased.recorders, x.erased.lines)
	}
	if b := &x.brought; len(b.lines) > 0 {
		args := columns(columns([]any{b.recorders, b.lines, b.types, b.organisations, b.periods}, b.rows.Debit),
			b.rows.Credit)
		w.Queue("enter in "+x.ledger.meta.Name, x.ledger.insertMany, append(args, b.rows.Amount)...)
	}
	kept := x.turnovers
	*x = *x.ledger.Rewriter()
	x.turnovers = kept
}

// WriteTotals queues the changes of turnovers, in the order that everybody uses.
func (x *Rewriter) WriteTotals(w *database.Work) {
	var organisations []id.ID
	var accounts []Account
	var months []string
	var debits, credits []amount.Money
	for key, s := range x.turnovers {
		if s.debit != 0 || s.credit != 0 {
			organisations, accounts, months = append(organisations, key.organisation), append(accounts, key.account),
				append(months, key.month)
			debits, credits = append(debits, s.debit), append(credits, s.credit)
		}
	}
	x.turnovers = map[turnover]*sums{}
	if len(months) > 0 {
		split := int(w.Backend()) % x.ledger.meta.Splits
		args := columns([]any{split, organisations, months, debits, credits}, accounts)
		w.Queue("change turnovers of "+x.ledger.meta.Name, x.ledger.addMany, args...)
		w.Queue("change turnovers of accounts of "+x.ledger.meta.Name, x.ledger.addAccounts, args[:6]...)
	}
}

func (l *Ledger) rewriterSQL(meta *metadata.Accounting) {
	l.readMany = fmt.Sprintf("SELECT recorder, %s, amount FROM %s WHERE recorder = ANY ($1::uuid[]) ORDER BY "+
		"recorder, line", Columns, meta.Table())
	l.eraseMany = fmt.Sprintf("DELETE FROM %s m USING unnest($1::uuid[], $2::integer[]) AS g (recorder, line) "+
		"WHERE m.recorder = g.recorder AND m.line = g.line", meta.Table())
	l.insertMany = statement.SQL(`INSERT INTO {entries}
	(recorder, line, recorder_type, organisation, period, {columns}, amount)
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::uuid[], $5::timestamptz[],
	$6::text[], $7::uuid[], $8::uuid[], $9::uuid[],
	$10::text[], $11::uuid[], $12::uuid[], $13::uuid[], $14::numeric[])`,
		statement.Names{"entries": meta.Table(), "columns": Columns})
	l.addMany = statement.SQL(`INSERT INTO {totals} AS t (organisation, {key}, period, split, debit, credit)
SELECT organisation, {key}, period::date, $1, m.debit, m.credit
FROM unnest($2::uuid[], $3::text[], $4::numeric[], $5::numeric[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[])
	AS m (organisation, period, debit, credit, {key})
ORDER BY organisation, {key}, period::date
ON CONFLICT (organisation, {key}, period, split) DO UPDATE SET {add}`, statement.Names{
		"totals": meta.Totals(), "key": balanceBy, "add": addExcluded,
	})
	l.addAccounts = statement.SQL(`INSERT INTO {totals} AS t (organisation, account, period, split, debit, credit)
SELECT organisation, account, period::date, $1, sum(m.debit), sum(m.credit)
FROM unnest($2::uuid[], $3::text[], $4::numeric[], $5::numeric[], $6::text[])
	AS m (organisation, period, debit, credit, account)
WHERE period <> 'infinity' GROUP BY organisation, account, period HAVING sum(m.debit) <> 0 OR sum(m.credit) <> 0
ORDER BY organisation, account, period::date
ON CONFLICT (organisation, account, period, split) DO UPDATE SET {add}`, statement.Names{
		"totals": meta.AccountTotals(), "add": addExcluded,
	})
}
