package catalog

import (
	"context"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// listOf is the structure of a list of values: the same for all catalogs.
var listOf = temptable.MustDefine([]temptable.Column{{Name: "id", Type: "uuid"}})

// Column of a temp table that holds references.
type Column struct {
	Table *temptable.Table
	Name  string
}

// ReadByTemp is Read through a temp table that lists the wanted elements: single values, and columns of temp tables. It
// may flush the queue.
func (r *Reader) ReadByTemp(ctx context.Context, w *database.Work, organisation id.ID, values []id.ID,
	from []Column) (*Elements, error) {
	t, err := w.Temp(ctx, listOf)
	if err != nil {
		return nil, err
	}
	list := t[0]
	for _, v := range values {
		w.Fill(list, "list "+r.meta.Name, "INSERT INTO "+list.Name()+" VALUES ($1)", v)
	}
	for _, c := range from {
		w.Fill(list, "list "+r.meta.Name, statement.SQL(`INSERT INTO {list} SELECT DISTINCT f.{column} FROM {from} f
WHERE f.{column} <> $1 AND NOT EXISTS (SELECT FROM {list} l WHERE l.id = f.{column})`, statement.Names{
			"list": list.Name(), "column": c.Name, "from": c.Table.Name(),
		}), id.ID{})
	}
	w.Analyze(list)
	return r.readElements(w.Queue("read "+r.meta.Name, r.listed.SQL(list.Name()), organisation), len(values)), nil
}

// listedSQL needs the name of the list.
func listedSQL(meta *metadata.Catalog, shown []metadata.Attribute) statement.Template {
	return statement.Late("SELECT {shown} FROM {list} l "+
		"JOIN (SELECT * FROM {elements} WHERE {visible}) c ON c.id = l.id",
		statement.Names{
			"shown": statement.Qualified("c", metadata.Names(shown)), "elements": meta.Table(),
			"visible": visible(meta),
		}, "list")
}
