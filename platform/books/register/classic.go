package register

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// classic is a register as platforms of this kind write and read it: what is asked for and what comes travels through
// temp tables, record sets are deleted and inserted again, every row is a statement of its own. What it makes is the
// same, and so are the order in which totals are written and the moments at which they are read.
type classic struct {
	keys                            []temptable.Structure // by how many of the dimensions are given
	found, own, layers, aged        temptable.Structure   // of what is asked for
	before, changed                 temptable.Structure   // of what is written
	fillOwn, fillLayers, readLayers statement.Template
	keep, sum, seen, control        statement.Template
	eraseAll, record, total         string
	boundary                        string // of one key
}

// ErrControl means that a record set left a balance that a controlled register must not have, though nothing said so
// before it was written.
var ErrControl = errors.New("a balance is short after writing")

const placeColumn, monthColumn = "place", "month"

func newClassic(meta *metadata.Accumulation) *classic {
	dimensions, leading := metadata.Names(meta.Dimensions), metadata.Names(meta.Leading())
	place := temptable.Column{Name: placeColumn, Type: "integer"}
	month := temptable.Column{Name: monthColumn, Type: "date"}
	period := temptable.Column{Name: "period", Type: "timestamptz"}
	expense := temptable.Column{Name: "expense", Type: "boolean"}
	own, all := rowset.TempColumns(meta.Dimensions), rowset.TempColumns(fields(meta))
	c := &classic{
		found:   temptable.MustDefine(append([]temptable.Column{place}, rowset.TempColumns(meta.Resources)...)),
		before:  temptable.MustDefine(append([]temptable.Column{period, expense}, all...)),
		changed: temptable.MustDefine(append([]temptable.Column{month}, all...), dimensions...),
	}
	for given := range dimensions {
		c.keys = append(c.keys, temptable.MustDefine(append([]temptable.Column{place}, own[:given+1]...),
			dimensions[:given+1]...))
	}
	if meta.Layered {
		c.own = temptable.MustDefine(own)
		c.aged = temptable.MustDefine(append([]temptable.Column{period}, all...))
		c.layers = temptable.MustDefine(append([]temptable.Column{place, period}, all...), placeColumn)
		c.layersSQL(meta, leading)
		// Not an array: for each one the server would plan again, as it then knows how many keys there are.
		var key []string
		for i, a := range meta.Leading() {
			key = append(key, fmt.Sprintf("$%d::%s", 4+i, a.SQL()))
		}
		c.boundary = boundarySQL(meta, "(VALUES ("+strings.Join(key, ", ")+"))")
	}
	c.writeSQL(meta)
	return c
}

// BalancesByTemp is Balances through temp tables: one of the keys, one of what is found. It sends what is queued.
func (r *Register) BalancesByTemp(ctx context.Context, w *database.Work, organisation id.ID,
	keys *rowset.Table) (*rowset.Table, error) {
	t, err := w.Temp(ctx, r.classic.keys[len(keys.Attributes)-1], r.classic.found)
	if err != nil {
		return nil, err
	}
	listed, found := t[0], t[1]
	keys.Fill(w, listed, "keys of "+r.meta.Name)
	w.Fill(found, "find balances of "+r.meta.Name, r.findSQL(found, listed, len(keys.Attributes)), organisation)
	w.Analyze(found)
	balances := rowset.New(r.meta.Resources, keys.Rows())
	balances.Grow(keys.Rows())
	r.scanBalances(w.Queue("read balances of "+r.meta.Name, "SELECT * FROM "+found.Name()), balances)
	return balances, w.Flush(ctx)
}

// findSQL sums what lies under keys of which only the first dimensions are given.
func (r *Register) findSQL(found, listed *temptable.Table, given int) string {
	resources := metadata.Names(r.meta.Resources)
	sums, group := statement.Qualified("t", resources), ""
	if given < len(r.meta.Dimensions) {
		sums, group = statement.Each(resources, "sum(t.{name})", ", "), "GROUP BY k."+placeColumn
	}
	return statement.SQL(`INSERT INTO {found} SELECT k.{place}, {sums} FROM {listed} k
JOIN {totals} t ON t.organisation = $1 AND {matches} AND t.period = 'infinity' {group}`, statement.Names{
		"found": found.Name(), "listed": listed.Name(), "place": placeColumn, "sums": sums,
		"totals":  r.meta.Totals(),
		"matches": matches("t", "k", metadata.Names(r.meta.Dimensions[:given])), "group": group,
	})
}

// LayersByTemp is Layers through temp tables: of the keys, of what the recorder itself moved, of the layers. It sends
// what is queued.
func (r *Register) LayersByTemp(ctx context.Context, w *database.Work, organisation, recorder id.ID,
	keys *rowset.Table) (*Layers, error) {
	t, err := w.Temp(ctx, r.classic.keys[len(keys.Attributes)-1], r.classic.own, r.classic.layers)
	if err != nil {
		return nil, err
	}
	listed, own, layers := t[0], t[1], t[2]
	keys.Fill(w, listed, "keys of "+r.meta.Name)
	w.Fill(own, "own layers of "+r.meta.Name, r.classic.fillOwn.SQL(own.Name()), recorder)
	w.Analyze(own)
	w.Fill(layers, "find layers of "+r.meta.Name,
		r.classic.fillLayers.SQL(layers.Name(), listed.Name(), own.Name()), organisation)
	w.Analyze(layers)
	l := NewLayers(r.meta, 0)
	l.scan(w.Queue("read layers of "+r.meta.Name, r.classic.readLayers.SQL(layers.Name())))
	return l, w.Flush(ctx)
}

func (c *classic) layersSQL(meta *metadata.Accumulation, leading []string) {
	dimensions, resources := metadata.Names(meta.Dimensions), metadata.Names(meta.Resources)
	document, line := dimensions[len(leading)], dimensions[len(leading)+1]
	c.fillOwn = statement.Late("INSERT INTO {own} SELECT DISTINCT {dimensions} FROM {movements} WHERE recorder = $1",
		statement.Names{"dimensions": strings.Join(dimensions, ", "), "movements": meta.Table()}, "own")
	c.fillLayers = statement.Late(`INSERT INTO {layers} SELECT k.{place}, m.period, {columns} FROM {listed} k
JOIN {totals} t ON t.organisation = $1 AND {matches} AND t.period = 'infinity'
JOIN {movements} m ON m.recorder = t.{document} AND m.line = t.{line}
WHERE {any_left} OR EXISTS (SELECT FROM {own} o WHERE {taken})`, statement.Names{
		"place": placeColumn, "columns": statement.Qualified("t", append(dimensions, resources...)),
		"totals": meta.Totals(), "matches": matches("t", "k", leading), "movements": meta.Table(),
		"document": document, "line": line, "any_left": statement.Each(resources, "t.{name} <> 0", " OR "),
		"taken": matches("o", "t", dimensions),
	}, "layers", "listed", "own")
	c.readLayers = statement.Late("SELECT {columns} FROM {layers} ORDER BY {place}, period, {document}, {line}",
		statement.Names{
			"columns": metadata.Columns(fields(meta)), "place": placeColumn, "document": document,
			"line": line,
		}, "layers")
}

// writeSQL makes the statements of a record set. What is deleted and what is inserted is added up in one sum, so that
// totals are written in order.
func (c *classic) writeSQL(meta *metadata.Accumulation) {
	columns := metadata.Columns(fields(meta))
	dimensions, resources := metadata.Columns(meta.Dimensions), metadata.Names(meta.Resources)
	const sum = "sum(CASE WHEN expense THEN -{name} ELSE {name} END)"
	c.keep = statement.Late("INSERT INTO {kept} SELECT period, expense, {columns} FROM {movements} WHERE recorder = $1",
		statement.Names{"columns": columns, "movements": meta.Table()}, "kept")
	c.eraseAll = fmt.Sprintf("DELETE FROM %s WHERE recorder = $1", meta.Table())
	c.record = statement.SQL(`INSERT INTO {movements}
	(recorder, recorder_type, organisation, period, line, expense, {columns}) VALUES ({values})`, statement.Names{
		"movements": meta.Table(), "columns": columns, "values": parameters(1, 6+len(fields(meta))),
	})
	c.sum = statement.Late(`INSERT INTO {changed} SELECT p.of, {dimensions}, {sums} FROM (
	SELECT period, expense, {columns} FROM {movements} WHERE recorder = $1
	UNION ALL
	SELECT period, NOT expense, {columns} FROM {kept}
) AS m CROSS JOIN LATERAL (VALUES {periods}) AS p (of)
GROUP BY {dimensions}, p.of HAVING {any_changed}`, statement.Names{
		"dimensions": dimensions, "sums": statement.Each(resources, sum, ", "), "columns": columns,
		"movements": meta.Table(), "periods": periods(meta),
		"any_changed": statement.Each(resources, sum+" <> 0", " OR "),
	}, "changed", "kept")
	c.seen = statement.Late("SELECT {month}::text, {columns} FROM {changed} ORDER BY {dimensions}, {month}",
		statement.Names{"month": monthColumn, "columns": columns, "dimensions": dimensions}, "changed")
	c.totalSQL(meta)
}

func (c *classic) totalSQL(meta *metadata.Accumulation) {
	dimensions, resources := metadata.Names(meta.Dimensions), metadata.Names(meta.Resources)
	values, into := 2+len(fields(meta)), metadata.Columns(fields(meta))
	updates := statement.Each(resources, addExcluded, ", ")
	if meta.Layered {
		values++
		into += ", " + metadata.BroughtAt
		updates += ", " + keepBroughtAt
	}
	c.total = statement.SQL(`INSERT INTO {totals} AS t (organisation, period, {columns}) VALUES ({values})
ON CONFLICT (organisation, {dimensions}, period) DO UPDATE SET {updates}`, statement.Names{
		"totals": meta.Totals(), "columns": into, "values": parameters(1, values),
		"dimensions": strings.Join(dimensions, ", "), "updates": updates,
	})
	c.control = statement.Late(`SELECT FROM {changed} c
JOIN {totals} t ON t.organisation = $1 AND {matches} AND t.period = c.{month}
WHERE c.{month} = 'infinity' AND ({short}) LIMIT 1`, statement.Names{
		"totals": meta.Totals(), "matches": matches("t", "c", dimensions), "month": monthColumn,
		"short": shortSQL("t", resources),
	}, "changed")
}

// shortSQL is true of balances that a controlled register must not have.
func shortSQL(alias string, resources []string) string {
	first := alias + "." + resources[0]
	conditions := []string{first + " < 0"}
	for _, name := range resources[1:] {
		other := alias + "." + name
		conditions = append(conditions, other+" < 0", first+" = 0 AND "+other+" <> 0")
	}
	return strings.Join(conditions, " OR ")
}

// ReplaceByRow is Replace in the classic manner. It sends what is queued, and queues more.
func (r *Register) ReplaceByRow(ctx context.Context, w *database.Work, recorder Recorder, was time.Time, before,
	after *Movements) error {
	t, err := w.Temp(ctx, r.classic.before, r.classic.changed)
	if err != nil {
		return err
	}
	kept, changed := t[0], t[1]
	w.Fill(kept, "keep movements of "+r.meta.Name, r.classic.keep.SQL(kept.Name()), recorder.ID)
	w.Analyze(kept)
	w.Queue("erase "+r.meta.Name, r.classic.eraseAll, recorder.ID)
	for row := range after.Rows.Rows() {
		w.Queue("record in "+r.meta.Name, r.classic.record,
			after.Rows.Values([]any{recorder.ID, recorder.Type, recorder.Organisation, recorder.Period, row + 1,
				after.Expense[row]}, row)...)
	}
	w.Fill(changed, "sum change of "+r.meta.Name, r.classic.sum.SQL(changed.Name(), kept.Name()), recorder.ID)
	w.Analyze(changed)
	if err := r.totalsByRow(ctx, w, recorder, changed); err != nil {
		return err
	}
	r.redate(w, recorder, was, after)
	if c := r.change(recorder, was, before, after); r.meta.Layered && len(c.lines) > 0 {
		r.markByRow(w, recorder, was, c)
	}
	if r.meta.Controlled {
		r.controlAfter(w, recorder, changed)
	}
	return nil
}

// totalsByRow writes the changes of totals in the order in which everybody does.
func (r *Register) totalsByRow(ctx context.Context, w *database.Work, recorder Recorder,
	changed *temptable.Table) error {
	var months []string
	rows := rowset.New(fields(r.meta), 0)
	w.Queue("read change of "+r.meta.Name,
		r.classic.seen.SQL(changed.Name())).Rows(func(result pgx.Rows) error {
		months = append(months, "")
		row := rows.Grow(1)
		return result.Scan(append([]any{&months[row]}, rows.Cells(row)...)...)
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	for row, month := range months {
		args := rows.Values([]any{recorder.Organisation, month}, row)
		if r.meta.Layered {
			args = append(args, r.broughtAt(recorder, month, rows, row))
		}
		w.Queue("total of "+r.meta.Name, r.classic.total, args...)
	}
	return nil
}

// broughtAt is what a total that changes notes: the date of a layer that the recorder brings.
func (r *Register) broughtAt(recorder Recorder, month string, rows *rowset.Table, row int) any {
	resource := rows.Value(len(r.meta.Dimensions), row)
	if month == current && number(resource) > 0 && rows.Value(len(r.meta.Leading()), row) == any(recorder.ID) {
		return recorder.Period
	}
	return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
}

// controlAfter looks, as such platforms do, for balances that are short after writing; that there is none was made
// sure of before.
func (r *Register) controlAfter(w *database.Work, recorder Recorder, changed *temptable.Table) {
	w.Queue("control "+r.meta.Name, r.classic.control.SQL(changed.Name()), recorder.Organisation).
		Rows(func(pgx.Rows) error { return fmt.Errorf("%s: %w", r.meta.Name, ErrControl) })
}

// markByRow moves the boundary key by key, in the order of the keys.
func (r *Register) markByRow(w *database.Work, recorder Recorder, was time.Time, c *change) {
	moment, keys := r.marked(recorder, was, c)
	order := make([]int, keys.Rows())
	for row := range order {
		order[row] = row
	}
	slices.SortFunc(order, func(a, b int) int {
		return strings.Compare(keyOf(keys, a, len(keys.Attributes)), keyOf(keys, b, len(keys.Attributes)))
	})
	for _, row := range order {
		w.Queue("mark boundary of "+r.meta.Name, r.classic.boundary,
			keys.Values([]any{recorder.Organisation, recorder.ID, moment}, row)...)
	}
}

// matches is true where two aliases have the same in some columns.
func matches(a, b string, columns []string) string {
	return statement.Each(columns, a+".{name} = "+b+".{name}", " AND ")
}

// parameters are n of them from $first on, with commas between.
func parameters(first, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("$%d", first+i))
	}
	return strings.Join(all, ", ")
}
