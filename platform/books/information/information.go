// Package information owns information registers: facts that documents state, at most one for each key. A unique index
// ensures that, so nothing has to be locked or read.
package information

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Records is the record set of one recorder: dimensions and resources.
type Records struct {
	Register string
	Rows     *rowset.Table
}

// NewRecords makes an empty record set.
func NewRecords(meta *metadata.Information) *Records {
	return &Records{meta.Name, rowset.New(fields(meta), 1)}
}

// known caches the fields of registers, which every record set needs.
var known sync.Map // *metadata.Information to []metadata.Attribute

func fields(meta *metadata.Information) []metadata.Attribute {
	if all, found := known.Load(meta); found {
		return all.([]metadata.Attribute)
	}
	all, _ := known.LoadOrStore(meta, slices.Clip(meta.Fields()))
	return all.([]metadata.Attribute)
}

// Slice holds the facts for some keys, in the keys' order.
type Slice struct {
	Found     []bool
	Resources *rowset.Table
}

// NewSlice is an empty slice for so many keys.
func NewSlice(meta *metadata.Information, keys int) *Slice {
	s := &Slice{make([]bool, keys), rowset.New(meta.Resources, keys)}
	s.Resources.Grow(keys)
	return s
}

// Register reads and writes one register; its statements are built once.
type Register struct {
	meta                       *metadata.Information
	write, erase, read, lookup string
	readMany                   string
	classic                    classic
}

// New builds the statements.
func New(meta *metadata.Information) *Register {
	return &Register{
		meta: meta, write: writeSQL(meta), lookup: lookupSQL(meta), classic: newClassic(meta),
		erase: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table()),
		read: fmt.Sprintf("SELECT %s FROM %s WHERE recorder = $1 ORDER BY line", metadata.Columns(meta.Fields()),
			meta.Table()),
		readMany: fmt.Sprintf("SELECT recorder, %s FROM %s WHERE recorder = ANY ($1::uuid[]) ORDER BY recorder, line",
			metadata.Columns(meta.Fields()), meta.Table()),
	}
}

// Meta describes the register.
func (r *Register) Meta() *metadata.Information { return r.meta }

// Read queues the reading of a recorder's record set, in the order of its lines.
func (r *Register) Read(w *database.Work, recorder id.ID) *Records {
	records := NewRecords(r.meta)
	w.Queue("read records in "+r.meta.Name, r.read, recorder).Rows(func(rows pgx.Rows) error {
		return records.Rows.Scan(rows)
	})
	return records
}

// ReadMany queues the reading of the record sets of several recorders.
func (r *Register) ReadMany(w *database.Work, recorders []id.ID) map[id.ID]*Records {
	all := make(map[id.ID]*Records, len(recorders))
	w.Queue("read records in "+r.meta.Name, r.readMany, recorders).Rows(func(rows pgx.Rows) error {
		var recorder id.ID
		one := NewRecords(r.meta)
		err := rows.Scan(append([]any{&recorder}, one.Rows.Cells(one.Rows.Grow(1))...)...)
		if all[recorder] == nil {
			all[recorder] = one
		} else {
			all[recorder].Rows.Add(one.Rows, []int{0})
		}
		return err
	})
	return all
}

// Slice queues reading what recorders other than this one state under the keys (a table of the dimensions); in a
// periodic register the last fact at or before the moment.
func (r *Register) Slice(w *database.Work, recorder register.Recorder, keys *rowset.Table) *Slice {
	s := NewSlice(r.meta, keys.Rows())
	s.scan(w.Queue("read slice of "+r.meta.Name, r.lookup,
		keys.Arrays([]any{recorder.Organisation, recorder.ID, recorder.Period})...))
	return s
}

// scan puts each row of a result at its key, whose number is the first column.
func (s *Slice) scan(read *database.Statement) {
	read.Rows(func(rows pgx.Rows) error {
		var row int
		skip := make([]any, len(s.Resources.Attributes))
		if err := rows.Scan(append([]any{&row}, skip...)...); err != nil {
			return err
		}
		s.Found[row-1] = true
		return rows.Scan(append([]any{&row}, s.Resources.Cells(row-1)...)...)
	})
}

// Replace queues changing a recorder's record set from was, with its period, to another one; an empty one removes it.
// Only rows that differ are written. The caller has locked the recorder's document.
func (r *Register) Replace(w *database.Work, recorder register.Recorder, was time.Time, before, after *Records) {
	gone, come := rowset.Difference(before.Rows, after.Rows)
	if !was.Equal(recorder.Period) {
		gone, come = allRows(before.Rows), allRows(after.Rows)
	}
	if len(gone) > 0 {
		w.Queue("delete from "+r.meta.Name, r.erase, recorder.ID, rowset.Lines(gone))
	}
	if len(come) > 0 {
		rows := rowset.New(after.Rows.Attributes, len(come))
		rows.Add(after.Rows, come)
		w.Queue("record in "+r.meta.Name, r.write,
			rows.Arrays([]any{recorder.ID, recorder.Type, recorder.Organisation, recorder.Period,
				rowset.Lines(come)})...)
	}
}

func allRows(t *rowset.Table) []int {
	rows := make([]int, t.Rows())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// writeSQL inserts in the order of the keys, so that waits for others that state the same key always have the same
// order.
func writeSQL(meta *metadata.Information) string {
	fields := meta.Fields()
	return statement.SQL(`INSERT INTO {records} (recorder, line, recorder_type, organisation, period, {columns})
SELECT $1, r.line, $2, $3, $4, {columns_of_row} FROM unnest($5::integer[], {values}) AS r (line, {columns})
ORDER BY {key}`, statement.Names{
		"records": meta.Table(), "columns": metadata.Columns(fields),
		"columns_of_row": statement.Qualified("r", metadata.Names(fields)),
		"values":         rowset.Parameters(6, fields),
		"key":            statement.Qualified("r", metadata.Names(meta.Dimensions)),
	})
}

func lookupSQL(meta *metadata.Information) string {
	return statement.SQL(`SELECT {shown}
FROM unnest({keys}) WITH ORDINALITY AS k ({dimensions}, line)
{last}`, statement.Names{
		"shown": shown(meta, "k.line::integer"), "keys": rowset.Parameters(4, meta.Dimensions),
		"dimensions": metadata.Columns(meta.Dimensions), "last": lastSQL(meta),
	})
}

// findSQL needs the names of the temp tables for the result and for the keys.
func findSQL(meta *metadata.Information) statement.Template {
	return statement.Late("INSERT INTO {found} SELECT {shown} FROM {keys} k {last}", statement.Names{
		"shown": shown(meta, "k."+placeColumn), "last": lastSQL(meta),
	}, "found", "keys")
}

func shown(meta *metadata.Information, place string) string {
	if len(meta.Resources) == 0 {
		return place
	}
	return place + ", " + statement.Qualified("t", metadata.Names(meta.Resources))
}

// lastSQL joins to a key k what recorders other than $2 state in the organisation $1; in a periodic register the last
// fact at or before the moment $3.
func lastSQL(meta *metadata.Information) string {
	when := "$3::timestamptz IS NOT NULL" // without periods a fact always holds
	if meta.Periodic {
		when = "t.period <= $3"
	}
	dimensions := metadata.Names(meta.Dimensions)
	return statement.SQL(`CROSS JOIN LATERAL (SELECT * FROM {records} t
	WHERE t.organisation = $1 AND {matches} AND t.recorder <> $2 AND {when} ORDER BY t.period DESC LIMIT 1) t`,
		statement.Names{
			"records": meta.Table(), "matches": statement.Each(dimensions, "t.{name} = k.{name}", " AND "),
			"when": when,
		})
}

// Erase queues deleting everything that a recorder has stated in the register.
func (r *Register) Erase(w *database.Work, recorder id.ID) {
	w.Queue("delete from "+r.meta.Name, "DELETE FROM "+r.meta.Table()+" WHERE recorder = $1", recorder)
}
