package register

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/rowset"
)

// What the restoring of the order of time reads. It holds the locks of the keys (a table of the leading dimensions) while it does.

// Aged are layers with the moment from which they exist: that of the movement that brought them.
type Aged struct {
	Layers
	Since []time.Time
}

// Boundaries queues the reading of the boundaries of keys. The answer is by key (see Leading); keys in order are not in it.
func (r *Register) Boundaries(w *database.Work, organisation id.ID, keys *rowset.Table) map[string]time.Time {
	found := map[string]time.Time{}
	w.Queue("read boundary of "+r.meta.Name, r.restoring.boundaries, keys.Arrays([]any{organisation})...).Rows(func(rows pgx.Rows) error {
		var place int
		var moment time.Time
		err := rows.Scan(&place, &moment)
		found[r.Leading(keys, place-1)] = moment.UTC()
		return err
	})
	return found
}

// Leading is the key that a row lies under, in any table whose first columns are the leading dimensions.
func (r *Register) Leading(t *rowset.Table, row int) string {
	return keyOf(t, row, len(r.meta.Leading()))
}

// Taker is a document that has taken from layers.
type Taker struct {
	ID     id.ID
	Type   string
	Period time.Time
}

// Takers queues the reading of the documents that took from keys at their boundary or after it, in the order of time.
func (r *Register) Takers(w *database.Work, organisation id.ID, keys *rowset.Table) *[]Taker {
	takers := &[]Taker{}
	w.Queue("find who took from "+r.meta.Name, r.restoring.takers, keys.Arrays([]any{organisation})...).Rows(func(rows pgx.Rows) error {
		var t Taker
		err := rows.Scan(&t.ID, &t.Type, &t.Period)
		t.Period = t.Period.UTC()
		*takers = append(*takers, t)
		return err
	})
	return takers
}

// Untaken queues the reading of the layers of keys, the oldest of each first, as if no document at or after (moment, recorder) had taken from
// them. Layers that come later are there too: where goods left before they came, the first that come make up for it.
func (r *Register) Untaken(w *database.Work, organisation, recorder id.ID, keys *rowset.Table, moments []time.Time) *Aged {
	return r.aged(w.Queue("read untaken layers of "+r.meta.Name, r.restoring.untaken, append(keys.Arrays([]any{organisation, recorder}), moments)...))
}

// At queues the reading of the layers of keys as they were before a document, from the totals of the months before since (the first of a month) and the
// movements after. Wide reads all layers under the first dimension and picks the keys out of those, as a query does that was not thought about.
func (r *Register) At(w *database.Work, organisation, recorder id.ID, moment, since time.Time, keys *rowset.Table, wide bool) *Aged {
	statement := r.restoring.at
	if wide {
		statement = r.restoring.atWide
	}
	return r.aged(w.Queue("read layers of "+r.meta.Name+" at a moment", statement, append(keys.Arrays([]any{organisation, recorder}), moment, since)...))
}

func (r *Register) aged(statement *database.Statement) *Aged {
	a := &Aged{Layers: *NewLayers(r.meta, 0)}
	statement.Rows(func(rows pgx.Rows) error {
		a.Keys.Grow(1)
		row := a.Left.Grow(1)
		a.Since = append(a.Since, time.Time{})
		targets := []any{&a.Since[row]}
		for i := range r.meta.Dimensions {
			targets = append(targets, a.Keys.Cell(i, row))
		}
		for i := range r.meta.Resources {
			targets = append(targets, a.Left.Cell(i, row))
		}
		err := rows.Scan(targets...)
		a.Since[row] = a.Since[row].UTC()
		return err
	})
	return a
}

// Settle queues the end of restoring: the boundary of keys goes, but for those that are short (by key): theirs is where goods left before they came.
func (r *Register) Settle(w *database.Work, organisation id.ID, keys *rowset.Table, short map[string]time.Time) {
	var gone, stay []int
	var moments []time.Time
	for row := range keys.Rows() {
		if moment, ok := short[r.Leading(keys, row)]; ok {
			stay, moments = append(stay, row), append(moments, moment)
		} else {
			gone = append(gone, row)
		}
	}
	pick := func(rows []int) *rowset.Table {
		t := rowset.New(r.meta.Leading(), len(rows))
		t.Add(keys, rows)
		return t
	}
	if len(gone) > 0 {
		w.Queue("clear boundary of "+r.meta.Name, r.restoring.clear, pick(gone).Arrays([]any{organisation})...)
	}
	if len(stay) > 0 {
		w.Queue("set boundary of "+r.meta.Name, r.restoring.stay, append(pick(stay).Arrays([]any{organisation}), moments)...)
	}
}

type restoringSQL struct{ boundaries, takers, untaken, at, atWide, clear, stay string }

func (r *Register) restoringSQL() (s restoringSQL) {
	dimensions, leading, resources := names(r.meta.Dimensions), names(r.meta.Leading()), names(r.meta.Resources)
	document, line := dimensions[len(leading)], dimensions[len(leading)+1]
	under := func(alias string) string { return matches(alias, "k", leading) }
	keys := func(first int) string { return rowset.Parameters(first, r.meta.Leading()) }
	list, movements, totals, boundary := strings.Join(leading, ", "), r.meta.Table(), r.meta.Totals(), r.meta.Boundary()
	s.boundaries = fmt.Sprintf(`SELECT k.place, b.moment FROM unnest(%s) WITH ORDINALITY AS k (%s, place) JOIN %s b ON b.organisation = $1 AND %s`,
		keys(2), list, boundary, under("b"))
	s.takers = fmt.Sprintf(`SELECT DISTINCT m.recorder, m.recorder_type, m.period
FROM unnest(%s) AS k (%s) JOIN %s b ON b.organisation = $1 AND %s JOIN %s m ON m.organisation = $1 AND %s AND m.period >= b.moment
WHERE m.expense ORDER BY m.period, m.recorder`, keys(2), list, boundary, under("b"), movements, under("m"))
	s.clear = fmt.Sprintf(`DELETE FROM %s b USING unnest(%s) AS k (%s) WHERE b.organisation = $1 AND %s`, boundary, keys(2), list, under("b"))
	s.stay = fmt.Sprintf(`UPDATE %s b SET moment = k.moment FROM unnest(%s, $%d::timestamptz[]) AS k (%s, moment) WHERE b.organisation = $1 AND %s AND b.moment <> k.moment`,
		boundary, keys(2), 2+len(leading), list, under("b"))

	each := func(format, separator string) string {
		var parts []string
		for _, name := range resources {
			parts = append(parts, fmt.Sprintf(format, name))
		}
		return strings.Join(parts, separator)
	}
	s.untaken = fmt.Sprintf(`WITH k AS MATERIALIZED (
	SELECT * FROM unnest(%[1]s, $%[2]d::timestamptz[]) WITH ORDINALITY AS k (%[3]s, moment, place)
), taken AS MATERIALIZED (
	SELECT k.place, m.%[4]s, m.%[5]s, %[6]s FROM k JOIN %[7]s m ON m.organisation = $1 AND %[8]s AND m.period >= k.moment
	WHERE m.expense AND (m.period > k.moment OR m.recorder >= $2) GROUP BY k.place, m.%[4]s, m.%[5]s
)
SELECT o.period, %[9]s, %[10]s
FROM k JOIN %[11]s t ON t.organisation = $1 AND %[12]s AND t.period = 'infinity'
JOIN %[7]s o ON o.recorder = t.%[4]s AND o.line = t.%[5]s
LEFT JOIN taken e ON e.place = k.place AND e.%[4]s = t.%[4]s AND e.%[5]s = t.%[5]s
WHERE %[13]s
ORDER BY k.place, o.period, t.%[4]s, t.%[5]s`,
		keys(3), 3+len(leading), list, document, line, each("sum(m.%[1]s) AS %[1]s", ", "), movements, under("m"),
		qualified("t", dimensions), each("t.%[1]s + coalesce(e.%[1]s, 0)", ", "), totals, under("t"), each("t.%[1]s + coalesce(e.%[1]s, 0) <> 0", " OR "))

	moment, since := fmt.Sprintf("$%d::timestamptz", 3+len(leading)), fmt.Sprintf("$%d::timestamptz", 4+len(leading))
	at := func(within, picked string) string {
		return fmt.Sprintf(`SELECT o.period, %[1]s, %[2]s FROM (
	SELECT %[3]s, %[4]s FROM (
		SELECT %[3]s, %[5]s FROM %[6]s x WHERE organisation = $1 AND %[7]s AND period < (%[8]s AT TIME ZONE 'UTC')::date
		UNION ALL
		SELECT %[3]s, %[9]s FROM %[10]s x WHERE organisation = $1 AND %[7]s AND period >= %[8]s AND period <= %[11]s AND (period < %[11]s OR recorder < $2)
	) AS parts GROUP BY %[3]s HAVING %[12]s
) AS t JOIN %[10]s o ON o.recorder = t.%[13]s AND o.line = t.%[14]s
WHERE %[15]s
ORDER BY o.period, t.%[13]s, t.%[14]s`,
			qualified("t", dimensions), qualified("t", resources), strings.Join(dimensions, ", "), each("sum(%[1]s) AS %[1]s", ", "), strings.Join(resources, ", "), totals,
			within, since, each("CASE WHEN expense THEN -%[1]s ELSE %[1]s END AS %[1]s", ", "), movements, moment, each("sum(%[1]s) <> 0", " OR "), document, line, picked)
	}
	in := fmt.Sprintf("(%%s) IN (SELECT * FROM unnest(%s))", keys(3))
	s.at = at(fmt.Sprintf(in, qualified("x", leading)), "true")
	s.atWide = at(fmt.Sprintf("x.%s = ANY ($3::%s)", leading[0], r.meta.Leading()[0].Array()), fmt.Sprintf(in, qualified("t", leading)))
	return s
}
