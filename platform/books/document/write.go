package document

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// firstAttribute is the number of the first attribute's parameter in a statement that writes a header.
const firstAttribute = 8

func insertSQL(meta *metadata.Document) string {
	columns, parameters := "id, organisation, number, date, author, comment, posted", "$1, $2, $3, $4, $5, $6, $7"
	for i, a := range meta.Attributes {
		columns += ", " + a.Name
		parameters += fmt.Sprintf(", $%d", firstAttribute+i)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", meta.Table(), columns, parameters)
}

// updateSQL has the parameters of insertSQL; number and author do not change.
func updateSQL(meta *metadata.Document) string {
	sets := "date = $4, comment = $6, posted = $7, version = version + 1"
	for i, a := range meta.Attributes {
		sets += fmt.Sprintf(", %s = $%d", a.Name, firstAttribute+i)
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE id = $1 AND organisation = $2 AND number = $3 AND author = $5",
		meta.Table(), sets)
}

func holdSQL(meta *metadata.Document) string {
	columns := []string{"number", "date", "author", "comment", "posted", "version"}
	for _, a := range meta.Attributes {
		columns = append(columns, a.Name)
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE id = $1 AND organisation = $2 FOR UPDATE", strings.Join(columns, ", "),
		meta.Table())
}

// Write queues a new document.
func (s *Store) Write(w *database.Work, d *Document) {
	w.Queue("write "+s.meta.Name, s.insert, s.header(d)...)
	for i := range s.sections {
		s.rewrite(w, i, d, rowset.New(s.meta.Sections[i].Attributes, 0))
	}
}

// Change queues writing a document over its locked old state; of the sections only rows that differ are written.
func (s *Store) Change(w *database.Work, held, d *Document) {
	w.Queue("change "+s.meta.Name, s.update, s.header(d)...)
	for i := range s.sections {
		s.rewrite(w, i, d, held.Sections[i])
	}
}

func (s *Store) header(d *Document) []any {
	args := []any{d.ID, d.Organisation, d.Number, d.Date, d.Author, d.Comment, d.Posted}
	for i := range s.meta.Attributes {
		args = append(args, d.Header.Value(i, 0))
	}
	return args
}

func (s *Store) rewrite(w *database.Work, section int, d *Document, before *rowset.Table) {
	name, after := s.meta.Name+" "+s.meta.Sections[section].Name, d.Sections[section]
	gone, come := rowset.Difference(before, after)
	if len(gone) > 0 {
		w.Queue("take lines out of "+name, s.sections[section].erase, d.ID, rowset.Lines(gone))
	}
	if len(come) == 0 {
		return
	}
	rows := after
	if len(come) < after.Rows() {
		rows = rowset.New(after.Attributes, len(come))
		rows.Add(after, come)
	}
	w.Queue("write "+name, s.sections[section].insert, rows.Arrays([]any{d.ID, d.Organisation, rowset.Lines(come)})...)
}

// Hold queues locking and reading a document; nobody else can change it until the transaction ends. Its version is zero
// if the organisation has no such document.
func (s *Store) Hold(w *database.Work, organisation, document id.ID) *Document {
	d := New(s.meta)
	d.ID, d.Organisation = document, organisation
	w.Queue("hold "+s.meta.Name, s.hold, document, organisation).Rows(func(r pgx.Rows) error {
		targets := []any{&d.Number, &d.Date, &d.Author, &d.Comment, &d.Posted, &d.Version}
		for i := range s.meta.Attributes {
			targets = append(targets, d.Header.Cell(i, 0))
		}
		err := r.Scan(targets...)
		d.Date = d.Date.UTC()
		return err
	})
	for i := range s.sections {
		into := d.Sections[i]
		w.Queue("rows of "+s.meta.Name, s.sections[i].load, document, organisation).Rows(func(r pgx.Rows) error {
			return into.Scan(r)
		})
	}
	return d
}
