package document

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// many are the statements for many documents at once.
type many struct{ hold, read, change string }

func newMany(meta *metadata.Document) many {
	columns := []string{"id", "organisation", "number", "date", "author", "comment", "posted", "version"}
	changed := append([]metadata.Attribute{{Name: "id", Type: metadata.Reference}}, meta.Attributes...)
	var attributes []string
	for _, a := range meta.Attributes {
		attributes = append(attributes, a.Name)
	}
	columns = append(columns, attributes...)
	sets := append([]string{"version = d.version + 1"}, statement.Each(attributes, "{name} = n.{name}", ", "))
	if len(attributes) == 0 {
		sets = sets[:1]
	}
	return many{
		hold: fmt.Sprintf("SELECT id FROM %s WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE", meta.Table()),
		read: fmt.Sprintf("SELECT %s FROM %s WHERE id = ANY ($1::uuid[])", strings.Join(columns, ", "), meta.Table()),
		change: statement.SQL("UPDATE {headers} d SET {sets} FROM unnest({values}) AS n ({columns}) WHERE d.id = n.id",
			statement.Names{
				"headers": meta.Table(), "sets": strings.Join(sets, ", "), "values": rowset.Parameters(1, changed),
				"columns": strings.Join(append([]string{"id"}, attributes...), ", "),
			}),
	}
}

// HoldMany queues locking documents, always in the same order. It fails at once if another transaction has locked one.
func (s *Store) HoldMany(w *database.Work, documents []id.ID, atOnce bool) {
	statement := s.many.hold
	if atOnce {
		statement += " NOWAIT"
	}
	w.Queue("hold "+s.meta.Name, statement, documents)
}

// ReadMany queues reading documents that are locked already.
func (s *Store) ReadMany(w *database.Work, documents []id.ID) map[id.ID]*Document {
	all := make(map[id.ID]*Document, len(documents))
	w.Queue("read "+s.meta.Name, s.many.read, documents).Rows(func(r pgx.Rows) error {
		d := New(s.meta)
		targets := []any{&d.ID, &d.Organisation, &d.Number, &d.Date, &d.Author, &d.Comment, &d.Posted, &d.Version}
		for i := range s.meta.Attributes {
			targets = append(targets, d.Header.Cell(i, 0))
		}
		err := r.Scan(targets...)
		d.Date = d.Date.UTC()
		all[d.ID] = d
		return err
	})
	for i := range s.sections {
		w.Queue("rows of "+s.meta.Name, s.sections[i].loadMany, documents).Rows(func(r pgx.Rows) error {
			var document id.ID
			attributes := s.meta.Sections[i].Attributes
			targets := make([]any, 1+len(attributes))
			targets[0] = &document
			if err := r.Scan(targets...); err != nil {
				return err
			}
			into := all[document].Sections[i]
			row := into.Grow(1)
			targets[0] = nil
			for a := range attributes {
				targets[1+a] = into.Cell(a, row)
			}
			return r.Scan(targets...)
		})
	}
	return all
}

// Rewriter gathers changes of attributes and sections of many documents that otherwise stay as they are.
type Rewriter struct {
	store    *Store
	changed  []id.ID
	headers  *rowset.Table
	sections []sectionChanges
}

type sectionChanges struct {
	erased, brought           []id.ID
	organisations             []id.ID
	erasedLines, broughtLines []int32
	rows                      *rowset.Table
}

// Rewriter makes an empty one.
func (s *Store) Rewriter() *Rewriter {
	x := &Rewriter{store: s, headers: rowset.New(s.meta.Attributes, 0)}
	for i := range s.meta.Sections {
		x.sections = append(x.sections, sectionChanges{rows: rowset.New(s.meta.Sections[i].Attributes, 0)})
	}
	return x
}

// Change is a buffered Store.Change; a document without differences is skipped.
func (x *Rewriter) Change(held, d *Document) {
	differs := !held.Header.Same(0, d.Header, 0)
	for i := range x.sections {
		c := &x.sections[i]
		gone, come := rowset.Difference(held.Sections[i], d.Sections[i])
		differs = differs || len(gone) > 0 || len(come) > 0
		for _, line := range rowset.Lines(gone) {
			c.erased, c.erasedLines = append(c.erased, d.ID), append(c.erasedLines, line)
		}
		for _, line := range rowset.Lines(come) {
			c.brought, c.broughtLines, c.organisations = append(c.brought, d.ID), append(c.broughtLines, line),
				append(c.organisations, d.Organisation)
		}
		c.rows.Add(d.Sections[i], come)
	}
	if differs {
		x.changed = append(x.changed, d.ID)
		x.headers.Add(d.Header, []int{0})
	}
}

// Documents is how many Write would change.
func (x *Rewriter) Documents() int { return len(x.changed) }

// Write queues what was gathered.
func (x *Rewriter) Write(w *database.Work) {
	name := x.store.meta.Name
	if len(x.changed) > 0 {
		w.Queue("change "+name, x.store.many.change, x.headers.Arrays([]any{x.changed})...)
	}
	for i := range x.sections {
		c, s := &x.sections[i], &x.store.sections[i]
		if len(c.erased) > 0 {
			w.Queue("take lines out of "+name, s.eraseMany, c.erased, c.erasedLines)
		}
		if len(c.brought) > 0 {
			w.Queue("write lines of "+name, s.insertMany,
				c.rows.Arrays([]any{c.brought, c.organisations, c.broughtLines})...)
		}
	}
	*x = *x.store.Rewriter()
}
