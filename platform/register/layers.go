package register

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// Layers are current balances in the order in which they are used up: key by key, the oldest first.
type Layers struct {
	Keys *rowset.Table // all dimensions
	Left *rowset.Table // the resources, in the same rows
}

// NewLayers makes an empty set.
func NewLayers(meta *metadata.Accumulation) *Layers {
	return &Layers{rowset.New(meta.Dimensions, 0), rowset.New(meta.Resources, 0)}
}

// Layers queues the reading of the layers under some leading dimensions: those that are not used up, and those that the
// recorder itself has taken from, who may be about to put it back.
func (r *Register) Layers(w *database.Work, organisation, recorder id.ID, keys *rowset.Table) *Layers {
	l := NewLayers(r.meta)
	l.scan(w.Queue("read layers of "+r.meta.Name, r.layers, keys.Arrays([]any{organisation, recorder})...))
	return l
}

func (l *Layers) scan(read *database.Statement) {
	read.Rows(func(rows pgx.Rows) error {
		l.Keys.Grow(1)
		row := l.Left.Grow(1)
		return rows.Scan(append(l.Keys.Cells(row), l.Left.Cells(row)...)...)
	})
}

// layersSQL orders layers by the date that their document has now, which current totals note: to look up the movement of each layer would cost more than all the
// rest of a sale, where goods have many.
func (r *Register) layersSQL() string {
	dimensions, leading := names(r.meta.Dimensions), names(r.meta.Leading())
	document, line := dimensions[len(leading)], dimensions[len(leading)+1]
	var parameters, matches, remains []string
	for i, a := range r.meta.Leading() {
		parameters = append(parameters, fmt.Sprintf("$%d::%s", 3+i, a.Array()))
		matches = append(matches, fmt.Sprintf("t.%[1]s = k.%[1]s", a.Name))
	}
	for _, a := range r.meta.Resources {
		remains = append(remains, fmt.Sprintf("t.%s <> 0", a.Name))
	}
	return fmt.Sprintf(`SELECT %[1]s
FROM unnest(%[2]s) WITH ORDINALITY AS k (%[3]s, place)
JOIN %[4]s t ON t.organisation = $1 AND %[5]s AND t.period = 'infinity'
WHERE %[9]s OR (%[10]s) IN (SELECT %[11]s FROM %[6]s o WHERE o.recorder = $2)
ORDER BY k.place, CASE WHEN t.%[12]s > '-infinity' THEN t.%[12]s ELSE (SELECT m.period FROM %[6]s m WHERE m.recorder = t.%[7]s AND m.line = t.%[8]s) END,
	t.%[7]s, t.%[8]s`,
		qualified("t", append(dimensions, names(r.meta.Resources)...)), strings.Join(parameters, ", "), strings.Join(leading, ", "), r.meta.Totals(),
		strings.Join(matches, " AND "), r.meta.Table(), document, line, strings.Join(remains, " OR "),
		qualified("t", names(r.meta.Dimensions)), qualified("o", names(r.meta.Dimensions)), metadata.BroughtAt)
}

// broughtAtSQL aggregates what the current one of the totals p notes of the layers that movements m of a recorder bring.
func broughtAtSQL(meta *metadata.Accumulation, recorder string) string {
	document := meta.Dimensions[len(meta.Leading())].Name
	return fmt.Sprintf("coalesce(max(m.period) FILTER (WHERE NOT m.expense AND m.%s = %s AND p.of = 'infinity'), '-infinity')", document, recorder)
}

// keepBroughtAt is what an upsert of totals does with the note there is.
const keepBroughtAt = metadata.BroughtAt + " = CASE WHEN excluded." + metadata.BroughtAt + " > '-infinity' THEN excluded." + metadata.BroughtAt + " ELSE t." + metadata.BroughtAt + " END"

// redate queues the noting of another date for the layers that a document goes on bringing: their totals may not change by it.
func (r *Register) redate(w *database.Work, by Recorder, was time.Time, after *Movements) {
	if !r.meta.Layered || was.Equal(by.Period) {
		return
	}
	own, keys := len(r.meta.Leading()), rowset.New(r.meta.Dimensions, after.Rows.Rows())
	for row := range after.Rows.Rows() {
		if !after.Expense[row] && after.Rows.Value(own, row) == any(by.ID) {
			keys.Add(after.Rows.Columns(0, len(r.meta.Dimensions)), []int{row})
		}
	}
	if keys.Rows() > 0 {
		w.Queue("date layers of "+r.meta.Name, r.redated, keys.Arrays([]any{by.Organisation, by.Period})...)
	}
}

func (r *Register) redateSQL() string {
	var parameters, matches []string
	for i, a := range r.meta.Dimensions {
		parameters = append(parameters, fmt.Sprintf("$%d::%s", 3+i, a.Array()))
		matches = append(matches, fmt.Sprintf("t.%[1]s = k.%[1]s", a.Name))
	}
	return fmt.Sprintf("UPDATE %s t SET %s = $2::timestamptz FROM unnest(%s) AS k (%s) WHERE t.organisation = $1 AND %s AND t.period = 'infinity'",
		r.meta.Totals(), metadata.BroughtAt, strings.Join(parameters, ", "), strings.Join(names(r.meta.Dimensions), ", "), strings.Join(matches, " AND "))
}
