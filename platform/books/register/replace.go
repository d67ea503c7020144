package register

import (
	"strings"
	"time"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Write queues the record set of a recorder that has none yet.
func (r *Register) Write(w *database.Work, recorder Recorder, m *Movements) {
	r.Replace(w, recorder, recorder.Period, NewMovements(r.meta, 0), m)
}

// Replace queues changing a recorder's record set from was, with its period, to another one; an empty one removes it.
// Only rows that differ and totals that change are written. The caller has locked the recorder's document, so what was
// read is still current.
func (r *Register) Replace(w *database.Work, recorder Recorder, was time.Time, before, after *Movements) {
	c := r.change(recorder, was, before, after)
	if len(c.erased) > 0 {
		w.Queue("delete from "+r.meta.Name, r.erase, recorder.ID, c.erased)
	}
	if len(c.lines) > 0 {
		args := c.rows.Arrays([]any{recorder.ID, recorder.Type, recorder.Organisation, c.lines, c.periods, c.expense})
		w.Queue("record in "+r.meta.Name, r.write, args...).Besides(len(c.lines) - len(c.erased))
		if r.meta.Layered {
			r.mark(w, recorder, was, c)
			r.redate(w, recorder, was, after)
		}
	}
}

// change of a record set: removed movements appear as the opposite movement, which is not stored (line 0), added ones
// with their line.
type change struct {
	erased, lines []int32
	periods       []time.Time
	expense       []bool
	rows          *rowset.Table
}

func (r *Register) change(recorder Recorder, was time.Time, before, after *Movements) *change {
	c := &change{rows: rowset.New(fields(r.meta), after.Rows.Rows())}
	taken, brought := differences(recorder, was, before, after)
	for _, row := range taken {
		c.erased, c.lines = append(c.erased, int32(row+1)), append(c.lines, 0)
		c.periods, c.expense = append(c.periods, was), append(c.expense, !before.Expense[row])
	}
	for _, row := range brought {
		c.lines = append(c.lines, int32(row+1))
		c.periods, c.expense = append(c.periods, recorder.Period), append(c.expense, after.Expense[row])
	}
	c.rows.Add(before.Rows, taken)
	c.rows.Add(after.Rows, brought)
	return c
}

func differences(recorder Recorder, was time.Time, before, after *Movements) (taken, brought []int) {
	for row := range max(before.Rows.Rows(), after.Rows.Rows()) {
		had, has := row < before.Rows.Rows(), row < after.Rows.Rows()
		if had && has && was.Equal(recorder.Period) && before.Expense[row] == after.Expense[row] &&
			before.Rows.Same(row, after.Rows, row) {
			continue
		}
		if had {
			taken = append(taken, row)
		}
		if has {
			brought = append(brought, row)
		}
	}
	return taken, brought
}

func (r *Register) writeSQL() string {
	columns, dimensions := metadata.Names(fields(r.meta)), metadata.Names(r.meta.Dimensions)
	resources := metadata.Names(r.meta.Resources)
	const sum = "sum(CASE WHEN m.expense THEN -m.{name} ELSE m.{name} END)"
	into, noted, updates := "", "", statement.Each(resources, addExcluded, ", ")
	if r.meta.Layered {
		into, noted = ", "+metadata.BroughtAt, ", "+broughtAtSQL(r.meta, "$1")
		updates += ", " + keepBroughtAt
	}
	return statement.SQL(`WITH moved AS MATERIALIZED (
	SELECT * FROM unnest($4::integer[], $5::timestamptz[], $6::boolean[], {values})
		AS m (line, period, expense, {columns})
), written AS (
	INSERT INTO {movements} (recorder, line, recorder_type, organisation, period, expense, {columns})
	SELECT $1, m.line, $2, $3, m.period, m.expense, {columns_of_moved} FROM moved m WHERE m.line > 0
)
INSERT INTO {totals} AS t (organisation, period, {columns}{brought_at})
SELECT $3, p.of, {key}, {sums}{brought_at_sum}
FROM moved m CROSS JOIN LATERAL (VALUES {periods}) AS p (of)
GROUP BY {key}, p.of HAVING {changed} ORDER BY {key}, p.of
ON CONFLICT (organisation, {dimensions}, period) DO UPDATE SET {updates}`, statement.Names{
		"movements": r.meta.Table(), "totals": r.meta.Totals(),
		"values": rowset.Parameters(7, fields(r.meta)), "columns": strings.Join(columns, ", "),
		"columns_of_moved": statement.Qualified("m", columns),
		"key":              statement.Qualified("m", dimensions), "dimensions": strings.Join(dimensions, ", "),
		"sums": statement.Each(resources, sum, ", "), "changed": statement.Each(resources, sum+" <> 0", " OR "),
		"updates": updates, "periods": periods(r.meta), "brought_at": into, "brought_at_sum": noted,
	})
}

// addExcluded is how an upsert changes a resource of the totals t.
const addExcluded = "{name} = t.{name} + excluded.{name}"

// periods in which a movement m is summed.
func periods(meta *metadata.Accumulation) string {
	const month = "(date_trunc('month', m.period AT TIME ZONE 'UTC')::date)"
	if meta.Turnovers {
		return month
	}
	return month + ", ('infinity'::date)"
}
