package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Referred are documents of one type that others refer to, with selected attributes.
type Referred struct {
	Rows     *rowset.Table            // id, number, date, posted, attributes
	Sections map[string]*rowset.Table // document, attributes: the rows of all of them, in the order of lines
	index    rowset.Index
}

// ReferenceReader reads documents of one type by id, with selected attributes; its statements are built once.
type ReferenceReader struct {
	meta         *metadata.Document
	read, listed string
	shown        []metadata.Attribute
	sections     []referredSection
}

type referredSection struct {
	name, read, listed string
	shown              []metadata.Attribute
}

var (
	referredOwn = []metadata.Attribute{
		{Name: "id", Type: metadata.Reference}, {Name: "number", Type: metadata.Text},
		{Name: "date", Type: metadata.Moment}, {Name: "posted", Type: metadata.Boolean},
	}
	sectionOwn = metadata.Attribute{Name: "document", Type: metadata.Reference}
)

// NewReferenceReader builds the statements. An attribute of a section is written with its section: "lines.item".
func NewReferenceReader(meta *metadata.Document, attributes ...string) *ReferenceReader {
	r := &ReferenceReader{meta: meta, shown: slices.Clone(referredOwn)}
	for _, name := range attributes {
		section, column, within := strings.Cut(name, ".")
		if !within {
			r.shown = append(r.shown, *needed(meta.Name, meta.Attributes, name))
			continue
		}
		s := r.section(section)
		s.shown = append(s.shown, *needed(meta.Name, sectionOf(meta, section).Attributes, column))
	}
	r.read = fmt.Sprintf("SELECT %s FROM %s WHERE id = ANY ($2::uuid[]) AND organisation = $1",
		metadata.Columns(r.shown),
		meta.Table())
	r.listed = listedSQL("id", meta.Table(), r.shown)
	for i := range r.sections {
		s := &r.sections[i]
		s.listed = listedSQL("document", meta.SectionTable(sectionOf(meta, s.name)), s.shown) +
			" ORDER BY document, line"
		s.read = fmt.Sprintf("SELECT %s FROM %s WHERE document = ANY ($2::uuid[]) AND organisation = $1 ORDER BY "+
			"document, line",
			metadata.Columns(s.shown), meta.SectionTable(sectionOf(meta, s.name)))
	}
	return r
}

func (r *ReferenceReader) section(name string) *referredSection {
	for i := range r.sections {
		if r.sections[i].name == name {
			return &r.sections[i]
		}
	}
	r.sections = append(r.sections, referredSection{name: name, shown: []metadata.Attribute{sectionOwn}})
	return &r.sections[len(r.sections)-1]
}

func sectionOf(meta *metadata.Document, name string) *metadata.Section {
	for i := range meta.Sections {
		if meta.Sections[i].Name == name {
			return &meta.Sections[i]
		}
	}
	panic(fmt.Sprintf("document: %s has no section %s", meta.Name, name))
}

func needed(owner string, attributes []metadata.Attribute, name string) *metadata.Attribute {
	a, ok := metadata.Find(attributes, name)
	if !ok {
		panic(fmt.Sprintf("document: %s has no %s", owner, name))
	}
	return a
}

// empty has room for so many documents, and for the sections of some.
func (r *ReferenceReader) empty(capacity int, documents ...*Document) *Referred {
	d := &Referred{Rows: rowset.New(r.shown, capacity)}
	if len(r.sections) > 0 {
		d.Sections = make(map[string]*rowset.Table, len(r.sections))
	}
	for i := range r.sections {
		s := &r.sections[i]
		rows := 0
		for _, one := range documents {
			rows += one.Section(s.name).Rows()
		}
		d.Sections[s.name] = rowset.New(s.shown, rows)
	}
	return d
}

// Read queues reading documents of the organisation; an empty list reads nothing.
func (r *ReferenceReader) Read(w *database.Work, organisation id.ID, ids []id.ID) *Referred {
	d := r.empty(len(ids))
	if len(ids) == 0 {
		return d
	}
	d.scan(w.Queue("read "+r.meta.Name, r.read, organisation, ids))
	for i := range r.sections {
		d.scanSection(w.Queue("read rows of "+r.meta.Name, r.sections[i].read, organisation, ids), r.sections[i].name)
	}
	return d
}

func (d *Referred) scan(read *database.Statement) {
	d.index = rowset.Index{}
	read.Rows(func(rows pgx.Rows) error {
		err := d.Rows.Scan(rows)
		d.index.Add(d.Rows)
		return err
	})
}

func (d *Referred) scanSection(read *database.Statement, name string) {
	into := d.Sections[name]
	read.Rows(func(rows pgx.Rows) error { return into.Scan(rows) })
}

// listedSQL needs the name of the temp table that lists the wanted documents.
func listedSQL(column, table string, shown []metadata.Attribute) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s IN (SELECT l.id FROM %%s l) AND organisation = $1",
		metadata.Columns(shown),
		table, column)
}

// Of makes the result of Read from documents that are already known.
func (r *ReferenceReader) Of(documents ...*Document) *Referred {
	found := r.empty(len(documents), documents...)
	for _, d := range documents {
		row := found.Rows.Grow(1)
		rowset.Column[id.ID](found.Rows, "id")[row], rowset.Column[string](found.Rows, "number")[row] = d.ID, d.Number
		rowset.Column[time.Time](found.Rows, "date")[row] = d.Date
		rowset.Column[bool](found.Rows, "posted")[row] = d.Posted
		rowset.Assign(found.Rows, row, d.Header)
		for name, rows := range found.Sections {
			from := d.Section(name)
			first := rows.Grow(from.Rows())
			for to := first; to < rows.Rows(); to++ {
				rowset.Column[id.ID](rows, "document")[to] = d.ID
			}
			rowset.Assign(rows, first, from)
		}
	}
	return found
}

// Row is the position of a document in Rows.
func (d *Referred) Row(v id.ID) (row int, found bool) { return d.index.Row(d.Rows, v) }

// Lines are the positions of a document's rows in a section.
func (d *Referred) Lines(section string, v id.ID) (rows []int) {
	for row, referred := range rowset.Column[id.ID](d.Sections[section], "document") {
		if referred == v {
			rows = append(rows, row)
		}
	}
	return rows
}

// Only is a part of the documents, which the caller may change.
func (d *Referred) Only(ids []id.ID) *Referred {
	own := &Referred{Rows: rowset.New(d.Rows.Attributes, len(ids)), Sections: d.Sections}
	for _, v := range ids {
		if row, found := d.Row(v); found {
			own.Rows.Add(d.Rows, []int{row})
		}
	}
	return own
}
