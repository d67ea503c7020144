package document

import (
	"fmt"
	"time"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// list holds the parts of a statement that reads a page. It first finds the page's documents with only the columns that
// are searched; only those are joined to everything that is shown.
//
//	shown ( all or search, conditions, newestFirst names
type list struct{ shown, all, search, names string }

const newestFirst = "\nORDER BY d.date DESC, d.id DESC LIMIT $4"

func newList(app *metadata.Application, meta *metadata.Document, header selected) list {
	from := func(joins string) string {
		return fmt.Sprintf("SELECT d.* FROM %s d%s\nWHERE d.organisation = $1 AND (d.date, d.id) < ($2, $3)",
			meta.Table(), joins)
	}
	looked := selection(app, "d", searchedBy(meta))
	texts := append([]string{"d.number", "d.comment"}, looked.searched(meta.Search)...)
	return list{
		shown:  fmt.Sprintf("SELECT d.id, d.number, d.date, d.posted, d.version, d.comment%s\nFROM (", header.columns),
		all:    from(""),
		search: from(looked.joins) + " AND " + database.MatchSQL(texts, "$5"),
		names:  ") d" + header.joins + "\nORDER BY d.date DESC, d.id DESC",
	}
}

// searchedBy are the references by which a type is searched.
func searchedBy(meta *metadata.Document) (all []metadata.Attribute) {
	for _, name := range meta.Search {
		a, _ := metadata.Find(meta.Attributes, name)
		all = append(all, *a)
	}
	return all
}

// Page selects a part of the list, newest first.
type Page struct {
	Organisation id.ID
	Search       string // a part of the number, comment or a name shown; "" finds all
	// Where holds required values of the header's references, by name; other names are ignored.
	Where map[string]id.ID
	Limit int
	// Before is the last document of the previous page; zero starts at the newest.
	BeforeDate time.Time
	BeforeID   id.ID
}

// farFuture sorts before every document.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// List queues the reading of a page.
func (s *Store) List(w *database.Work, p Page) *rowset.Table {
	if p.BeforeDate.IsZero() {
		p.BeforeDate = farFuture
	}
	from, args := s.list.all, []any{p.Organisation, p.BeforeDate, p.BeforeID, p.Limit}
	if p.Search != "" {
		from, args = s.list.search, append(args, database.Containing(p.Search))
	}
	for _, a := range s.meta.Attributes { // in one order, so that there are few statement texts
		if v, given := p.Where[a.Name]; given && a.Type == metadata.Reference {
			args = append(args, v)
			from += fmt.Sprintf(" AND d.%s = $%d", a.Name, len(args))
		}
	}
	return scanTable(w.Queue("list "+s.meta.Name, s.list.shown+from+newestFirst+s.list.names, args...), s.shown,
		p.Limit)
}
