package posting

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/ledger"
	"plimsoll/platform/lock"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Witness says which side of a contradiction between a document and its record sets was changed past the rules.
type Witness string

const (
	Silent    Witness = ""          // it cannot tell
	Rows      Witness = "rows"      // the record sets: what the rules make of the document is confirmed
	Papers    Witness = "document"  // the document: its record sets are confirmed
	Undecided Witness = "undecided" // some say this, some that
)

// Examined is a document beside what its rules make of it.
type Examined struct {
	Document *document.Document // as stored
	// Own differences are of header and lines, Recorded ones of record sets.
	Own, Recorded []Difference
	// Refused: the rules cannot be asked, so nothing can be made of the document.
	Refused bool
	// Misplaced registers hold rows of the document with another organisation, time or type.
	Misplaced []string
	// Totals and Writes are two independent witnesses. Totals were added up when the record sets were written. A
	// document is written in one transaction with its record sets; what has another number was written later.
	Totals, Writes Witness

	books   *Books
	kind    *kind
	made    *document.Document
	before  sets
	after   sets
	written []version
	weighed map[string]*register.Weighed
}

// version of a row of a document.
type version struct {
	part   string // "" is the header, a section, or a register
	line   int    // place in the order of the lines, from 1
	number int64  // of the transaction
	placed bool
}

// Examine reads a document with its record sets, derives it, and asks the witnesses. Nil: there is no such document.
func (b *Books) Examine(ctx context.Context, w *database.Work, kindName string, v id.ID) (*Examined, error) {
	k := b.types[kindName]
	if k == nil {
		return nil, fmt.Errorf("examine %s: it has no rules", kindName)
	}
	there := false
	w.Queue("look for "+kindName, "SELECT true FROM "+k.meta.Table()+" WHERE id = $1", v).
		Rows(func(r pgx.Rows) error { return r.Scan(&there) })
	if err := w.Flush(ctx); err != nil || !there {
		return nil, err
	}
	one := []id.ID{v}
	headers, stored := k.store.ReadMany(w, one), b.storedSets(w, k, one)
	e := &Examined{books: b, kind: k}
	w.Queue("read versions", b.versionsSQL(k), v).Rows(func(r pgx.Rows) error {
		var row version
		err := r.Scan(&row.part, &row.line, &row.number, &row.placed)
		e.written = append(e.written, row)
		return err
	})
	if err := w.Flush(ctx); err != nil {
		return nil, err
	}
	e.Document, e.before, e.after = headers[v], stored(v), b.sets(&Records{})
	if e.Document.Posted {
		some := []*document.Document{e.Document}
		elements := k.elements(w, e.Document.Organisation, some...)
		referred := k.documents.readMany(w, e.Document.Organisation, some)
		if err := w.Flush(ctx); err != nil {
			return nil, err
		}
		m := b.remake(k, e.Document, e.before, elements, referred)
		e.Own, e.Recorded, e.Refused, e.made = m.own, m.recorded, m.refused, m.document
		if !m.refused {
			e.after = m.sets
		}
	} else {
		b.compareSets(e.after, e.before, func(field, expected, found string) {
			e.Recorded = append(e.Recorded, Difference{e.Document, field, expected, found})
		})
	}
	for _, row := range e.written {
		if !row.placed && !slices.Contains(e.Misplaced, row.part) {
			e.Misplaced = append(e.Misplaced, row.part)
		}
	}
	if e.Refused {
		return e, nil
	}
	e.Writes = e.witnessWrites()
	return e, e.witnessTotals(ctx, w)
}

// versionsSQL selects the transaction that wrote each row of a document.
func (b *Books) versionsSQL(k *kind) string {
	parts := []string{"SELECT '', 0, xmin::text::bigint, true FROM " + k.meta.Table() + " WHERE id = $1"}
	for i := range k.meta.Sections {
		s := &k.meta.Sections[i]
		parts = append(parts, fmt.Sprintf("SELECT '%s', row_number() OVER (ORDER BY line)::integer, "+
			"xmin::text::bigint, true FROM %s WHERE document = $1", s.Name, k.meta.SectionTable(s)))
	}
	for _, name := range k.meta.Recorded() {
		parts = append(parts, fmt.Sprintf("SELECT '%[1]s', m.n, m.number, (m.recorder_type, "+
			"m.organisation, m.period) IS NOT DISTINCT FROM ('%[2]s', d.organisation, d.date) FROM (SELECT *, "+
			"row_number() OVER (ORDER BY line)::integer AS n, xmin::text::bigint AS number FROM %[3]s "+
			"WHERE recorder = $1) m LEFT JOIN %[4]s d ON d.id = $1", name, k.meta.Name, b.table(name), k.meta.Table()))
	}
	return strings.Join(parts, "\nUNION ALL ")
}

func (b *Books) table(name string) string {
	switch {
	case b.known[name] != nil:
		return b.known[name].Meta().Table()
	case b.registers[name] != nil:
		return b.registers[name].Meta().Table()
	}
	return b.ledgers[name].Meta().Table()
}

// disputed are the stored rows that differ from what the rules make, by register and place; place 0 is a missing row.
func (e *Examined) disputed() map[version]bool {
	all := map[version]bool{}
	for _, d := range e.Recorded {
		name, place, _ := strings.Cut(d.Field, " ")
		place, _, _ = strings.Cut(place, ".")
		line, _ := strconv.Atoi(place)
		all[version{part: name, line: line}] = true
	}
	for _, row := range e.written {
		if !row.placed {
			all[version{part: row.part, line: row.line}] = true
		}
	}
	return all
}

// after says whether a transaction is later than another one; their numbers go in a circle.
func after(a, b int64) bool { return int32(uint32(a)-uint32(b)) > 0 }

// witnessWrites compares the numbers of the transactions that wrote the rows. The usual one is that of most rows. Who
// writes a document and all its lines past the rules makes most rows himself: then the record sets are the older ones.
func (e *Examined) witnessWrites() Witness {
	disputed, count, papers := e.disputed(), map[int64]int{}, 0
	usual, header := int64(0), int64(0)
	for _, row := range e.written {
		count[row.number]++
		if row.part == "" {
			header = row.number
		}
	}
	for _, row := range e.written {
		if count[row.number] > count[usual] || count[row.number] == count[usual] && row.number == header {
			usual = row.number
		}
	}
	own := map[string]bool{"": true}
	for i := range e.kind.meta.Sections {
		own[e.kind.meta.Sections[i].Name] = true
	}
	there, sameRows, otherPapers, agreeing, older, olderAgree := 0, 0, 0, 0, 0, 0
	for _, row := range e.written {
		switch {
		case own[row.part]:
			papers++
			if row.number != usual {
				otherPapers++
			}
		case disputed[version{part: row.part, line: row.line}]:
			there++
			switch {
			case row.number == usual:
				sameRows++
			case after(usual, row.number):
				older++
			}
		case row.number == usual:
			agreeing++
		case after(usual, row.number):
			olderAgree++
		}
	}
	switch {
	case len(disputed) == 0 || count[usual] < 2:
		return Silent
	case otherPapers == 0 && (older > 0 || there == 0 && olderAgree > 0):
		return Silent
	case otherPapers == 0 && sameRows == 0 && agreeing+papers > 1:
		return Rows
	case otherPapers > 0 && there > 0 && sameRows == there:
		return Papers
	}
	return Silent
}

// witnessTotals asks the totals of the document's month.
func (e *Examined) witnessTotals(ctx context.Context, w *database.Work) error {
	by := e.Document.Recorder()
	e.weighed = map[string]*register.Weighed{}
	for _, name := range e.kind.meta.Recorded() {
		if r := e.books.registers[name]; r != nil {
			e.weighed[name] = r.Weigh(w, by, orNone(e.before.movements[name], r), orNone(e.after.movements[name], r))
		} else if l := e.books.ledgers[name]; l != nil {
			e.weighed[name] = l.Weigh(w, by, e.before.entriesOf(name), e.after.entriesOf(name))
		}
	}
	if err := w.Flush(ctx); err != nil {
		return err
	}
	e.Totals = say(e.weighed)
	return nil
}

// say what totals say of all registers together.
func say(weighed map[string]*register.Weighed) Witness {
	keys, stored, made := 0, 0, 0
	for _, one := range weighed {
		keys, stored, made = keys+one.Keys, stored+one.Stored, made+one.Made
	}
	switch {
	case keys == 0:
	case made == keys:
		return Rows
	case stored == keys:
		return Papers
	case stored > 0 && made > 0:
		return Undecided
	}
	return Silent
}

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

// Mend queues writing the document as its rules make it: attributes and lines that differ, and the record sets of the
// registers that differ, as a whole. Totals change only where they agree with what is stored: elsewhere they are as the
// document wants them, or something else under their keys is wrong, too. The caller holds the document.
func (e *Examined) Mend(w *database.Work) {
	if len(e.Own) > 0 {
		x := e.kind.store.Rewriter()
		x.Change(e.Document, e.made)
		x.Write(w)
	}
	by := e.Document.Recorder()
	for _, name := range e.Registers() {
		if known := e.books.known[name]; known != nil {
			known.Erase(w, by.ID)
			known.Replace(w, by, by.Period, information.NewRecords(known.Meta()), e.after.recordsOf(known))
			continue
		}
		follow := e.weighed[name].Keys > 0 && e.weighed[name].Stored == e.weighed[name].Keys
		if r := e.books.registers[name]; r != nil {
			before, after := orNone(e.before.movements[name], r), orNone(e.after.movements[name], r)
			r.Erase(w, by.ID)
			r.Insert(w, by, after)
			if follow {
				r.Follow(w, by, before, after)
			}
			continue
		}
		l, before, after := e.books.ledgers[name], e.before.entriesOf(name), e.after.entriesOf(name)
		l.Erase(w, by.ID)
		l.Insert(w, by, after)
		if follow {
			l.Follow(w, by, before, after)
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

// Bare says that nothing at all of a posted document is recorded.
func (e *Examined) Bare() bool {
	if !e.Document.Posted {
		return false
	}
	for _, name := range e.kind.meta.Recorded() {
		if known := e.books.known[name]; known != nil && e.before.recordsOf(known).Rows.Rows() > 0 {
			return false
		}
		if r := e.books.registers[name]; r != nil && orNone(e.before.movements[name], r).Rows.Rows() > 0 {
			return false
		}
		if e.books.ledgers[name] != nil && len(e.before.entriesOf(name).Amount) > 0 {
			return false
		}
	}
	return true
}

// Together says that one transaction wrote the header and all lines, of which there are some: nobody has changed the
// document since.
func (e *Examined) Together() bool {
	numbers, rows := map[int64]bool{}, 0
	for _, row := range e.written {
		if e.books.isRegister(row.part) {
			continue
		}
		numbers[row.number] = true
		rows++
	}
	return rows > 1 && len(numbers) == 1
}

// isRegister says whether a part of a document is what it has recorded in a register.
func (b *Books) isRegister(part string) bool { return slices.Contains(b.order, part) }

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
	return again.everything(), nil
}

// everything that the document has recorded, by the keys of its totals.
func (e *Examined) everything() (all []Mismatch) {
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

// Texts are the keys as the audit names them, up to the month.
func (m Mismatch) Texts() (all []string) {
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
			of := "organisation=" + organisation.String() + " account=" + a.Code
			all = append(all, of)
			for _, v := range a.Analytics {
				of += " " + v.String()
			}
			all = append(all, of)
		}
	}
	return all
}
