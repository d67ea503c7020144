package catalog

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/temptable"
)

// listOf is the structure of a list of values: the same for all catalogs.
var listOf = temptable.MustDefine([]temptable.Column{{Name: "id", Type: "uuid"}})

// Column of a temp table that refers to elements.
type Column struct {
	Table *temptable.Table
	Name  string
}

// ReadByTemp is Read through a temp table with the list of what is wanted: the values, one by one, and what stands in columns of
// temp tables. It may send what is queued.
func (r *Reader) ReadByTemp(ctx context.Context, w *database.Work, organisation id.ID, values []id.ID, from []Column) (*Elements, error) {
	t, err := w.Temp(ctx, listOf)
	if err != nil {
		return nil, err
	}
	list := t[0]
	for _, v := range values {
		w.Fill(list, "list "+r.meta.Name, "INSERT INTO "+list.Name()+" VALUES ($1)", v)
	}
	for _, c := range from {
		w.Fill(list, "list "+r.meta.Name, fmt.Sprintf("INSERT INTO %[1]s SELECT DISTINCT f.%[2]s FROM %[3]s f WHERE f.%[2]s <> $1 AND NOT EXISTS (SELECT FROM %[1]s l WHERE l.id = f.%[2]s)",
			list.Name(), c.Name, c.Table.Name()), id.ID{})
	}
	w.Analyze(list)
	return r.into(w.Queue("read "+r.meta.Name, fmt.Sprintf(r.listed, list.Name()), organisation), len(values)), nil
}

// listedSQL wants the name of the list.
func listedSQL(meta *metadata.Catalog, shown []metadata.Attribute) string {
	return fmt.Sprintf("SELECT %s FROM %%s l JOIN (SELECT * FROM %s WHERE %s) c ON c.id = l.id", "c."+strings.ReplaceAll(columns(shown), ", ", ", c."), meta.Table(), visible(meta))
}
