package posting

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
)

// Examined is a document and what its rules make of it.
type Examined struct {
	Document *document.Document // as stored
	// Own differences are of header and lines, Recorded ones of record sets.
	Own, Recorded []Difference
	// Refused: the rules reject the document, so nothing can be derived from it.
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
	exists := false
	w.Queue("look for "+kindName, "SELECT true FROM "+k.meta.Table()+" WHERE id = $1", v).
		Rows(func(r pgx.Rows) error { return r.Scan(&exists) })
	if err := w.Flush(ctx); err != nil || !exists {
		return nil, err
	}
	one := []id.ID{v}
	headers, stored := k.store.ReadMany(w, one), b.storedSets(w, k, one)
	e := &Examined{books: b, kind: k}
	w.Queue("read versions", k.versions, v).Rows(func(r pgx.Rows) error {
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
		parts = append(parts, statement.SQL("SELECT '{register}', m.n, m.number, (m.recorder_type, "+
			"m.organisation, m.period) IS NOT DISTINCT FROM ('{type}', d.organisation, d.date) FROM (SELECT *, "+
			"row_number() OVER (ORDER BY line)::integer AS n, xmin::text::bigint AS number FROM {records} "+
			"WHERE recorder = $1) m LEFT JOIN {documents} d ON d.id = $1", statement.Names{"register": name,
			"type": k.meta.Name, "records": b.table(name), "documents": k.meta.Table()}))
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

// NothingRecorded says that nothing at all of a posted document is recorded.
func (e *Examined) NothingRecorded() bool {
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

// WrittenAtOnce says that one transaction wrote the header and all lines, of which there are some: the document has not
// been changed since.
func (e *Examined) WrittenAtOnce() bool {
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
