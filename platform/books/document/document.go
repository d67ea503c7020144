// Package document owns documents as objects: read from a request, checked against their metadata, written with their
// sections, shown as a card and in a list.
package document

import (
	"time"

	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Document is one business event.
type Document struct {
	Meta         *metadata.Document
	ID           id.ID
	Organisation id.ID
	Author       id.ID
	Number       string
	Date         time.Time
	Posted       bool
	// Planned: others know its ID already, so it is not sealed.
	Planned  bool
	Version  int64 // grows with every change, so that two editors do not overwrite each other
	Comment  string
	Header   *rowset.Table   // one row
	Sections []*rowset.Table // as in Meta.Sections
}

// New makes an empty document of a type.
func New(meta *metadata.Document) *Document { return Of(meta, id.New(), 0) }

// Of makes an empty document with a given id and room for so many rows in each section.
func Of(meta *metadata.Document, v id.ID, room int) *Document {
	d := &Document{Meta: meta, ID: v, Header: rowset.New(meta.Attributes, 1),
		Sections: make([]*rowset.Table, len(meta.Sections))}
	d.Header.Grow(1)
	for i := range meta.Sections {
		d.Sections[i] = rowset.New(meta.Sections[i].Attributes, room)
	}
	return d
}

// Seal puts into the ID of a new document what it is known by and never changes: its number and its author.
func (d *Document) Seal() {
	if !d.Planned {
		d.ID = d.ID.Sealed(d.Meta.Name+" "+d.Organisation.String()+" "+d.Number, "author "+d.Author.String())
	}
}

// SealsSQL are the texts of Seal as expressions over a row t of the type's table.
func SealsSQL(meta *metadata.Document) [2]string {
	return [2]string{"'" + meta.Name + " ' || t.organisation || ' ' || t.number", "'author ' || t.author"}
}

// Section finds a tabular section by name.
func (d *Document) Section(name string) *rowset.Table {
	for i := range d.Meta.Sections {
		if d.Meta.Sections[i].Name == name {
			return d.Sections[i]
		}
	}
	panic("document: no section " + name)
}

// Recorder is the document as its movements refer to it.
func (d *Document) Recorder() register.Recorder {
	return register.Recorder{ID: d.ID, Type: d.Meta.Name, Organisation: d.Organisation, Period: d.Date}
}

// References yields every non-empty reference of the document.
func (d *Document) References(each func(a *metadata.Attribute, v id.ID)) {
	for _, t := range append([]*rowset.Table{d.Header}, d.Sections...) {
		for i := range t.Attributes {
			a := &t.Attributes[i]
			if a.Type != metadata.Reference {
				continue
			}
			for _, v := range rowset.Column[id.ID](t, a.Name) {
				if !v.IsZero() {
					each(a, v)
				}
			}
		}
	}
}

// Copy is a deep copy.
func (d *Document) Copy() *Document {
	c := *d
	c.Header, c.Sections = deepCopy(d.Header), nil
	for _, t := range d.Sections {
		c.Sections = append(c.Sections, deepCopy(t))
	}
	return &c
}

func deepCopy(t *rowset.Table) *rowset.Table {
	c := rowset.New(t.Attributes, t.Rows())
	rows := make([]int, t.Rows())
	for i := range rows {
		rows[i] = i
	}
	c.Add(t, rows)
	return c
}
