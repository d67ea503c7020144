// Package catalog reads catalogs: elements by id with selected attributes, and lists with search and pages.
package catalog

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

var own = []metadata.Attribute{
	{Name: "id", Type: metadata.Reference}, {Name: "code", Type: metadata.Text}, {Name: "name", Type: metadata.Text},
}

// Reader reads elements by id with selected attributes; its statement is built once.
type Reader struct {
	meta   *metadata.Catalog
	read   string
	listed statement.Template
	shown  []metadata.Attribute
}

// NewReader builds the statement.
func NewReader(meta *metadata.Catalog, attributes ...string) *Reader {
	r := &Reader{meta: meta, shown: append([]metadata.Attribute{}, own...)}
	for _, name := range attributes {
		a, ok := metadata.Find(meta.Attributes, name)
		if !ok {
			panic(fmt.Sprintf("catalog: %s has no %s", meta.Name, name))
		}
		r.shown = append(r.shown, *a)
	}
	r.read = fmt.Sprintf("SELECT %s FROM %s WHERE id = ANY ($2::uuid[]) AND %s",
		metadata.Columns(r.shown), meta.Table(),
		visible(meta))
	r.listed = listedSQL(meta, r.shown)
	return r
}

// visible restricts a statement to the organisation $1; a shared catalog ignores it.
func visible(meta *metadata.Catalog) string {
	if meta.Shared {
		return "$1::uuid IS NOT NULL"
	}
	return "organisation = $1"
}

// Elements are the elements found, by id.
type Elements struct {
	Rows  *rowset.Table // id, code, name, attributes
	index rowset.Index
}

// Read queues the reading of elements that the organisation may see.
func (r *Reader) Read(w *database.Work, organisation id.ID, ids []id.ID) *Elements {
	return r.readElements(w.Queue("read "+r.meta.Name, r.read, organisation, ids), len(ids))
}

func (r *Reader) readElements(read *database.Statement, capacity int) *Elements {
	e := &Elements{rowset.New(r.shown, capacity), make(rowset.Index, capacity)}
	read.Rows(func(rows pgx.Rows) error {
		err := e.Rows.Scan(rows)
		e.index.Add(e.Rows)
		return err
	})
	return e
}

// fewElements are searched linearly; more have an index.
const fewElements = 4

// Of makes elements from rows that are already known; their first column is the id.
func Of(rows *rowset.Table) *Elements {
	if rows.Rows() <= fewElements {
		return &Elements{rows, nil}
	}
	e := &Elements{rows, make(rowset.Index, rows.Rows())}
	for i, v := range rowset.ColumnAt[id.ID](rows, 0) {
		e.index[v] = i
	}
	return e
}

// Row is the position of an element in Rows.
func (e *Elements) Row(v id.ID) (row int, found bool) { return e.index.Row(e.Rows, v) }

// Lister reads pages of a catalog; its statements are built once.
type Lister struct {
	meta         *metadata.Catalog
	list, search string // without and with a search text
	shown        []metadata.Attribute
}

// NewLister makes the statements.
func NewLister(meta *metadata.Catalog) *Lister {
	l := &Lister{meta: meta, shown: append(append([]metadata.Attribute{}, own...), meta.Attributes...)}
	list := func(matches string) string {
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s AND (name, id) > ($2, $3)%s ORDER BY name, id LIMIT $4",
			metadata.Columns(l.shown), meta.Table(), visible(meta), matches)
	}
	l.list, l.search = list(""), list(" AND "+database.MatchSQL(append([]string{"name", "code"}, meta.Search...), "$5"))
	return l
}

// Shown are the attributes of each element on a page.
func (l *Lister) Shown() []metadata.Attribute { return l.shown }

// Page selects a part of a catalog, ordered by name.
type Page struct {
	Organisation id.ID
	Search       string // a part of the name, the code or another searched text; "" finds all
	Limit        int
	// After is the last element of the previous page; zero starts at the first.
	AfterName string
	AfterID   id.ID
}

// List queues the reading of a page.
func (l *Lister) List(w *database.Work, p Page) *rowset.Table {
	t := rowset.New(l.shown, p.Limit)
	statement, args := l.list, []any{p.Organisation, p.AfterName, p.AfterID, p.Limit}
	if p.Search != "" {
		statement, args = l.search, append(args, database.Containing(p.Search))
	}
	w.Queue("list "+l.meta.Name, statement, args...).
		Rows(func(r pgx.Rows) error { return t.Scan(r) })
	return t
}
