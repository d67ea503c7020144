package register

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// What a restoration reads. It holds the locks of the keys (a table of the leading dimensions).

// Aged are layers with the moment of the movement that brought them.
type Aged struct {
	Layers
	Since []time.Time
}

// Boundaries queues reading the boundaries of keys. The answer is by key (see Leading), without keys that are in order.
func (r *Register) Boundaries(w *database.Work, organisation id.ID, keys *rowset.Table) map[string]time.Time {
	found := map[string]time.Time{}
	w.Queue("read boundary of "+r.meta.Name, r.restoring.boundaries,
		keys.Arrays([]any{organisation})...).Rows(func(rows pgx.Rows) error {
		var place int
		var moment time.Time
		err := rows.Scan(&place, &moment)
		found[r.Leading(keys, place-1)] = moment.UTC()
		return err
	})
	return found
}

// Leading is the key of a row, in any table whose first columns are the leading dimensions.
func (r *Register) Leading(t *rowset.Table, row int) string {
	return keyOf(t, row, len(r.meta.Leading()))
}

// Taker is a document that has taken from layers.
type Taker struct {
	ID     id.ID
	Type   string
	Period time.Time
}

// Takers queues reading the documents that took from keys at or after their boundary, in the order of time.
func (r *Register) Takers(w *database.Work, organisation id.ID, keys *rowset.Table) *[]Taker {
	takers := &[]Taker{}
	w.Queue("find consumers of "+r.meta.Name, r.restoring.takers,
		keys.Arrays([]any{organisation})...).Rows(func(rows pgx.Rows) error {
		var t Taker
		err := rows.Scan(&t.ID, &t.Type, &t.Period)
		t.Period = t.Period.UTC()
		*takers = append(*takers, t)
		return err
	})
	return takers
}

// Untaken queues reading the layers of keys, the oldest of each first, as if no document at or after (moment, recorder)
// had taken from them. Later layers are included: if goods left before they arrived, the first later receipts make up
// for it.
func (r *Register) Untaken(w *database.Work, organisation, recorder id.ID, keys *rowset.Table,
	moments []time.Time) *Aged {
	return r.aged(w.Queue("read unused layers of "+r.meta.Name, r.restoring.untaken,
		append(keys.Arrays([]any{organisation, recorder}), moments)...))
}

// AtByTemp reads the layers of keys as they were before a document, from the totals of the months before since (the
// first of a month) and the movements after, in the classic manner: the keys and what is found travel through temp
// tables. Wide reads all layers under the first dimension and picks those of the keys, as a naive query does.
func (r *Register) AtByTemp(ctx context.Context, w *database.Work, organisation, recorder id.ID,
	moment, since time.Time, keys *rowset.Table, wide bool) (*Aged, error) {
	t, err := w.Temp(ctx, r.classic.keys[len(keys.Attributes)-1], r.classic.aged)
	if err != nil {
		return nil, err
	}
	listed, found := t[0], t[1]
	keys.Fill(w, listed, "keys of "+r.meta.Name)
	at := r.restoring.at
	if wide {
		at = r.restoring.atWide
	}
	w.Fill(found, "find layers of "+r.meta.Name+" at a moment", at.SQL(found.Name(), listed.Name()), organisation,
		recorder, moment, since)
	w.Analyze(found)
	a := r.aged(w.Queue("read layers of "+r.meta.Name+" at a moment", r.restoring.readAged.SQL(found.Name())))
	w.Return(t...)
	return a, w.Flush(ctx)
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

// Settle queues the end of a restoration: boundaries are removed, except those of keys that are short (by key), which
// move to where goods left before they arrived.
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
		w.Queue("set boundary of "+r.meta.Name, r.restoring.stay,
			append(pick(stay).Arrays([]any{organisation}), moments)...)
	}
}

type restoringSQL struct {
	boundaries, takers, untaken, clear, stay string
	at, atWide, readAged                     statement.Template
}

func (r *Register) restoringSQL() (s restoringSQL) {
	leading := metadata.Names(r.meta.Leading())
	list, keys := strings.Join(leading, ", "), rowset.Parameters(2, r.meta.Leading())
	ofBoundary := matches("b", "k", leading)
	s.boundaries = statement.SQL(`SELECT k.place, b.moment FROM unnest({keys}) WITH ORDINALITY AS k ({leading}, place)
JOIN {boundary} b ON b.organisation = $1 AND {matches}`, statement.Names{
		"keys": keys, "leading": list, "boundary": r.meta.Boundary(), "matches": ofBoundary,
	})
	s.takers = statement.SQL(`SELECT DISTINCT m.recorder, m.recorder_type, m.period
FROM unnest({keys}) AS k ({leading}) JOIN {boundary} b ON b.organisation = $1 AND {matches}
JOIN {movements} m ON m.organisation = $1 AND {moved} AND m.period >= b.moment
WHERE m.expense ORDER BY m.period, m.recorder`, statement.Names{
		"keys": keys, "leading": list, "boundary": r.meta.Boundary(), "matches": ofBoundary,
		"movements": r.meta.Table(), "moved": matches("m", "k", leading),
	})
	s.clear = statement.SQL(`DELETE FROM {boundary} b USING unnest({keys}) AS k ({leading})
WHERE b.organisation = $1 AND {matches}`, statement.Names{
		"keys": keys, "leading": list, "boundary": r.meta.Boundary(), "matches": ofBoundary,
	})
	s.stay = statement.SQL(`UPDATE {boundary} b SET moment = k.moment
FROM unnest({keys}, {moments}::timestamptz[]) AS k ({leading}, moment)
WHERE b.organisation = $1 AND {matches} AND b.moment <> k.moment`, statement.Names{
		"keys": keys, "moments": parameter(2 + len(leading)), "leading": list, "boundary": r.meta.Boundary(),
		"matches": ofBoundary,
	})
	s.untaken = r.untakenSQL()
	const among = "(%s) IN (SELECT %s FROM {listed})"
	s.at = r.atSQL(fmt.Sprintf(among, statement.Qualified("x", leading), list), "true")
	s.atWide = r.atSQL(fmt.Sprintf("x.%s IN (SELECT %s FROM {listed})", leading[0], leading[0]),
		fmt.Sprintf(among, statement.Qualified("t", leading), list))
	dimensions := metadata.Names(r.meta.Dimensions)
	s.readAged = statement.Late("SELECT period, {columns} FROM {found} ORDER BY period, {document}, {line}",
		statement.Names{"columns": metadata.Columns(fields(r.meta)), "document": dimensions[len(leading)],
			"line": dimensions[len(leading)+1]}, "found")
	return s
}

func (r *Register) untakenSQL() string {
	dimensions, leading := metadata.Names(r.meta.Dimensions), metadata.Names(r.meta.Leading())
	resources := metadata.Names(r.meta.Resources)
	const left = "t.{name} + coalesce(e.{name}, 0)"
	return statement.SQL(`WITH k AS MATERIALIZED (
	SELECT * FROM unnest({keys}, {moments}::timestamptz[]) WITH ORDINALITY AS k ({leading}, moment, place)
), taken AS MATERIALIZED (
	SELECT k.place, m.{document}, m.{line}, {taken}
	FROM k JOIN {movements} m ON m.organisation = $1 AND {moved} AND m.period >= k.moment
	WHERE m.expense AND (m.period > k.moment OR m.recorder >= $2) GROUP BY k.place, m.{document}, m.{line}
)
SELECT o.period, {dimensions}, {left}
FROM k JOIN {totals} t ON t.organisation = $1 AND {matches} AND t.period = 'infinity'
JOIN {movements} o ON o.recorder = t.{document} AND o.line = t.{line}
LEFT JOIN taken e ON e.place = k.place AND e.{document} = t.{document} AND e.{line} = t.{line}
WHERE {any_left}
ORDER BY k.place, o.period, t.{document}, t.{line}`, statement.Names{
		"movements": r.meta.Table(), "totals": r.meta.Totals(),
		"keys": rowset.Parameters(3, r.meta.Leading()), "moments": parameter(3 + len(leading)),
		"leading": strings.Join(leading, ", "), "dimensions": statement.Qualified("t", dimensions),
		"document": dimensions[len(leading)], "line": dimensions[len(leading)+1],
		"moved": matches("m", "k", leading), "matches": matches("t", "k", leading),
		"taken": statement.Each(resources, "sum(m.{name}) AS {name}", ", "),
		"left":  statement.Each(resources, left, ", "), "any_left": statement.Each(resources, left+" <> 0", " OR "),
	})
}

// atSQL finds layers that meet a condition on x, and picks those that meet another on t.
func (r *Register) atSQL(within, picked string) statement.Template {
	dimensions, leading := metadata.Names(r.meta.Dimensions), metadata.Names(r.meta.Leading())
	resources := metadata.Names(r.meta.Resources)
	text := strings.NewReplacer("{within}", within, "{picked}", picked).Replace(`INSERT INTO {found}
SELECT o.period, {dimensions_of_t}, {resources_of_t} FROM (
	SELECT {dimensions}, {sums} FROM (
		SELECT {dimensions}, {resources} FROM {totals} x
		WHERE organisation = $1 AND {within} AND period < ({since} AT TIME ZONE 'UTC')::date
		UNION ALL
		SELECT {dimensions}, {signed} FROM {movements} x
		WHERE organisation = $1 AND {within} AND period >= {since} AND period <= {moment}
			AND (period < {moment} OR recorder < $2)
	) AS parts GROUP BY {dimensions} HAVING {any_left}
) AS t JOIN {movements} o ON o.recorder = t.{document} AND o.line = t.{line}
WHERE {picked}`)
	return statement.Late(text, statement.Names{
		"movements": r.meta.Table(), "totals": r.meta.Totals(),
		"moment":     "$3::timestamptz",
		"since":      "$4::timestamptz",
		"dimensions": strings.Join(dimensions, ", "), "dimensions_of_t": statement.Qualified("t", dimensions),
		"resources": strings.Join(resources, ", "), "resources_of_t": statement.Qualified("t", resources),
		"document": dimensions[len(leading)], "line": dimensions[len(leading)+1],
		"sums":     statement.Each(resources, "sum({name}) AS {name}", ", "),
		"signed":   statement.Each(resources, "CASE WHEN expense THEN -{name} ELSE {name} END AS {name}", ", "),
		"any_left": statement.Each(resources, "sum({name}) <> 0", " OR "),
	}, "found", "listed")
}

func parameter(n int) string { return fmt.Sprintf("$%d", n) }
