package register

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/platform/database"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// Write queues the record set of a recorder that has none yet.
func (r *Register) Write(w *database.Work, by Recorder, m *Movements) {
	r.Replace(w, by, by.Period, NewMovements(r.meta, 0), m)
}

// Replace queues the change of a recorder's record set, which was of the period was, into another one; an empty one
// removes it. Only rows that differ are written, and only totals that change. The caller holds the recorder's
// document, so that what was read is what is there.
func (r *Register) Replace(w *database.Work, by Recorder, was time.Time, before, after *Movements) {
	c := r.change(by, was, before, after)
	if len(c.erased) > 0 {
		w.Queue("take back from "+r.meta.Name, r.erase, by.ID, c.erased)
	}
	if len(c.lines) > 0 {
		args := c.rows.Arrays([]any{by.ID, by.Type, by.Organisation, c.lines, c.periods, c.expense})
		w.Queue("record in "+r.meta.Name, r.write, args...).Besides(len(c.lines) - len(c.erased))
		if r.meta.Layered {
			r.mark(w, by, was, c)
			r.redate(w, by, was, after)
		}
	}
}

// change of a record set: what is taken back comes as the opposite movement, which is not kept (line 0), and what is brought with its line.
type change struct {
	erased, lines []int32
	periods       []time.Time
	expense       []bool
	rows          *rowset.Table
}

func (r *Register) change(by Recorder, was time.Time, before, after *Movements) *change {
	c := &change{rows: rowset.New(fields(r.meta), after.Rows.Rows())}
	taken, brought := differences(by, was, before, after)
	for _, row := range taken {
		c.erased, c.lines = append(c.erased, int32(row+1)), append(c.lines, 0)
		c.periods, c.expense = append(c.periods, was), append(c.expense, !before.Expense[row])
	}
	for _, row := range brought {
		c.lines = append(c.lines, int32(row+1))
		c.periods, c.expense = append(c.periods, by.Period), append(c.expense, after.Expense[row])
	}
	c.rows.Add(before.Rows, taken)
	c.rows.Add(after.Rows, brought)
	return c
}

func differences(by Recorder, was time.Time, before, after *Movements) (taken, brought []int) {
	for row := range max(before.Rows.Rows(), after.Rows.Rows()) {
		had, has := row < before.Rows.Rows(), row < after.Rows.Rows()
		if had && has && was.Equal(by.Period) && before.Expense[row] == after.Expense[row] && before.Rows.Same(row, after.Rows, row) {
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
	columns := names(fields(r.meta))
	dimensions := names(r.meta.Dimensions)
	var sums, changed, updates []string
	for _, a := range r.meta.Resources {
		sum := fmt.Sprintf("sum(CASE WHEN m.expense THEN -m.%[1]s ELSE m.%[1]s END)", a.Name)
		sums, changed = append(sums, sum), append(changed, sum+" <> 0")
		updates = append(updates, fmt.Sprintf("%[1]s = t.%[1]s + excluded.%[1]s", a.Name))
	}
	into, noted := "", ""
	if r.meta.Layered {
		into, noted = ", "+metadata.BroughtAt, ", "+broughtAtSQL(r.meta, "$1")
		updates = append(updates, keepBroughtAt)
	}
	return fmt.Sprintf(`WITH moved AS MATERIALIZED (
	SELECT * FROM unnest($4::integer[], $5::timestamptz[], $6::boolean[], %[4]s) AS m (line, period, expense, %[2]s)
), written AS (
	INSERT INTO %[1]s (recorder, line, recorder_type, organisation, period, expense, %[2]s)
	SELECT $1, m.line, $2, $3, m.period, m.expense, %[3]s FROM moved m WHERE m.line > 0
)
INSERT INTO %[5]s AS t (organisation, period, %[2]s%[12]s)
SELECT $3, p.of, %[6]s, %[7]s%[13]s
FROM moved m CROSS JOIN LATERAL (VALUES %[11]s) AS p (of)
GROUP BY %[6]s, p.of HAVING %[10]s ORDER BY %[6]s, p.of
ON CONFLICT (organisation, %[8]s, period) DO UPDATE SET %[9]s`,
		r.meta.Table(), strings.Join(columns, ", "), qualified("m", columns), rowset.Parameters(7, fields(r.meta)), r.meta.Totals(),
		qualified("m", dimensions), strings.Join(sums, ", "), strings.Join(dimensions, ", "), strings.Join(updates, ", "), strings.Join(changed, " OR "), periods(r.meta),
		into, noted)
}

// periods are those that a movement m is summed in.
func periods(meta *metadata.Accumulation) string {
	const month = "(date_trunc('month', m.period AT TIME ZONE 'UTC')::date)"
	if meta.Turnovers {
		return month
	}
	return month + ", ('infinity'::date)"
}
