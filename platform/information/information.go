// Package information owns information registers: what documents state about a key, each key once. That no two documents state the
// same is kept by a unique index, so nothing has to be locked or read for it.
package information

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
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

// known are the fields of registers: they are asked for with every record set.
var known sync.Map // *metadata.Information to []metadata.Attribute

func fields(meta *metadata.Information) []metadata.Attribute {
	if all, found := known.Load(meta); found {
		return all.([]metadata.Attribute)
	}
	all, _ := known.LoadOrStore(meta, slices.Clip(meta.Fields()))
	return all.([]metadata.Attribute)
}

// Slice is what is stated under some keys, in their order.
type Slice struct {
	Found     []bool
	Resources *rowset.Table
}

// NewSlice knows nothing yet about so many keys.
func NewSlice(meta *metadata.Information, keys int) *Slice {
	s := &Slice{make([]bool, keys), rowset.New(meta.Resources, keys)}
	s.Resources.Grow(keys)
	return s
}

// Register reads and writes one register; its statements are made once.
type Register struct {
	meta                       *metadata.Information
	write, erase, read, lookup string
	classic                    classic
}

// New makes the statements.
func New(meta *metadata.Information) *Register {
	return &Register{
		meta: meta, write: writeSQL(meta), lookup: lookupSQL(meta), classic: newClassic(meta),
		erase: fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table()),
		read:  fmt.Sprintf("SELECT %s FROM %s WHERE recorder = $1 ORDER BY line", columns("", meta.Fields()), meta.Table()),
	}
}

// Meta describes the register.
func (r *Register) Meta() *metadata.Information { return r.meta }

// Read queues the reading of a recorder's record set, in the order of its lines.
func (r *Register) Read(w *database.Work, recorder id.ID) *Records {
	records := NewRecords(r.meta)
	w.Queue("read records in "+r.meta.Name, r.read, recorder).Rows(func(rows pgx.Rows) error { return records.Rows.Scan(rows) })
	return records
}

// Slice queues the reading of what others than the recorder state under keys (a table of the dimensions), of a periodic register the last
// before or at the moment.
func (r *Register) Slice(w *database.Work, by register.Recorder, keys *rowset.Table) *Slice {
	s := NewSlice(r.meta, keys.Rows())
	s.scan(w.Queue("read slice of "+r.meta.Name, r.lookup, keys.Arrays([]any{by.Organisation, by.ID, by.Period})...))
	return s
}

// scan puts each row of a result where its key stands, whose number comes first.
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

// Replace queues the change of a recorder's record set, which was of the period was, into another one; an empty one removes it. Only rows
// that differ are written. The caller holds the recorder's document.
func (r *Register) Replace(w *database.Work, by register.Recorder, was time.Time, before, after *Records) {
	gone, come := rowset.Difference(before.Rows, after.Rows)
	if !was.Equal(by.Period) {
		gone, come = whole(before.Rows), whole(after.Rows)
	}
	if len(gone) > 0 {
		w.Queue("take back from "+r.meta.Name, r.erase, by.ID, lines(gone))
	}
	if len(come) > 0 {
		rows := rowset.New(after.Rows.Attributes, len(come))
		rows.Add(after.Rows, come)
		w.Queue("record in "+r.meta.Name, r.write, rows.Arrays([]any{by.ID, by.Type, by.Organisation, by.Period, lines(come)})...)
	}
}

func whole(t *rowset.Table) []int {
	rows := make([]int, t.Rows())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// lines are counted from 1.
func lines(rows []int) []int32 {
	result := make([]int32, len(rows))
	for i, row := range rows {
		result[i] = int32(row + 1)
	}
	return result
}

// writeSQL inserts in the order of the keys: who has to wait for another one to state the same waits in one order.
func writeSQL(meta *metadata.Information) string {
	fields := meta.Fields()
	return fmt.Sprintf(`INSERT INTO %s (recorder, line, recorder_type, organisation, period, %s)
SELECT $1, r.line, $2, $3, $4, %s FROM unnest($5::integer[], %s) AS r (line, %s) ORDER BY %s`,
		meta.Table(), columns("", fields), columns("r.", fields), rowset.Parameters(6, fields), columns("", fields), columns("r.", meta.Dimensions))
}

func lookupSQL(meta *metadata.Information) string {
	return fmt.Sprintf(`SELECT %s
FROM unnest(%s) WITH ORDINALITY AS k (%s, line)
%s`, shown(meta, "k.line::integer"), rowset.Parameters(4, meta.Dimensions), columns("", meta.Dimensions), lastSQL(meta))
}

// findSQL wants the names of the temp table that is filled and of that with the keys.
func findSQL(meta *metadata.Information) string {
	return fmt.Sprintf("INSERT INTO %%s SELECT %s FROM %%s k %s", shown(meta, "k."+placeColumn), lastSQL(meta))
}

func shown(meta *metadata.Information, place string) string {
	if len(meta.Resources) == 0 {
		return place
	}
	return place + ", " + columns("t.", meta.Resources)
}

// lastSQL joins to a key k what others than $2 state in the organisation $1, of a periodic register the last before or at the moment $3.
func lastSQL(meta *metadata.Information) string {
	var matches []string
	for _, a := range meta.Dimensions {
		matches = append(matches, fmt.Sprintf("t.%[1]s = k.%[1]s", a.Name))
	}
	when := "$3::timestamptz IS NOT NULL" // what is not periodic holds always
	if meta.Periodic {
		when = "t.period <= $3"
	}
	return fmt.Sprintf("CROSS JOIN LATERAL (SELECT * FROM %s t WHERE t.organisation = $1 AND %s AND t.recorder <> $2 AND %s ORDER BY t.period DESC LIMIT 1) t",
		meta.Table(), strings.Join(matches, " AND "), when)
}

func columns(prefix string, attributes []metadata.Attribute) string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = prefix + a.Name
	}
	return strings.Join(names, ", ")
}
