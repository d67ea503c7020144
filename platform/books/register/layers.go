package register

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Layers are current balances in the order in which they are used up: key by key, oldest first.
type Layers struct {
	Keys *rowset.Table // all dimensions
	Left *rowset.Table // the resources, in the same rows
	// Total is the sum of the resources of all layers of each key, in the same row. Nil if Left holds everything.
	Total *rowset.Table
}

// NewLayers makes an empty set.
func NewLayers(meta *metadata.Accumulation, capacity int) *Layers {
	return &Layers{Keys: rowset.New(meta.Dimensions, capacity), Left: rowset.New(meta.Resources, capacity)}
}

// Layers queues reading layers under some leading dimensions: of each key the oldest that hold the required quantity
// (of the first resource, in the same row), and those that the recorder itself has taken from, since it may be about to
// return that.
//
// That is enough for a document that takes the oldest first. The open layers read are the first of their key and hold
// the required quantity, and returning only adds to them; so taking ends within them, whichever of the recorder's own
// layers lie between.
func (r *Register) Layers(w *database.Work, organisation, recorder id.ID, keys, required *rowset.Table) *Layers {
	l := NewLayers(r.meta, 0)
	l.scan(w.Queue("read layers of "+r.meta.Name, r.layers,
		required.Arrays(keys.Arrays([]any{organisation, recorder}))...))
	return l
}

func (l *Layers) scan(read *database.Statement) {
	read.Rows(func(rows pgx.Rows) error {
		l.Keys.Grow(1)
		row := l.Left.Grow(1)
		return rows.Scan(append(l.Keys.Cells(row), l.Left.Cells(row)...)...)
	})
}

// layersSQL walks the index of open layers, key by key, until the required quantity is found: what a sale reads does
// not grow with the stock. The recorder's own layers are found by its movements, each by its whole key. The planner
// must not choose another way (hence MATERIALIZED and LIMIT): it expects few layers of a key, and a popular item has
// thousands; it joined all of them with all movements of the item.
func (r *Register) layersSQL() string {
	dimensions, leading := metadata.Names(r.meta.Dimensions), metadata.Names(r.meta.Leading())
	resources := metadata.Names(r.meta.Resources)
	inOrder := append([]string{metadata.BroughtAt}, dimensions[len(leading):]...)
	next := func(under, after string) string {
		return statement.SQL(`(SELECT {layer} FROM {totals} t
		WHERE t.organisation = $1 AND {matches} AND t.{open}{after} ORDER BY {order} LIMIT 1)`, statement.Names{
			"layer":  statement.Qualified("t", append(slices.Clone(inOrder), resources...)),
			"totals": r.meta.Totals(), "matches": matches("t", under, leading), "open": metadata.Open, "after": after,
			"order": statement.Qualified("t", inOrder),
		})
	}
	columns := append(slices.Clone(dimensions), resources...)
	return statement.SQL(`WITH RECURSIVE k AS MATERIALIZED (
	SELECT * FROM unnest({keys_and_required}) WITH ORDINALITY AS k ({leading}, required, place)
), walked AS (
	SELECT k.place, {leading_of_key}, l.*, k.required - l.{first_resource} AS missing
	FROM k CROSS JOIN LATERAL {oldest} AS l
	UNION ALL
	SELECT w.place, {leading_of_walked}, l.*, w.missing - l.{first_resource}
	FROM walked w CROSS JOIN LATERAL {next} AS l WHERE w.missing > 0
), own AS MATERIALIZED (
	SELECT {dimensions} FROM {movements} WHERE recorder = $2
)
SELECT {columns} FROM (
	SELECT place, {brought_at}, {columns} FROM walked
	UNION
	SELECT k.place, t.{brought_at}, {columns_of_totals} FROM own o JOIN k ON {own_matches} CROSS JOIN LATERAL (
		SELECT * FROM {totals} t WHERE t.organisation = $1 AND {totals_match} AND t.period = 'infinity' LIMIT 1
	) AS t
) AS found ORDER BY place, {order}`, statement.Names{
		"keys_and_required": rowset.Parameters(3, append(slices.Clone(r.meta.Leading()), r.meta.Resources[0])),
		"leading":           strings.Join(leading, ", "),
		"leading_of_key":    statement.Qualified("k", leading),
		"leading_of_walked": statement.Qualified("w", leading),
		"first_resource":    resources[0],
		"oldest":            next("k", ""),
		"next": next("w", fmt.Sprintf(" AND (%s) > (%s)", statement.Qualified("t", inOrder),
			statement.Qualified("w", inOrder))),
		"columns": strings.Join(columns, ", "), "columns_of_totals": statement.Qualified("t", columns),
		"brought_at": metadata.BroughtAt, "movements": r.meta.Table(), "totals": r.meta.Totals(),
		"dimensions":  strings.Join(dimensions, ", "),
		"own_matches": matches("o", "k", leading), "totals_match": matches("t", "o", dimensions),
		"order": strings.Join(inOrder, ", "),
	})
}

// broughtAtSQL aggregates the dates that current totals p record for layers brought by movements m of a recorder.
func broughtAtSQL(meta *metadata.Accumulation, recorder string) string {
	return statement.SQL(`coalesce(max(m.period)
	FILTER (WHERE NOT m.expense AND m.{document} = {recorder} AND p.of = 'infinity'), '-infinity')`, statement.Names{
		"document": meta.Dimensions[len(meta.Leading())].Name, "recorder": recorder,
	})
}

// keepBroughtAt keeps the recorded date in an upsert of totals.
const keepBroughtAt = metadata.BroughtAt + " = CASE WHEN excluded." + metadata.BroughtAt +
	" > '-infinity' THEN excluded." + metadata.BroughtAt + " ELSE t." + metadata.BroughtAt + " END"

// redate queues recording another date for the layers that a document continues to bring, since their totals may be
// unchanged.
func (r *Register) redate(w *database.Work, recorder Recorder, was time.Time, after *Movements) {
	if !r.meta.Layered || was.Equal(recorder.Period) {
		return
	}
	own, keys := len(r.meta.Leading()), rowset.New(r.meta.Dimensions, after.Rows.Rows())
	for row := range after.Rows.Rows() {
		if !after.Expense[row] && after.Rows.Value(own, row) == any(recorder.ID) {
			keys.Add(after.Rows.Columns(0, len(r.meta.Dimensions)), []int{row})
		}
	}
	if keys.Rows() > 0 {
		w.Queue("date layers of "+r.meta.Name, r.redated, keys.Arrays([]any{recorder.Organisation, recorder.Period})...)
	}
}

func (r *Register) redateSQL() string {
	dimensions := metadata.Names(r.meta.Dimensions)
	return statement.SQL(`UPDATE {totals} t SET {brought_at} = $2::timestamptz FROM unnest({keys}) AS k ({dimensions})
WHERE t.organisation = $1 AND {matches} AND t.period = 'infinity'`, statement.Names{
		"totals": r.meta.Totals(), "brought_at": metadata.BroughtAt,
		"keys": rowset.Parameters(3, r.meta.Dimensions), "dimensions": strings.Join(dimensions, ", "),
		"matches": matches("t", "k", dimensions),
	})
}
