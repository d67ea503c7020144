package posting

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// All months.
var (
	earliestMonth = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	latestMonth   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Mismatch is what totals of a register do not agree with its movements under, by organisation.
type Mismatch struct {
	Register string
	Keys     map[id.ID]*rowset.Table
	Accounts map[id.ID][]ledger.Account
}

// Len counts the keys.
func (m Mismatch) Len() (n int) {
	for _, keys := range m.Keys {
		n += keys.Rows()
	}
	for _, accounts := range m.Accounts {
		n += len(accounts)
	}
	return n
}

// Mismatched finds the keys of a register, or the accounts of a ledger, whose totals are not the sums of what moved
// them.
func (b *Books) Mismatched(ctx context.Context, w *database.Work, name string) (m Mismatch, err error) {
	m.Register = name
	if r := b.registers[name]; r != nil {
		m.Keys = r.Mismatched(w)
	} else {
		m.Accounts = b.ledgers[name].Mismatched(w)
	}
	return m, w.Flush(ctx)
}

// LockTotals queues keeping out everyone who changes totals of a register.
func (b *Books) LockTotals(w *database.Work, name string) { b.lockTotals(w, []string{name}) }

// Resum queues making totals the sums of what moved them. The totals are locked.
func (b *Books) Resum(w *database.Work, m Mismatch) {
	for organisation, keys := range m.Keys {
		b.registers[m.Register].Resum(w, organisation, keys)
	}
	for organisation, accounts := range m.Accounts {
		b.ledgers[m.Register].Resum(w, organisation, earliestMonth, latestMonth, accounts)
	}
}

// Totals that a proof of a repair is about: their rows t, as FROM of a statement with arguments.
type Totals struct {
	Table, From string
	Args        []any
}

// TotalsUnder are the totals under the keys of a mismatch.
func (b *Books) TotalsUnder(m Mismatch) (all []Totals) {
	for organisation, keys := range m.Keys {
		r := b.registers[m.Register]
		from, args := r.TotalsUnder(organisation, keys)
		all = append(all, Totals{r.Meta().Totals(), from, args})
	}
	for organisation, accounts := range m.Accounts {
		l := b.ledgers[m.Register]
		from, args := l.TotalsUnder(organisation, accounts)
		all = append(all, Totals{l.Meta().Totals(), from + " WHERE t.organisation = $1", args},
			Totals{l.Meta().AccountTotals(), l.Meta().AccountTotals() + " t WHERE t.organisation = $1 AND " +
				"t.account = ANY ($2::text[])", []any{organisation, codes(accounts)}})
	}
	return all
}

func codes(accounts []ledger.Account) []string {
	var all []string
	for _, a := range accounts {
		all = append(all, a.Code)
	}
	return all
}

// Mismatches that repairing a document may leave or remove: everything under the keys of its record sets.
func (e *Examined) Mismatches() (all []Mismatch) {
	movements, accounts := e.Keys()
	organisation := e.Document.Organisation
	for _, name := range e.Registers() {
		switch {
		case movements[name] != nil:
			all = append(all, Mismatch{Register: name, Keys: map[id.ID]*rowset.Table{organisation: movements[name]}})
		case accounts[name] != nil:
			all = append(all, Mismatch{Register: name,
				Accounts: map[id.ID][]ledger.Account{organisation: accounts[name]}})
		}
	}
	return all
}

// AllKeys is the keys of totals of all record sets of the document, stored and made.
func (e *Examined) AllKeys() []Mismatch { return append(e.Mismatches(), e.storedKeys()...) }

// RegistersWithTotals are the registers and ledgers that keep totals, in the order in which everybody writes them.
func (b *Books) RegistersWithTotals() (names []string) {
	for _, name := range b.order {
		if b.known[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// Tables of record sets, by register.
func (b *Books) Tables() map[string]string {
	all := map[string]string{}
	for _, name := range b.order {
		all[name] = b.table(name)
	}
	return all
}

// RecordedBy are the keys of totals that a recorder's rows in registers belong to, in whatever organisation.
func (b *Books) RecordedBy(ctx context.Context, w *database.Work, registers []string, recorder id.ID) (all []Mismatch,
	err error) {
	for _, name := range registers {
		if b.known[name] != nil {
			continue
		}
		var organisations []id.ID
		w.Queue("read organisations", "SELECT DISTINCT organisation FROM "+b.table(name)+" WHERE recorder = $1",
			recorder).Rows(func(r pgx.Rows) error {
			var v id.ID
			err := r.Scan(&v)
			organisations = append(organisations, v)
			return err
		})
		m := Mismatch{Register: name, Keys: map[id.ID]*rowset.Table{}, Accounts: map[id.ID][]ledger.Account{}}
		if r := b.registers[name]; r != nil {
			moved := r.Read(w, recorder)
			if err := w.Flush(ctx); err != nil {
				return nil, err
			}
			for _, organisation := range organisations {
				m.Keys[organisation] = r.KeysOf(moved)
			}
		} else {
			entries := b.ledgers[name].Read(w, recorder)
			if err := w.Flush(ctx); err != nil {
				return nil, err
			}
			for _, organisation := range organisations {
				m.Accounts[organisation] = b.ledgers[name].AccountsOf(entries)
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// Without leaves out the keys of some texts; see KeyTexts.
func (m Mismatch) Without(texts map[string]bool) Mismatch {
	left := Mismatch{Register: m.Register, Keys: map[id.ID]*rowset.Table{}, Accounts: map[id.ID][]ledger.Account{}}
	for organisation, keys := range m.Keys {
		for row := range keys.Rows() {
			one := rowset.New(keys.Attributes, 1)
			one.Add(keys, []int{row})
			text := Mismatch{Keys: map[id.ID]*rowset.Table{organisation: one}}.KeyTexts()[0]
			switch {
			case texts[text]:
			case left.Keys[organisation] == nil:
				left.Keys[organisation] = one
			default:
				left.Keys[organisation].Add(one, []int{0})
			}
		}
	}
	for organisation, accounts := range m.Accounts {
		for _, a := range accounts {
			accountTexts := Mismatch{Accounts: map[id.ID][]ledger.Account{organisation: {a}}}.KeyTexts()
			if !texts[accountTexts[len(accountTexts)-1]] {
				left.Accounts[organisation] = append(left.Accounts[organisation], a)
			}
		}
	}
	return left
}

// MarkBoundary queues moving the boundary of a layered register back to a document, under the keys that it has taken
// from.
func (b *Books) MarkBoundary(w *database.Work, name string, d *document.Document) {
	m := b.registers[name].Meta()
	leading := make([]string, len(m.Leading()))
	for i, a := range m.Leading() {
		leading[i] = a.Name
	}
	w.Queue("mark boundary of "+name, statement.SQL(`INSERT INTO {boundary} AS b (organisation, {leading}, moment)
SELECT DISTINCT organisation, {leading}, $2::timestamptz FROM {movements} WHERE recorder = $1
ON CONFLICT (organisation, {leading}) DO UPDATE SET moment = excluded.moment WHERE excluded.moment < b.moment`,
		statement.Names{"boundary": m.Boundary(), "movements": m.Table(), "leading": strings.Join(leading, ", ")}),
		d.ID, d.Date)
}

// IdleBoundariesSQL deletes the boundaries of an organisation under whose keys nothing was ever moved, and those that
// lie at no document.
func IdleBoundariesSQL(app *metadata.Application, m *metadata.Accumulation) string {
	var same []string
	for _, a := range m.Leading() {
		same = append(same, "m."+a.Name+" = b."+a.Name)
	}
	return statement.SQL(`DELETE FROM {boundary} b WHERE organisation = $1 AND (NOT EXISTS (SELECT FROM {movements} m
	WHERE m.organisation = b.organisation AND {same}) OR NOT ({explained}))`, statement.Names{
		"boundary": m.Boundary(), "movements": m.Table(), "same": strings.Join(same, " AND "),
		"explained": register.ExplainedSQL(app, m),
	})
}
