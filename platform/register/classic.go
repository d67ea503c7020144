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

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
	"plimsoll/platform/temptable"
)

// classic is a register as platforms of this kind write and read it: what is asked for and what comes travels through temp tables,
// record sets are deleted and inserted anew, every row is a statement of its own. What it makes is the same, and so are the order in which
// totals are written and the moments at which they are read.
type classic struct {
	keys                              []temptable.Structure // by how many of the dimensions are given
	found, own, layers                temptable.Structure   // of what is asked for
	before, changed                   temptable.Structure   // of what is written
	fillOwn, fillLayers, readLayers   string
	keep, eraseAll, record, sum, seen string
	total, control                    string
}

// ErrControl means that a record set left a balance that a controlled register must not have, though nothing said so before it was written.
var ErrControl = errors.New("a balance is short after writing")

const placeColumn, monthColumn = "place", "month"

func newClassic(meta *metadata.Accumulation) *classic {
	dimensions, leading := names(meta.Dimensions), names(meta.Leading())
	place, month := temptable.Column{Name: placeColumn, Type: "integer"}, temptable.Column{Name: monthColumn, Type: "date"}
	period, expense := temptable.Column{Name: "period", Type: "timestamptz"}, temptable.Column{Name: "expense", Type: "boolean"}
	own, all := rowset.TempColumns(meta.Dimensions), rowset.TempColumns(fields(meta))
	c := &classic{
		found:   temptable.MustDefine(append([]temptable.Column{place}, rowset.TempColumns(meta.Resources)...)),
		before:  temptable.MustDefine(append([]temptable.Column{period, expense}, all...)),
		changed: temptable.MustDefine(append([]temptable.Column{month}, all...), dimensions...),
	}
	for given := range dimensions {
		c.keys = append(c.keys, temptable.MustDefine(append([]temptable.Column{place}, own[:given+1]...), dimensions[:given+1]...))
	}
	if meta.Layered {
		c.own = temptable.MustDefine(own)
		c.layers = temptable.MustDefine(append([]temptable.Column{place, period}, all...), placeColumn)
		c.layersSQL(meta, leading)
	}
	c.writeSQL(meta)
	return c
}

// BalancesByTemp is Balances through temp tables: one of the keys, one of what is found. It sends what is queued.
func (r *Register) BalancesByTemp(ctx context.Context, w *database.Work, organisation id.ID, keys *rowset.Table) (*rowset.Table, error) {
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
	resources, group := qualified("t", names(r.meta.Resources)), ""
	if given < len(r.meta.Dimensions) {
		resources, group = "sum("+strings.ReplaceAll(resources, ", ", "), sum(")+")", " GROUP BY k."+placeColumn
	}
	return fmt.Sprintf(`INSERT INTO %s SELECT k.%s, %s FROM %s k JOIN %s t ON t.organisation = $1 AND %s AND t.period = 'infinity'%s`,
		found.Name(), placeColumn, resources, listed.Name(), r.meta.Totals(), matches("t", "k", names(r.meta.Dimensions[:given])), group)
}

// LayersByTemp is Layers through temp tables: of the keys, of what the recorder itself moved, of the layers. It sends what is queued.
func (r *Register) LayersByTemp(ctx context.Context, w *database.Work, organisation, recorder id.ID, keys *rowset.Table) (*Layers, error) {
	t, err := w.Temp(ctx, r.classic.keys[len(keys.Attributes)-1], r.classic.own, r.classic.layers)
	if err != nil {
		return nil, err
	}
	listed, own, layers := t[0], t[1], t[2]
	keys.Fill(w, listed, "keys of "+r.meta.Name)
	w.Fill(own, "own layers of "+r.meta.Name, fmt.Sprintf(r.classic.fillOwn, own.Name()), recorder)
	w.Analyze(own)
	w.Fill(layers, "find layers of "+r.meta.Name, fmt.Sprintf(r.classic.fillLayers, layers.Name(), listed.Name(), own.Name()), organisation)
	w.Analyze(layers)
	l := NewLayers(r.meta, 0)
	l.scan(w.Queue("read layers of "+r.meta.Name, fmt.Sprintf(r.classic.readLayers, layers.Name())))
	return l, w.Flush(ctx)
}

func (c *classic) layersSQL(meta *metadata.Accumulation, leading []string) {
	dimensions, resources := names(meta.Dimensions), names(meta.Resources)
	document, line := dimensions[len(leading)], dimensions[len(leading)+1]
	var remains []string
	for _, name := range resources {
		remains = append(remains, "t."+name+" <> 0")
	}
	c.fillOwn = fmt.Sprintf("INSERT INTO %%s SELECT DISTINCT %s FROM %s WHERE recorder = $1", strings.Join(dimensions, ", "), meta.Table())
	c.fillLayers = fmt.Sprintf(`INSERT INTO %%[1]s SELECT k.%[1]s, m.period, %[2]s FROM %%[2]s k
JOIN %[3]s t ON t.organisation = $1 AND %[4]s AND t.period = 'infinity'
JOIN %[5]s m ON m.recorder = t.%[6]s AND m.line = t.%[7]s
WHERE %[8]s OR EXISTS (SELECT FROM %%[3]s o WHERE %[9]s)`,
		placeColumn, qualified("t", append(dimensions, resources...)), meta.Totals(), matches("t", "k", leading), meta.Table(), document, line,
		strings.Join(remains, " OR "), matches("o", "t", dimensions))
	c.readLayers = fmt.Sprintf("SELECT %s FROM %%s ORDER BY %s, period, %s, %s", strings.Join(names(fields(meta)), ", "), placeColumn, document, line)
}

// writeSQL makes the statements of a record set. What is taken back and what is brought meet in one sum, as the order of totals wants it.
func (c *classic) writeSQL(meta *metadata.Accumulation) {
	columns, dimensions, resources := strings.Join(names(fields(meta)), ", "), strings.Join(names(meta.Dimensions), ", "), names(meta.Resources)
	var sums, changed, updates, short []string
	for i, name := range resources {
		sum := fmt.Sprintf("sum(CASE WHEN expense THEN -%[1]s ELSE %[1]s END)", name)
		sums, changed = append(sums, sum), append(changed, sum+" <> 0")
		updates = append(updates, fmt.Sprintf("%[1]s = t.%[1]s + excluded.%[1]s", name))
		short = append(short, "t."+name+" < 0")
		if i > 0 {
			short = append(short, fmt.Sprintf("t.%s = 0 AND t.%s <> 0", resources[0], name))
		}
	}
	c.keep = fmt.Sprintf("INSERT INTO %%s SELECT period, expense, %s FROM %s WHERE recorder = $1", columns, meta.Table())
	c.eraseAll = fmt.Sprintf("DELETE FROM %s WHERE recorder = $1", meta.Table())
	c.record = fmt.Sprintf("INSERT INTO %s (recorder, recorder_type, organisation, period, line, expense, %s) VALUES (%s)",
		meta.Table(), columns, parameters(1, 6+len(fields(meta))))
	c.sum = fmt.Sprintf(`INSERT INTO %%s SELECT p.of, %[1]s, %[2]s FROM (
	SELECT period, expense, %[3]s FROM %[4]s WHERE recorder = $1
	UNION ALL
	SELECT period, NOT expense, %[3]s FROM %%s
) AS m CROSS JOIN LATERAL (VALUES %[6]s) AS p (of)
GROUP BY %[1]s, p.of HAVING %[5]s`, dimensions, strings.Join(sums, ", "), columns, meta.Table(), strings.Join(changed, " OR "), periods(meta))
	c.seen = fmt.Sprintf("SELECT %s::text, %s FROM %%s ORDER BY %s, %s", monthColumn, columns, dimensions, monthColumn)
	values := 2 + len(fields(meta))
	into := columns
	if meta.Layered {
		values++
		into += ", " + metadata.BroughtAt
		updates = append(updates, keepBroughtAt)
	}
	c.total = fmt.Sprintf("INSERT INTO %[1]s AS t (organisation, period, %[2]s) VALUES (%[3]s) ON CONFLICT (organisation, %[4]s, period) DO UPDATE SET %[5]s",
		meta.Totals(), into, parameters(1, values), dimensions, strings.Join(updates, ", "))
	c.control = fmt.Sprintf("SELECT FROM %%s c JOIN %[1]s t ON t.organisation = $1 AND %[2]s AND t.period = c.%[3]s WHERE c.%[3]s = 'infinity' AND (%[4]s) LIMIT 1",
		meta.Totals(), matches("t", "c", names(meta.Dimensions)), monthColumn, strings.Join(short, " OR "))
}

// ReplaceByRow is Replace in the classic manner. It sends what is queued, and queues more.
func (r *Register) ReplaceByRow(ctx context.Context, w *database.Work, by Recorder, was time.Time, before, after *Movements) error {
	t, err := w.Temp(ctx, r.classic.before, r.classic.changed)
	if err != nil {
		return err
	}
	kept, changed := t[0], t[1]
	w.Fill(kept, "keep movements of "+r.meta.Name, fmt.Sprintf(r.classic.keep, kept.Name()), by.ID)
	w.Analyze(kept)
	w.Queue("erase "+r.meta.Name, r.classic.eraseAll, by.ID)
	for row := range after.Rows.Rows() {
		w.Queue("record in "+r.meta.Name, r.classic.record,
			after.Rows.Values([]any{by.ID, by.Type, by.Organisation, by.Period, row + 1, after.Expense[row]}, row)...)
	}
	w.Fill(changed, "sum change of "+r.meta.Name, fmt.Sprintf(r.classic.sum, changed.Name(), kept.Name()), by.ID)
	w.Analyze(changed)
	if err := r.totalsByRow(ctx, w, by, changed); err != nil {
		return err
	}
	r.redate(w, by, was, after)
	if c := r.change(by, was, before, after); r.meta.Layered && len(c.lines) > 0 {
		r.markByRow(w, by, was, c)
	}
	if r.meta.Controlled {
		r.controlAfter(w, by, changed)
	}
	return nil
}

// totalsByRow writes the changes of totals in the order in which everybody does.
func (r *Register) totalsByRow(ctx context.Context, w *database.Work, by Recorder, changed *temptable.Table) error {
	var months []string
	rows := rowset.New(fields(r.meta), 0)
	w.Queue("read change of "+r.meta.Name, fmt.Sprintf(r.classic.seen, changed.Name())).Rows(func(result pgx.Rows) error {
		months = append(months, "")
		row := rows.Grow(1)
		return result.Scan(append([]any{&months[row]}, rows.Cells(row)...)...)
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	for row, month := range months {
		args := rows.Values([]any{by.Organisation, month}, row)
		if r.meta.Layered {
			args = append(args, r.broughtAt(by, month, rows, row))
		}
		w.Queue("total of "+r.meta.Name, r.classic.total, args...)
	}
	return nil
}

// broughtAt is what a total that changes notes: the date of a layer that the recorder brings.
func (r *Register) broughtAt(by Recorder, month string, rows *rowset.Table, row int) any {
	resource := rows.Value(len(r.meta.Dimensions), row)
	if month == current && number(resource) > 0 && rows.Value(len(r.meta.Leading()), row) == any(by.ID) {
		return by.Period
	}
	return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
}

// controlAfter looks, as such platforms do, for balances that are short after writing; that there is none was made sure of before.
func (r *Register) controlAfter(w *database.Work, by Recorder, changed *temptable.Table) {
	w.Queue("control "+r.meta.Name, fmt.Sprintf(r.classic.control, changed.Name()), by.Organisation).
		Rows(func(pgx.Rows) error { return fmt.Errorf("%s: %w", r.meta.Name, ErrControl) })
}

// markByRow moves the boundary key by key, in the order of the keys.
func (r *Register) markByRow(w *database.Work, by Recorder, was time.Time, c *change) {
	moment, keys := r.marked(by, was, c)
	order := make([]int, keys.Rows())
	for row := range order {
		order[row] = row
	}
	slices.SortFunc(order, func(a, b int) int {
		return strings.Compare(keyOf(keys, a, len(keys.Attributes)), keyOf(keys, b, len(keys.Attributes)))
	})
	for _, row := range order {
		one := rowset.New(keys.Attributes, 1)
		one.Add(keys, []int{row})
		w.Queue("mark boundary of "+r.meta.Name, r.boundary, one.Arrays([]any{by.Organisation, by.ID, moment})...)
	}
}

func matches(a, b string, columns []string) string {
	var all []string
	for _, name := range columns {
		all = append(all, fmt.Sprintf("%[1]s.%[3]s = %[2]s.%[3]s", a, b, name))
	}
	return strings.Join(all, " AND ")
}

// parameters are n of them from $first on, with commas between.
func parameters(first, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("$%d", first+i))
	}
	return strings.Join(all, ", ")
}
