package information

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// classic writes and reads an information register as platforms of this kind do: through temp tables, one row per
// statement.
type classic struct {
	keys, found, laid temptable.Structure
	find, in          statement.Template
	eraseAll, one     string
}

const placeColumn = "place"

func newClassic(meta *metadata.Information) classic {
	place := []temptable.Column{{Name: placeColumn, Type: "integer"}}
	numbered := func(attributes []metadata.Attribute) []temptable.Column {
		return append(append([]temptable.Column{}, place...), rowset.TempColumns(attributes)...)
	}
	var keys []string
	for _, a := range meta.Dimensions {
		keys = append(keys, a.Name)
	}
	fields, values := meta.Fields(), "$1, $2, $3, $4, $5"
	for i := range fields {
		values += fmt.Sprintf(", $%d", 6+i)
	}
	return classic{
		keys:  temptable.MustDefine(numbered(meta.Dimensions), keys...),
		found: temptable.MustDefine(numbered(meta.Resources)), laid: temptable.MustDefine(numbered(fields)),
		find:     findSQL(meta),
		eraseAll: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1", meta.Table()),
		one: fmt.Sprintf("INSERT INTO %s (recorder, line, recorder_type, organisation, period, %s) VALUES (%s)",
			meta.Table(), metadata.Columns(fields), values),
		in: statement.Late("SELECT {place} FROM {laid} ORDER BY {key}", statement.Names{
			"place": placeColumn, "key": metadata.Columns(meta.Dimensions),
		}, "laid"),
	}
}

// SliceByTemp is Slice through temp tables, one for the keys and one for the result. It flushes the queue.
func (r *Register) SliceByTemp(ctx context.Context, w *database.Work, recorder register.Recorder,
	keys *rowset.Table) (*Slice,
	error) {
	t, err := w.Temp(ctx, r.classic.keys, r.classic.found)
	if err != nil {
		return nil, err
	}
	listed, found := t[0], t[1]
	keys.Fill(w, listed, "keys of "+r.meta.Name)
	w.Fill(found, "find slice of "+r.meta.Name, r.classic.find.SQL(found.Name(), listed.Name()),
		recorder.Organisation, recorder.ID, recorder.Period)
	w.Analyze(found)
	s := NewSlice(r.meta, keys.Rows())
	s.scan(w.Queue("read slice of "+r.meta.Name, "SELECT * FROM "+found.Name()))
	return s, w.Flush(ctx)
}

// ReplaceByRow is Replace in the classic way: the recorder's records are deleted and inserted again row by row, in the
// order of the keys, which the server determines as for Replace. It flushes the queue, and queues more.
func (r *Register) ReplaceByRow(ctx context.Context, w *database.Work, recorder register.Recorder,
	after *Records) error {
	t, err := w.Temp(ctx, r.classic.laid)
	if err != nil {
		return err
	}
	after.Rows.Fill(w, t[0], "lay "+r.meta.Name)
	w.Queue("erase "+r.meta.Name, r.classic.eraseAll, recorder.ID)
	var order []int
	w.Queue("order "+r.meta.Name, r.classic.in.SQL(t[0].Name())).Rows(func(rows pgx.Rows) error {
		order = append(order, 0)
		return rows.Scan(&order[len(order)-1])
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	for _, line := range order {
		w.Queue("record in "+r.meta.Name, r.classic.one,
			after.Rows.Values([]any{recorder.ID, line, recorder.Type, recorder.Organisation,
				recorder.Period}, line-1)...)
	}
	return nil
}
