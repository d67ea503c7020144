package register

import (
	"fmt"
	"strings"

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

// layersSQL finds the age of a layer at the movement that brought it, so that it has the date its document has now.
func (r *Register) layersSQL() string {
	dimensions, leading := names(r.meta.Dimensions), names(r.meta.Leading())
	document, line := dimensions[len(leading)], dimensions[len(leading)+1]
	var parameters, matches, same, remains []string
	for i, a := range r.meta.Leading() {
		parameters = append(parameters, fmt.Sprintf("$%d::%s", 3+i, a.Array()))
		matches = append(matches, fmt.Sprintf("t.%[1]s = k.%[1]s", a.Name))
	}
	for _, name := range dimensions {
		same = append(same, fmt.Sprintf("o.%[1]s = t.%[1]s", name))
	}
	for _, a := range r.meta.Resources {
		remains = append(remains, fmt.Sprintf("t.%s <> 0", a.Name))
	}
	return fmt.Sprintf(`SELECT %[1]s
FROM unnest(%[2]s) WITH ORDINALITY AS k (%[3]s, place)
JOIN %[4]s t ON t.organisation = $1 AND %[5]s AND t.period = 'infinity'
JOIN %[6]s m ON m.recorder = t.%[7]s AND m.line = t.%[8]s
WHERE %[9]s OR EXISTS (SELECT FROM %[6]s o WHERE o.recorder = $2 AND %[10]s)
ORDER BY k.place, m.period, t.%[7]s, t.%[8]s`,
		qualified("t", append(dimensions, names(r.meta.Resources)...)), strings.Join(parameters, ", "), strings.Join(leading, ", "), r.meta.Totals(),
		strings.Join(matches, " AND "), r.meta.Table(), document, line, strings.Join(remains, " OR "), strings.Join(same, " AND "))
}
