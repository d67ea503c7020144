package register

import (
	"fmt"
	"slices"
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
	// Total is the resources of all layers of each key asked about, in the same row. Nil when all there is to take from is in Left.
	Total *rowset.Table
}

// NewLayers makes an empty set.
func NewLayers(meta *metadata.Accumulation, capacity int) *Layers {
	return &Layers{Keys: rowset.New(meta.Dimensions, capacity), Left: rowset.New(meta.Resources, capacity)}
}

// Layers queues the reading of layers under some leading dimensions, of each key the oldest that hold what is required of it (in the same row: so much of the
// first resource), and those that the recorder itself has taken from, who may be about to put it back.
//
// That is enough for whoever takes the oldest first. The open layers read are the first of their key and hold what is required, and putting back
// makes none of them less; so the taking ends within them, whichever of the recorder's own come between.
func (r *Register) Layers(w *database.Work, organisation, recorder id.ID, keys, required *rowset.Table) *Layers {
	l := NewLayers(r.meta, 0)
	l.scan(w.Queue("read layers of "+r.meta.Name, r.layers, required.Arrays(keys.Arrays([]any{organisation, recorder}))...))
	return l
}

func (l *Layers) scan(read *database.Statement) {
	read.Rows(func(rows pgx.Rows) error {
		l.Keys.Grow(1)
		row := l.Left.Grow(1)
		return rows.Scan(append(l.Keys.Cells(row), l.Left.Cells(row)...)...)
	})
}

// layersSQL walks the index of open layers, one by one and key by key, for as long as something is missing: what a sale reads does not grow with what lies in stock.
func (r *Register) layersSQL() string {
	dimensions, leading, resources := names(r.meta.Dimensions), names(r.meta.Leading()), names(r.meta.Resources)
	inOrder := append([]string{metadata.BroughtAt}, dimensions[len(leading):]...)
	var parameters []string
	for i, a := range append(slices.Clone(r.meta.Leading()), r.meta.Resources[0]) {
		parameters = append(parameters, fmt.Sprintf("$%d::%s", 3+i, a.Array()))
	}
	next := func(under, after string) string {
		return fmt.Sprintf("(SELECT %s FROM %s t WHERE t.organisation = $1 AND %s AND t.%s%s ORDER BY %s LIMIT 1)",
			qualified("t", append(slices.Clone(inOrder), resources...)), r.meta.Totals(), matches("t", under, leading), metadata.Open, after, qualified("t", inOrder))
	}
	columns := append(slices.Clone(dimensions), resources...)
	return fmt.Sprintf(`WITH RECURSIVE k AS MATERIALIZED (
	SELECT * FROM unnest(%[1]s) WITH ORDINALITY AS k (%[2]s, required, place)
), walked AS (
	SELECT k.place, %[3]s, l.*, k.required - l.%[4]s AS missing FROM k CROSS JOIN LATERAL %[5]s AS l
	UNION ALL
	SELECT w.place, %[6]s, l.*, w.missing - l.%[4]s FROM walked w CROSS JOIN LATERAL %[7]s AS l WHERE w.missing > 0
)
SELECT %[8]s FROM (
	SELECT place, %[9]s, %[8]s FROM walked
	UNION
	SELECT k.place, t.%[9]s, %[10]s FROM %[11]s o JOIN k ON %[12]s JOIN %[13]s t ON t.organisation = $1 AND %[14]s AND t.period = 'infinity' WHERE o.recorder = $2
) AS found ORDER BY place, %[15]s`,
		strings.Join(parameters, ", "), strings.Join(leading, ", "), qualified("k", leading), resources[0], next("k", ""),
		qualified("w", leading), next("w", fmt.Sprintf(" AND (%s) > (%s)", qualified("t", inOrder), qualified("w", inOrder))),
		strings.Join(columns, ", "), metadata.BroughtAt, qualified("t", columns), r.meta.Table(), matches("o", "k", leading), r.meta.Totals(), matches("t", "o", dimensions),
		strings.Join(inOrder, ", "))
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
