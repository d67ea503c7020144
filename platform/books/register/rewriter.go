package register

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// ReadMany queues reading the record sets of many recorders. Recorders without movements are left out.
func (r *Register) ReadMany(w *database.Work, recorders []id.ID) map[id.ID]*Movements {
	all := make(map[id.ID]*Movements, len(recorders))
	w.Queue("read movements in "+r.meta.Name, r.readMany, recorders).Rows(func(rows pgx.Rows) error {
		var recorder id.ID
		targets := make([]any, 2+len(r.meta.Dimensions)+len(r.meta.Resources))
		targets[0] = &recorder
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		m := all[recorder]
		if m == nil {
			m = NewMovements(r.meta, 0)
			all[recorder] = m
		}
		m.Expense = append(m.Expense, false)
		row := m.Rows.Grow(1)
		targets[0], targets[1] = nil, &m.Expense[row]
		for i := range len(targets) - 2 {
			targets[2+i] = m.Rows.Cell(i, row)
		}
		return rows.Scan(targets...)
	})
	return all
}

// Rewriter gathers changes of many recorders' record sets: their movements travel in a few statements, and each total
// is written once, however many recorders changed it. It moves no boundary: its caller knows what the changes mean for
// the order of time.
type Rewriter struct {
	register *Register
	erased   struct {
		recorders []id.ID
		lines     []int32
	}
	brought struct {
		recorders, organisations []id.ID
		types                    []string
		lines                    []int32
		periods                  []time.Time
		expense                  []bool
		rows                     *rowset.Table
	}
	totals totals
}

// totals holds the change of each total, by organisation, month and dimensions. Columns of equal length.
type totals struct {
	at            map[string]int
	organisations []id.ID
	months        []string
	rows          *rowset.Table
}

const current = "infinity"

// Rewriter makes an empty one.
func (r *Register) Rewriter() *Rewriter {
	x := &Rewriter{register: r}
	x.brought.rows = rowset.New(fields(r.meta), 0)
	x.totals = totals{at: map[string]int{}, rows: rowset.New(fields(r.meta), 0)}
	return x
}

// Replace is a buffered Register.Replace.
func (x *Rewriter) Replace(recorder Recorder, was time.Time, before, after *Movements) {
	taken, brought := differences(recorder, was, before, after)
	for _, row := range taken {
		x.erased.recorders = append(x.erased.recorders, recorder.ID)
		x.erased.lines = append(x.erased.lines, int32(row+1))
		x.totals.add(x.register, recorder.Organisation, was, before.Rows, row, !before.Expense[row])
	}
	b := &x.brought
	for _, row := range brought {
		b.recorders, b.organisations, b.types = append(b.recorders, recorder.ID),
			append(b.organisations, recorder.Organisation),
			append(b.types, recorder.Type)
		b.lines, b.periods, b.expense = append(b.lines, int32(row+1)), append(b.periods, recorder.Period),
			append(b.expense, after.Expense[row])
		x.totals.add(x.register, recorder.Organisation, recorder.Period, after.Rows, row, after.Expense[row])
	}
	b.rows.Add(after.Rows, brought)
}

func (t *totals) add(r *Register, organisation id.ID, period time.Time, rows *rowset.Table, row int, negative bool) {
	for _, month := range []string{period.UTC().Format("2006-01") + "-01", current} {
		if month == current && r.meta.Turnovers {
			continue
		}
		key := string(organisation[:]) + r.Key(rows, row) + month
		to, ok := t.at[key]
		if !ok {
			to = t.rows.Rows()
			t.rows.Add(rows, []int{row})
			for i := range r.meta.Resources { // nothing yet: the old row is subtracted
				increase(t.rows.Cell(len(r.meta.Dimensions)+i, to), rows.Value(len(r.meta.Dimensions)+i, row), true)
			}
			t.at[key], t.organisations, t.months = to, append(t.organisations, organisation), append(t.months, month)
		}
		for i := range r.meta.Resources {
			column := len(r.meta.Dimensions) + i
			increase(t.rows.Cell(column, to), rows.Value(column, row), negative)
		}
	}
}

// Movements is how many rows Write would write.
func (x *Rewriter) Movements() int { return len(x.erased.lines) + len(x.brought.lines) }

// Write queues the movements gathered so far, so many rows per statement; 0 means all. Totals stay gathered.
func (x *Rewriter) Write(w *database.Work, most int) {
	name := x.register.meta.Name
	for from, to := range parts(len(x.erased.lines), most) {
		w.Queue("delete from "+name, x.register.eraseMany, x.erased.recorders[from:to], x.erased.lines[from:to])
	}
	b := &x.brought
	for from, to := range parts(len(b.lines), most) {
		rows := b.rows
		if to-from < rows.Rows() {
			rows = rowset.New(rows.Attributes, to-from)
			rows.AddRange(b.rows, from, to)
		}
		w.Queue("record in "+name, x.register.insertMany,
			rows.Arrays([]any{b.recorders[from:to], b.lines[from:to], b.types[from:to], b.organisations[from:to],
				b.periods[from:to], b.expense[from:to]})...)
	}
	kept := x.totals
	*x = *x.register.Rewriter()
	x.totals = kept
}

// parts of at most so many rows; 0 means one part.
func parts(rows, most int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		size := most
		if size < 1 {
			size = max(1, rows)
		}
		for from := 0; from < rows; from += size {
			if !yield(from, min(rows, from+size)) {
				return
			}
		}
	}
}

// WriteTotals queues the changes of totals, in the order that everybody uses. Those that add up to zero are skipped.
func (x *Rewriter) WriteTotals(w *database.Work) {
	t := x.totals
	var order []int
	for row := range t.rows.Rows() {
		if x.register.moved(t.rows, row) {
			order = append(order, row)
		}
	}
	x.totals = totals{at: map[string]int{}, rows: rowset.New(fields(x.register.meta), 0)}
	if len(order) == 0 {
		return
	}
	organisations := make([]id.ID, len(order))
	months := make([]string, len(order))
	rows := rowset.New(fields(x.register.meta), len(order))
	for i, row := range order {
		organisations[i], months[i] = t.organisations[row], t.months[row]
	}
	rows.Add(t.rows, order)
	w.Queue("change totals of "+x.register.meta.Name, x.register.addMany, rows.Arrays([]any{organisations, months})...)
}

func (r *Register) moved(rows *rowset.Table, row int) bool {
	for i := range r.meta.Resources {
		if number(rows.Value(len(r.meta.Dimensions)+i, row)) != 0 {
			return true
		}
	}
	return false
}

func (r *Register) rewriterSQL() {
	columns := metadata.Names(fields(r.meta))
	list := strings.Join(columns, ", ")
	r.readMany = fmt.Sprintf("SELECT recorder, expense, %s FROM %s WHERE recorder = ANY ($1::uuid[]) ORDER BY "+
		"recorder, line", list, r.meta.Table())
	r.eraseMany = fmt.Sprintf("DELETE FROM %s m USING unnest($1::uuid[], $2::integer[]) AS g (recorder, line) "+
		"WHERE m.recorder = g.recorder AND m.line = g.line", r.meta.Table())
	r.insertMany = statement.SQL(`INSERT INTO {movements}
	(recorder, line, recorder_type, organisation, period, expense, {columns})
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::uuid[], $5::timestamptz[], $6::boolean[], {values})`,
		statement.Names{
			"movements": r.meta.Table(), "columns": list, "values": rowset.Parameters(7, fields(r.meta)),
		})
	r.addMany = statement.SQL(`INSERT INTO {totals} AS t (organisation, period, {columns})
SELECT m.organisation, m.period::date, {columns_of_moved}
FROM unnest($1::uuid[], $2::text[], {values}) AS m (organisation, period, {columns})
ORDER BY m.organisation, {key}, m.period::date
ON CONFLICT (organisation, {dimensions}, period) DO UPDATE SET {updates}`, statement.Names{
		"totals": r.meta.Totals(), "columns": list, "columns_of_moved": statement.Qualified("m", columns),
		"values":     rowset.Parameters(3, fields(r.meta)),
		"key":        statement.Qualified("m", metadata.Names(r.meta.Dimensions)),
		"dimensions": metadata.Columns(r.meta.Dimensions),
		"updates":    statement.Each(metadata.Names(r.meta.Resources), addExcluded, ", "),
	})
}
