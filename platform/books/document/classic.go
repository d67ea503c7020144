package document

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// classic writes a document as platforms of this kind do: it looks for the document first, deletes its sections and
// inserts them again row by row.
type classic struct {
	byNumber, byID string
	sections       []classicSection
}

type classicSection struct {
	laid          temptable.Structure
	erase, insert string
}

const lineColumn = "line"

func newClassic(meta *metadata.Document) classic {
	c := classic{
		byNumber: fmt.Sprintf("SELECT id FROM %s WHERE organisation = $1 AND number = $2", meta.Table()),
		byID:     fmt.Sprintf("SELECT version FROM %s WHERE id = $1", meta.Table()),
	}
	for i := range meta.Sections {
		c.sections = append(c.sections, newClassicSection(meta, &meta.Sections[i]))
	}
	return c
}

func newClassicSection(meta *metadata.Document, s *metadata.Section) classicSection {
	columns, parameters := "document, organisation, "+lineColumn, "$1, $2, $3"
	for i, a := range s.Attributes {
		columns += ", " + a.Name
		parameters += fmt.Sprintf(", $%d", 4+i)
	}
	laid := append([]temptable.Column{{Name: lineColumn, Type: "integer"}}, rowset.TempColumns(s.Attributes)...)
	return classicSection{
		laid:   temptable.MustDefine(laid, lineColumn),
		erase:  fmt.Sprintf("DELETE FROM %s WHERE document = $1", meta.SectionTable(s)),
		insert: fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", meta.SectionTable(s), columns, parameters),
	}
}

// Look queues the checks before a new document is written: neither it nor its number may exist.
func (s *Store) Look(w *database.Work, d *Document) {
	taken := func(r pgx.Rows) error { return fmt.Errorf("write %s %s: it already exists", s.meta.Name, d.Number) }
	w.Queue("look for "+s.meta.Name, s.classic.byID, d.ID).Rows(taken)
	w.Queue("look for number of "+s.meta.Name, s.classic.byNumber, d.Organisation, d.Number).Rows(taken)
}

// Lay copies the sections of a document to temp tables, row by row, with statistics. It may flush the queue.
func (s *Store) Lay(ctx context.Context, w *database.Work, d *Document) ([]*temptable.Table, error) {
	var structures []temptable.Structure
	for i := range s.classic.sections {
		structures = append(structures, s.classic.sections[i].laid)
	}
	if len(structures) == 0 {
		return nil, nil
	}
	laid, err := w.Temp(ctx, structures...)
	if err != nil {
		return nil, err
	}
	for i, t := range laid {
		d.Sections[i].Fill(w, t, strings.Join([]string{"lay", s.meta.Name, s.meta.Sections[i].Name}, " "))
	}
	return laid, nil
}

// WriteByRow queues the writing of a document, new or over an old one: all rows of the sections are deleted, and each
// row is inserted by its own statement.
func (s *Store) WriteByRow(w *database.Work, d *Document, isNew bool) {
	if isNew {
		w.Queue("write "+s.meta.Name, s.insert, s.header(d)...)
	} else {
		w.Queue("change "+s.meta.Name, s.update, s.header(d)...)
	}
	for i := range s.classic.sections {
		c, rows, name := &s.classic.sections[i], d.Sections[i], s.meta.Name+" "+s.meta.Sections[i].Name
		w.Queue("erase "+name, c.erase, d.ID)
		for row := range rows.Rows() {
			w.Queue("write "+name, c.insert, rows.Values([]any{d.ID, d.Organisation, row + 1}, row)...)
		}
	}
}

// listOf is the structure of a list of referred documents.
var listOf = temptable.MustDefine([]temptable.Column{{Name: "id", Type: "uuid"}})

// ReadByTemp is Read through a temp table that lists the wanted documents; an empty list reads nothing. It may flush
// the queue.
func (r *ReferenceReader) ReadByTemp(ctx context.Context, w *database.Work, organisation id.ID, ids []id.ID) (*Referred,
	error) {
	d := r.empty(len(ids))
	if len(ids) == 0 {
		return d, nil
	}
	t, err := w.Temp(ctx, listOf)
	if err != nil {
		return nil, err
	}
	list := t[0]
	for _, v := range ids {
		w.Fill(list, "list "+r.meta.Name, "INSERT INTO "+list.Name()+" VALUES ($1)", v)
	}
	w.Analyze(list)
	d.scan(w.Queue("read "+r.meta.Name, fmt.Sprintf(r.listed, list.Name()), organisation))
	for i := range r.sections {
		s := &r.sections[i]
		d.scanSection(w.Queue("read rows of "+r.meta.Name, fmt.Sprintf(s.listed, list.Name()), organisation), s.name)
	}
	return d, nil
}
