package posting

import (
	"context"
	"slices"
	"time"

	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// classic posts as platforms of this kind do. For the same rules it asks the same questions under the same locks and
// writes the same rows; only the dialogue with the database differs:
//
//	BEGIN ─▶ key, is it there ─▶ locks ─▶ lines to temp tables ─▶ lists of values, elements
//	─▶ keys, balances, layers by temp tables ─▶ Rules.Record ─▶ header, sections row by row
//	─▶ of each register: kept, deleted, inserted and summed row by row, controlled ─▶ COMMIT
type classic struct{ *Books }

func newClassic(b *Books) classic { return classic{b} }

func (b classic) open(w *database.Work, k *kind, d *document.Document, isNew bool) {
	if isNew {
		k.store.Look(w, d)
	}
}

func (b classic) gather(ctx context.Context, w *database.Work, k *kind, d *document.Document, q question) (*Facts,
	error) {
	facts := &Facts{}
	b.lock(w, d, q)
	if q.references {
		if err := b.lists(ctx, w, k, d, facts); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(ctx); err != nil {
		return nil, err
	}
	return facts, b.underLocks(ctx, w, d, q, facts)
}

// lists reads what the document refers to: references of the header by value, references of sections by lists from the
// temp tables that hold the sections.
func (b classic) lists(ctx context.Context, w *database.Work, k *kind, d *document.Document, facts *Facts) error {
	*facts = *newFacts()
	laid, err := k.store.Lay(ctx, w, d)
	if err != nil {
		return err
	}
	for _, name := range k.order {
		values, columns := headerReferences(d, name), sectionReferences(d, laid, name)
		if len(columns) == 0 {
			facts.Catalogs[name] = k.readers[name].Read(w, d.Organisation, values)
		} else if facts.Catalogs[name], err = k.readers[name].ReadByTemp(ctx, w, d.Organisation, values,
			columns); err != nil {
			return err
		}
	}
	facts.Documents = make(map[string]*document.Referred, len(k.documents.order))
	for _, name := range k.documents.order {
		if facts.Documents[name], err = k.documents.readers[name].ReadByTemp(ctx, w, d.Organisation,
			referencesTo(d, name)); err != nil {
			return err
		}
	}
	return nil
}

func headerReferences(d *document.Document, to string) (values []id.ID) {
	for _, a := range d.Meta.Attributes {
		if !refers(a, to) {
			continue
		}
		if v := rowset.Column[id.ID](d.Header, a.Name)[0]; !v.IsZero() && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

func refers(a metadata.Attribute, to string) bool {
	return a.Type == metadata.Reference && a.Documents == nil && a.Catalog == to
}

func sectionReferences(d *document.Document, laid []*temptable.Table, to string) (columns []catalog.Column) {
	for i := range d.Meta.Sections {
		for _, a := range d.Meta.Sections[i].Attributes {
			if refers(a, to) {
				columns = append(columns, catalog.Column{Table: laid[i], Name: a.Name})
			}
		}
	}
	return columns
}

func (b classic) underLocks(ctx context.Context, w *database.Work, d *document.Document, q question,
	facts *Facts) (err error) {
	for _, n := range q.needs.Read {
		switch r, known := b.registers[n.Register], b.known[n.Register]; {
		case known != nil:
			facts.Information[n.name()], err = known.SliceByTemp(ctx, w, d.Recorder(), n.Keys)
		case r.Meta().Layered:
			facts.Layers[n.name()], err = r.LayersByTemp(ctx, w, d.Organisation, d.ID, n.Keys)
		default:
			facts.Balances[n.name()], err = r.BalancesByTemp(ctx, w, d.Organisation, n.Keys)
		}
		if err != nil {
			return err
		}
	}
	for i := range q.checks {
		c := &q.checks[i]
		if c.left, err = c.register.BalancesByTemp(ctx, w, d.Organisation, c.keys); err != nil {
			return err
		}
		if c.covered == nil {
			continue
		}
		if c.needed, err = c.covered.BalancesByTemp(ctx, w, d.Organisation, c.keys); err != nil {
			return err
		}
	}
	return nil
}

func (b classic) write(ctx context.Context, w *database.Work, k *kind, held, d *document.Document, before,
	after sets) error {
	k.store.WriteByRow(w, d, held == nil)
	was := d.Date
	if held != nil {
		was = held.Date
	}
	if !d.Posted && (held == nil || !held.Posted) {
		return nil // its record sets are empty and remain so
	}
	for _, name := range b.order {
		if !slices.Contains(k.meta.Registers, name) && !before.has(name) && !after.has(name) {
			continue // optional registers without records
		}
		if err := b.replace(ctx, w, name, d, was, before, after); err != nil {
			return err
		}
	}
	return nil
}

func (b classic) replace(ctx context.Context, w *database.Work, name string, d *document.Document, was time.Time,
	before, after sets) error {
	if known := b.known[name]; known != nil {
		return known.ReplaceByRow(ctx, w, d.Recorder(), after.recordsOf(known))
	}
	if r := b.registers[name]; r != nil {
		return r.ReplaceByRow(ctx, w, d.Recorder(), was, orNone(before.movements[name], r),
			orNone(after.movements[name], r))
	}
	return b.ledgers[name].ReplaceByRow(ctx, w, d.Recorder(), after.entriesOf(name))
}

// has says whether anything is recorded in a register.
func (s sets) has(name string) bool {
	records, movements, entries := s.records[name], s.movements[name], s.entries[name]
	return records != nil && records.Rows.Rows() > 0 || movements != nil && movements.Rows.Rows() > 0 ||
		entries != nil && len(entries.Amount) > 0
}
