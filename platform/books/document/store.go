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

// Store writes and reads the documents of one type; its statements are built once.
type Store struct {
	meta                 *metadata.Document
	insert, update, hold string
	sections             []section
	card                 string
	list                 list
	shown                []metadata.Attribute // what list and card select
	classic              classic
	many                 many
}

type section struct {
	insert, erase, load, read       string
	insertMany, eraseMany, loadMany string
	shown                           []metadata.Attribute
}

// own are the columns that every document shows first.
var own = []metadata.Attribute{
	{Name: "id", Type: metadata.Reference}, {Name: "number", Type: metadata.Text},
	{Name: "date", Type: metadata.Moment},
	{Name: "posted", Type: metadata.Boolean}, {Name: "version", Type: metadata.Integer},
	{Name: "comment", Type: metadata.Text},
}

// NewStore builds the statements.
func NewStore(app *metadata.Application, meta *metadata.Document) *Store {
	s := &Store{meta: meta, classic: newClassic(meta)}
	header := selection(app, "d", meta.Attributes)
	s.shown = append(append([]metadata.Attribute{}, own...), header.shown...)
	s.insert, s.update, s.hold = insertSQL(meta), updateSQL(meta), holdSQL(meta)
	s.many = newMany(meta)
	from := fmt.Sprintf("SELECT d.id, d.number, d.date, d.posted, d.version, d.comment%s\nFROM %s d%s\nWHERE "+
		"d.organisation = $1", header.columns, meta.Table(), header.joins)
	s.card = from + " AND d.id = $2"
	s.list = newList(app, meta, header)
	for i := range meta.Sections {
		s.sections = append(s.sections, newSection(app, meta, &meta.Sections[i]))
	}
	return s
}

func newSection(app *metadata.Application, meta *metadata.Document, s *metadata.Section) section {
	rows := selection(app, "s", s.Attributes)
	columns := make([]string, len(s.Attributes))
	for i, a := range s.Attributes {
		columns[i] = a.Name
	}
	list, arrays := strings.Join(columns, ", "), rowset.Parameters(4, s.Attributes)
	return section{
		insert: fmt.Sprintf("INSERT INTO %s (document, organisation, line, %s)\nSELECT $1, $2, s.line, s.%s\nFROM "+
			"unnest($3::integer[], %s) AS s (line, %s)",
			meta.SectionTable(s), list, strings.Join(columns, ", s."), arrays, list),
		erase: fmt.Sprintf("DELETE FROM %s WHERE document = $1 AND line = ANY ($2::integer[])", meta.SectionTable(s)),
		load: fmt.Sprintf("SELECT %s FROM %s WHERE document = $1 AND organisation = $2 ORDER BY line", list,
			meta.SectionTable(s)),
		insertMany: fmt.Sprintf("INSERT INTO %s (document, organisation, line, %s)\nSELECT * FROM "+
			"unnest($1::uuid[], $2::uuid[], $3::integer[], %s)",
			meta.SectionTable(s), list, arrays),
		eraseMany: fmt.Sprintf("DELETE FROM %s s USING unnest($1::uuid[], $2::integer[]) AS g (document, line) "+
			"WHERE s.document = g.document AND s.line = g.line", meta.SectionTable(s)),
		loadMany: fmt.Sprintf("SELECT document, %s FROM %s WHERE document = ANY ($1::uuid[]) ORDER BY document, line",
			list, meta.SectionTable(s)),
		read: fmt.Sprintf("SELECT s.line%s\nFROM %s s%s\nWHERE s.organisation = $1 AND s.document = $2 ORDER BY s.line",
			rows.columns, meta.SectionTable(s), rows.joins),
		shown: append([]metadata.Attribute{{Name: "line", Type: metadata.Integer}}, rows.shown...),
	}
}

// Meta describes the type.
func (s *Store) Meta() *metadata.Document { return s.meta }

// Shown are the attributes that cards and lists show of a document, and those of each section's rows.
func (s *Store) Shown() (header []metadata.Attribute, sections [][]metadata.Attribute) {
	for i := range s.sections {
		sections = append(sections, s.sections[i].shown)
	}
	return s.shown, sections
}

// Card queues reading one document: its header, without a row if the organisation has no such document, and its
// sections.
func (s *Store) Card(w *database.Work, organisation, document id.ID) (header *rowset.Table, sections []*rowset.Table) {
	header = scanTable(w.Queue("card of "+s.meta.Name, s.card, organisation, document), s.shown, 1)
	for i := range s.sections {
		sections = append(sections, scanTable(w.Queue("rows of "+s.meta.Name, s.sections[i].read, organisation,
			document),
			s.sections[i].shown, 0))
	}
	return header, sections
}

func scanTable(statement *database.Statement, shown []metadata.Attribute, capacity int) *rowset.Table {
	t := rowset.New(shown, capacity)
	statement.Rows(func(r pgx.Rows) error { return t.Scan(r) })
	return t
}
