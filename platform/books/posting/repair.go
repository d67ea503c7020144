package posting

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
)

// Registers whose record sets are to be written again.
func (e *Examined) Registers() (names []string) {
	differing := map[string]bool{}
	for part := range e.disputed() {
		differing[part.part] = true
	}
	for _, name := range e.books.order {
		if differing[name] {
			names = append(names, name)
		}
	}
	return names
}

// Keys of totals that the document's record sets are summed in, stored and made, in the registers to be written.
func (e *Examined) Keys() (movements map[string]*rowset.Table, accounts map[string][]ledger.Account) {
	movements, accounts = map[string]*rowset.Table{}, map[string][]ledger.Account{}
	for _, name := range e.Registers() {
		if r := e.books.registers[name]; r != nil {
			movements[name] = r.KeysOf(e.before.movements[name], e.after.movements[name])
		} else if l := e.books.ledgers[name]; l != nil {
			accounts[name] = l.AccountsOf(e.before.entries[name], e.after.entries[name])
		}
	}
	return movements, accounts
}

// Repair queues writing the document as its rules make it: attributes and lines that differ, and the record sets of the
// registers that differ, as a whole. Totals change only where they agree with what is stored: elsewhere they are
// already as the document requires, or something else under their keys is wrong, too. The caller holds the document.
func (e *Examined) Repair(w *database.Work) {
	if len(e.Own) > 0 {
		x := e.kind.store.Rewriter()
		x.Change(e.Document, e.made)
		x.Write(w)
	}
	recorder := e.Document.Recorder()
	for _, name := range e.Registers() {
		if known := e.books.known[name]; known != nil {
			known.Erase(w, recorder.ID)
			known.Replace(w, recorder, recorder.Period, information.NewRecords(known.Meta()), e.after.recordsOf(known))
			continue
		}
		follow := e.weighed[name].Keys > 0 && e.weighed[name].Stored == e.weighed[name].Keys
		if r := e.books.registers[name]; r != nil {
			before, after := orNone(e.before.movements[name], r), orNone(e.after.movements[name], r)
			r.Erase(w, recorder.ID)
			r.Insert(w, recorder, after)
			if follow {
				r.Follow(w, recorder, before, after)
			}
			continue
		}
		l, before, after := e.books.ledgers[name], e.before.entriesOf(name), e.after.entriesOf(name)
		l.Erase(w, recorder.ID)
		l.Insert(w, recorder, after)
		if follow {
			l.Follow(w, recorder, before, after)
		}
	}
}

// lockTotals of registers, in the order in which everybody writes them.
func (b *Books) lockTotals(w *database.Work, names []string) {
	for _, name := range b.order {
		if !slices.Contains(names, name) {
			continue
		}
		if r := b.registers[name]; r != nil {
			register.LockTotals(w, r.Meta().Totals())
		} else if l := b.ledgers[name]; l != nil {
			register.LockTotals(w, l.Meta().Totals())
			register.LockTotals(w, l.Meta().AccountTotals())
		}
	}
}

// Hold queues locking a document, so that nobody changes it or its record sets, or closes its month, until the
// transaction ends. The order of locks is that of closed.go.
func (b *Books) Hold(w *database.Work, kindName string, organisation, v id.ID) {
	k, mode := b.types[kindName], "_shared"
	if k.meta.ReopenHint != "" {
		mode = ""
	}
	w.Queue("hold period", "SELECT pg_advisory_xact_lock"+mode+"($1)", int64(lock.Of("period", organisation)))
	k.store.HoldMany(w, []id.ID{v}, false)
}

// Post posts a document of which nothing is recorded as its author would do now: by its rules, with controls, at the
// costs of today's layers. It returns the keys of its totals.
func (b *Books) Post(ctx context.Context, w *database.Work, e *Examined, key Key) ([]Mismatch, error) {
	d := e.Document
	_, err := b.change(ctx, w, e.kind, Change{Type: d.Meta.Name, Organisation: d.Organisation, Document: d.ID,
		State: Posted}, key)
	if err == nil {
		err = w.Flush(ctx)
	}
	if err != nil {
		return nil, b.refused(err)
	}
	again, err := b.Examine(ctx, w, d.Meta.Name, d.ID)
	if err != nil {
		return nil, err
	}
	return again.storedKeys(), nil
}

// storedKeys are the keys of totals that the stored record sets are summed in.
func (e *Examined) storedKeys() (all []Mismatch) {
	organisation := e.Document.Organisation
	for _, name := range e.books.order {
		if r := e.books.registers[name]; r != nil && e.before.movements[name] != nil {
			if keys := r.KeysOf(e.before.movements[name]); keys.Rows() > 0 {
				all = append(all, Mismatch{Register: name, Keys: map[id.ID]*rowset.Table{organisation: keys}})
			}
		} else if l := e.books.ledgers[name]; l != nil && len(e.before.entriesOf(name).Amount) > 0 {
			all = append(all, Mismatch{Register: name, Accounts: map[id.ID][]ledger.Account{
				organisation: l.AccountsOf(e.before.entriesOf(name))}})
		}
	}
	return all
}

// KeyTexts are the keys as the audit names them, up to the month.
func (m Mismatch) KeyTexts() (all []string) {
	for organisation, keys := range m.Keys {
		for row := range keys.Rows() {
			text := "organisation=" + organisation.String()
			for i := range keys.Attributes {
				text += fmt.Sprintf(" %s=%v", keys.Attributes[i].Name, keys.Value(i, row))
			}
			all = append(all, text)
		}
	}
	for organisation, accounts := range m.Accounts {
		for _, a := range accounts {
			text := "organisation=" + organisation.String() + " account=" + a.Code
			all = append(all, text)
			for _, v := range a.Analytics {
				text += " " + v.String()
			}
			all = append(all, text)
		}
	}
	return all
}
