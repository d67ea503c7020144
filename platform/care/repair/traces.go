package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
)

// traces of a document in the database.
type traces struct {
	registers     []string
	header, lines bool
	operation     bool
	elsewhere     string // another type of which there is such a document
}

// any of the document itself, or of what it has recorded.
func (t traces) any() bool { return t.header || t.elsewhere != "" || t.lines || len(t.registers) > 0 }

func (t traces) same(other traces) bool {
	return slices.Equal(t.registers, other.registers) && t.header == other.header && t.lines == other.lines &&
		t.operation == other.operation && t.elsewhere == other.elsewhere
}

func (r *Repairer) recorded(ctx context.Context, w *database.Work, d documentRef) (t traces, err error) {
	var found []string
	for name, table := range r.books.Tables() {
		found = append(found, fmt.Sprintf("SELECT '%s' WHERE EXISTS (SELECT FROM %s WHERE recorder = $1)", name, table))
	}
	slices.Sort(found)
	w.Queue("look for traces", strings.Join(found, " UNION ALL "), d.id).Rows(func(rows pgx.Rows) error {
		var name string
		err := rows.Scan(&name)
		t.registers = append(t.registers, name)
		return err
	})
	if meta, known := r.app.Document(d.kind); known {
		w.Queue("look for the header", "SELECT EXISTS (SELECT FROM "+meta.Table()+" WHERE id = $1)", d.id).
			Rows(func(rows pgx.Rows) error { return rows.Scan(&t.header) })
		for i := range meta.Sections {
			w.Queue("look for lines", "SELECT EXISTS (SELECT FROM "+meta.SectionTable(&meta.Sections[i])+
				" WHERE document = $1)", d.id).Rows(func(rows pgx.Rows) error {
				var some bool
				err := rows.Scan(&some)
				t.lines = t.lines || some
				return err
			})
		}
	}
	w.Queue("look for the operation", "SELECT EXISTS (SELECT FROM plimsoll_operation WHERE document = $1)", d.id).
		Rows(func(rows pgx.Rows) error { return rows.Scan(&t.operation) })
	var others []string
	for i := range r.app.Documents {
		if meta := &r.app.Documents[i]; meta.Name != d.kind {
			others = append(others, fmt.Sprintf("SELECT '%s' WHERE EXISTS (SELECT FROM %s WHERE id = $1)", meta.Name,
				meta.Table()))
		}
	}
	if len(others) > 0 {
		w.Queue("look for other headers", strings.Join(others, " UNION ALL "), d.id).
			Rows(func(rows pgx.Rows) error { return rows.Scan(&t.elsewhere) })
	}
	err = w.Flush(ctx)
	slices.Sort(t.registers)
	return t, err
}
